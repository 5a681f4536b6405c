import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { buckets } from '../../src/core/organisation/limits.ts'
import { Workplace } from '../support/binary.ts'
import { PostgresServer, postgresPrograms } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { type Environment, newFolder, type Organisation, Program } from './programs.ts'

const root = join(import.meta.dir, '../..')
const executable = join(root, 'dist/cairn')

/** What this machine lacks for a figure. */
export class Missing extends Error {}

/** A program that stores events. */
export interface Store {
  name: string
  /** Starts it in a new folder, with an organisation of so many flows. */
  start(flows: number): Promise<Program>
}

export const cairn: Store = {
  name: 'Cairn',
  async start(flows) {
    const folder = newFolder()
    const credentials = await createOrganisation(folder, flows)
    const program = await Program.start({ folder, commands: [serve()] })
    return withOrganisation(program, credentials)
  },
}

export const serve = (data = 'cairn-data', ...flags: string[]) => [
  ...[executable, 'serve', '--data', data, '--host', '127.0.0.1', '--port', '0'],
  ...['--management-port', '0', ...flags],
]

/** So many nodes of Cairn over one PostgreSQL. */
export const nodes = (count: number): Store => ({
  name: 'nodes over PostgreSQL',
  async start(flows) {
    const folder = newFolder()
    const postgres = await startPostgres()
    const env = { CAIRN_DATABASE_URL: postgres.url() }
    const credentials = await createOrganisation(folder, flows, env)
    const commands = Array.from({ length: count }, (_, i) =>
      serve(i === 0 ? 'cairn-data' : `node-${i + 1}`),
    )
    const program = await Program.start({ folder, commands, env, postgres })
    return withOrganisation(program, credentials)
  },
})

/** A program that checks nothing, so that any organisation will do. */
const unchecked = (
  name: string,
  commandOf: (postgres?: PostgresServer) => string[],
  needsPostgres = false,
): Store => ({
  name,
  async start(flows) {
    const postgres = needsPostgres ? { postgres: await startPostgres() } : {}
    const commands = [commandOf(postgres.postgres)]
    const program = await Program.start({ folder: newFolder(), commands, ...postgres })
    const ids = (kind: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${kind}_${`${i}`.padStart(18, 'x')}`)
    const made = ids('flow', flows).map(id => ({ id, stepIds: ids('step', 3) }))
    program.organisation = { snippetKey: 'k'.repeat(32), token: '', flows: made }
    return program
  },
})

const script = (name: string, argument: string) => {
  return [join(root, 'node_modules/.bin/bun'), join(import.meta.dir, name), argument]
}

export const floor = unchecked('the floor', () => script('floor.ts', 'floor.db'))

/** A bare Elysia that returns so many bytes. */
export const hello = (bytes: number) =>
  unchecked('a bare Elysia', () => script('hello.ts', `${bytes}`))

export const fastify = unchecked(
  'Fastify and PostgreSQL',
  postgres => ['node', installFastify(), postgres!.url()],
  true,
)

/** PostgreSQL as `initdb` sets it up, but for the size of its log, which is as the manual recommends. */
function startPostgres(): Promise<PostgresServer> {
  if (postgresPrograms === null) throw new Missing('there is no PostgreSQL')
  // With mmap, nothing is left in /dev/shm when it is killed.
  const settings = ['max_wal_size=16GB', 'dynamic_shared_memory_type=mmap']
  return PostgresServer.open('fsync=on', 'shared_buffers=128MB', ...settings)
}

let isInstalled = false

/** Installs what `fastify/package.json` names from npm, into `dist`, and returns the server's path. */
function installFastify(): string {
  const folder = join(root, 'dist/bench-fastify')
  if (!isInstalled) {
    cpSync(join(import.meta.dir, 'fastify'), folder, { recursive: true })
    if (!Bun.which('npm') || !Bun.which('node')) throw new Missing('there is no Node.js with npm')
    const command = ['npm', 'install', '--no-package-lock', '--no-audit', '--prefer-offline']
    const { success, stderr } = Bun.spawnSync(command, { cwd: folder })
    if (!success) throw new Missing(`npm could not install Fastify: ${stderr}`)
    isInstalled = true
  }
  return join(folder, 'server.js')
}

const flowText = (key: string) => `- key: ${key}
  steps:
    - { key: a, kind: modal, title: Welcome to the project, body: This is where **everything** begins. }
    - { key: b, target: { selector: "[data-test=new-project]" }, title: Start a project, body: Press here. }
    - { key: c, target: { selector: "[data-test=invite]" }, title: Invite your team, body: They will see it. }
`

type Credentials = Pick<Organisation, 'snippetKey' | 'token'>

/** Creates an organisation with published flows, and with limits that no load reaches. */
export async function createOrganisation(folder: string, flows: number, env?: Environment) {
  const place = new Workplace(async () => executable, folder, env)
  const json = (...args: string[]) => place.json(args)
  const { snippetKey } = await json('org', 'create', 'Bench')
  const limits = Object.fromEntries(buckets.map(bucket => [bucket, 1_000_000]))
  await json('api', 'PATCH', '/settings', '--body', JSON.stringify({ limits }))
  const texts = Array.from({ length: flows }, (_, i) => flowText(`tour-${i}`))
  await Bun.write(join(folder, 'flows.yaml'), texts.join(''))
  await json('flows', 'push', 'flows.yaml', '--publish')
  const { token } = await json('token', 'issue')
  return { snippetKey, token } as Credentials
}

/** Tells the program's loads which organisation it has, with the flows that pages get. */
export async function withOrganisation(program: Program, credentials: Credentials) {
  const headers = { authorization: `Bearer ${credentials.snippetKey}` }
  const get = () => fetch(`${program.urls[0]}/api/v1/flows`, { headers })
  // A node may not know of the organisation yet.
  const response = await until(get, ({ ok }) => ok)
  const { flows } = (await response.json()) as { flows: { id: string; steps: { id: string }[] }[] }
  const withSteps = flows.map(({ id, steps }) => ({ id, stepIds: steps.map(step => step.id) }))
  program.organisation = { ...credentials, flows: withSteps }
  return program
}
