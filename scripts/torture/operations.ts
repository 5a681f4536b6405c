import {
  apiOf,
  firstFlowOf,
  type Server,
  sessionToken,
  tourFile,
  withTour,
} from '../support/binary.ts'
import { textsIn } from '../support/stored.ts'
import { type Clients, tourOf } from './clients.ts'
import { Migration } from './migration.ts'
import type { Operation, Underway } from './operation.ts'
import type { Scene } from './scene.ts'

const notAsAcknowledged = 'what is stored is not what was acknowledged'

/** Something that the server itself does. It is killed, started again and checked. */
function ofServer(scene: Scene, what: string, begin: () => Promise<Underway>): Operation {
  return {
    what,
    begin,
    async faultOf() {
      const server = await scene.start()
      const isWhole = scene.check()
      await scene.kill(server)
      return isWhole ? null : notAsAcknowledged
    },
    async [Symbol.asyncDispose]() {},
  }
}

const start = (scene: Scene) =>
  ofServer(scene, 'a start', async () => {
    const { child, ready } = await scene.place.start()
    return { child, done: ready }
  })

const stop = (scene: Scene) =>
  ofServer(scene, 'a stop, with requests in flight,', async () => {
    const server = await scene.start()
    const clients = scene.work(server)
    await scene.until(100)
    server.child.kill('SIGTERM')
    const done = server.child.exited.then(() => Promise.all(clients.map(each => each.stop())))
    return { child: server.child, done }
  })

/** Something that a command makes a busy server do. Both are killed. */
class Command implements Operation {
  private clients: Clients[] = []

  private constructor(
    readonly what: string,
    private readonly scene: Scene,
    private server: Server,
    private readonly command: (server: Server) => Promise<string[]>,
    private readonly look: (server: Server) => Promise<string | null>,
  ) {}

  static async beside(
    scene: Scene,
    what: string,
    command: (server: Server) => Promise<string[]>,
    look: (server: Server) => Promise<string | null>,
  ): Promise<Command> {
    return new Command(what, scene, await scene.start(), command, look)
  }

  async begin(): Promise<Underway> {
    // Few clients, because the command that is to be interrupted must not starve beside them.
    this.clients = this.scene.work(this.server, { clients: 2, restMs: 5 })
    const command = await this.scene.place.command(await this.command(this.server))
    const both = [command, this.server.child]
    return {
      child: {
        kill(signal) {
          for (const child of both) child.kill(signal)
        },
        exited: Promise.all(both.map(({ exited }) => exited)).then(([status]) => status!),
      },
      done: command.exited,
    }
  }

  async faultOf(): Promise<string | null> {
    await this.scene.kill(this.server, this.clients)
    this.server = await this.scene.start()
    const fault = await this.look(this.server)
    return fault ?? (this.scene.check() ? null : notAsAcknowledged)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.end()
  }
}

/** Callers see a version as it was published, both before and after, and the next one follows it. */
function publication(scene: Scene): Promise<Operation> {
  const [tenant] = scene.tenants
  const nameOf = (version: number) => `Tour number ${version}`
  let last = 1
  const publish = async (version: number) => {
    const file = `version-${version}.yaml`
    await Bun.write(`${scene.place.folder}/${file}`, `name: ${nameOf(version)}\n${tourFile}`)
    return ['flows', 'push', file, '--publish', '--org', tenant!.slug]
  }
  return Command.beside(
    scene,
    'a publication',
    () => publish(last + 1),
    async server => {
      const shown = () => firstFlowOf(apiOf(server, tenant!.snippetKey))
      const { version, name } = await shown()
      const isKnown = version === last || version === last + 1
      if (!isKnown || (version > 1 && name !== nameOf(version)))
        return `version ${version}: ${name}`
      last = version + 1
      const { status, stderr } = await scene.place.run(await publish(last))
      return status === 0 && (await shown()).version === last ? null : `no next version: ${stderr}`
    },
  )
}

const rebuild = (scene: Scene): Promise<Operation> =>
  Command.beside(
    scene,
    'a rebuild',
    async () => ['rebuild'],
    async () => {
      const { changed } = await scene.place.json<{ changed: number }>(['rebuild'])
      return changed === 0 ? null : `the next rebuild changed ${changed} flows`
    },
  )

/** In an organisation of its own, because an erasure changes what the others' clients have written down. */
async function erasure(scene: Scene): Promise<Operation> {
  const { place } = scene
  const { slug, snippetKey } = await withTour(place, 'Globex')
  const token = await sessionToken(place, slug)
  let people = 0
  const person = () => `somebody-${people}-to-erase`
  const erase = () => ['person', 'erase', slug, person(), '--yes']
  return Command.beside(
    scene,
    'an erasure of a person',
    async server => {
      people++
      const ask = apiOf(server, snippetKey)
      const { flowId } = await tourOf(ask)
      const event = { kind: 'flow_started', flowId, userId: person(), url: person() }
      const { status } = await ask('POST', '/events', { events: [event, event] })
      if (status !== 202) throw new Error(`What is to be erased was answered ${status}`)
      return erase()
    },
    async server => {
      // After many kills the database is too large to be rewritten beside a server without being asked.
      const { status, stderr } = await place.run([...erase(), '--compact'])
      if (status !== 0) return `it does not go on: ${stderr}`
      const left = textsIn(place.dataDir, [person()])
      if (left.length > 0) return 'a file still names who was erased'
      const { flowId } = await tourOf(apiOf(server, snippetKey))
      const answer = await apiOf(server, token)('GET', `/flows/${flowId}/analytics`)
      const { totals } = (await answer.json()) as { totals: { starts: number } }
      return totals.starts === people ? null : `${totals.starts} starts of ${people} people`
    },
  )
}

/** All operations that are interrupted. */
export const operations: readonly ((scene: Scene) => Operation | Promise<Operation>)[] = [
  start,
  stop,
  publication,
  rebuild,
  erasure,
  () => new Migration(),
]
