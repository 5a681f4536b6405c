import { Database } from 'bun:sqlite'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import {
  apiOf,
  builtBinary,
  type Server,
  Workplace,
  withUnlimitedTour,
} from '../../support/binary.ts'
import { damageIn, storedEvents } from '../../support/stored.ts'
import { type Entry, type Ledger, none, type Torture } from '../ledger.ts'

/** Kills at random moments, and at the first so many calls of each system call that names or syncs files. */
const effort = { short: { moments: 4, calls: 2 }, long: { moments: 200, calls: 40 } }

/** What a process does to files that others will see, by strace's names. */
const calls = ['link', 'rename', 'unlink', 'fsync']

const eventsOfBatch = 50

type Kill = { afterMs: number } | { call: string; count: number }

/** A data directory that is backed up while it goes on growing, and what was found. */
class Scene {
  readonly place = new Workplace()
  private snippetKey = ''
  private sent = 0
  readonly faults: string[] = []
  kills = 0

  at(name: string): string {
    return join(this.place.folder, name)
  }

  async open(): Promise<void> {
    this.snippetKey = (await withUnlimitedTour(this.place)).snippetKey
  }

  async send(server: Server, batches: number): Promise<void> {
    const ask = apiOf(server, this.snippetKey)
    for (let i = 0; i < batches; i++) {
      const events = Array.from({ length: eventsOfBatch }, () => ({
        id: `event-${this.sent++}`,
        kind: 'custom',
        name: 'x',
        userId: `user-${this.sent % 50}`,
      }))
      const { status } = await ask('POST', '/events', { events })
      if (status !== 202) this.faults.push(`events were answered by ${status}`)
    }
  }

  /**
   * Runs a command and kills it at some moment.
   *
   * @returns whether it had come to its end before that
   */
  async killed(args: string[], kill: Kill): Promise<boolean> {
    const tracer =
      'call' in kill
        ? [
            ...['strace', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null', '-e'],
            `inject=${kill.call}:signal=KILL:when=${kill.count}`,
          ]
        : []
    const child = Bun.spawn([...tracer, await builtBinary(), ...args], {
      cwd: this.place.folder,
      env: {},
      stdout: 'ignore',
      stderr: 'ignore',
    })
    if ('afterMs' in kill) {
      await Promise.race([child.exited, Bun.sleep(kill.afterMs)])
      child.kill('SIGKILL')
    }
    const isWhole = (await child.exited) === 0
    if (!isWhole) this.kills++
    return isWhole
  }
}

/** How many events a database holds once SQLite has recovered it, or what is wrong with it. */
function lookAt(file: string): number | string {
  try {
    using database = new Database(file, { create: false, readwrite: true })
    return damageIn(database) ?? storedEvents(database).length
  } catch (error) {
    return String(error)
  }
}

function* killsOf(random: SeededRandom, moments: number, most: number, wholeMs: number) {
  for (let i = 0; i < moments; i++) yield { afterMs: random.between(1, Math.ceil(wholeMs)) }
  const canTrace = Bun.which('strace') && Bun.spawnSync(['strace', '-qq', 'true']).success
  if (!canTrace) return
  for (const call of calls) for (let count = 1; count <= most; count++) yield { call, count }
}

/** How long a command takes if nobody kills it, milliseconds. */
async function timeOf(work: () => Promise<{ status: number; stderr: string }>): Promise<number> {
  const startedAt = performance.now()
  const { status, stderr } = await work()
  if (status !== 0) throw new Error(stderr)
  return performance.now() - startedAt
}

/** Kills backups of a running server: whatever is named like a backup is whole, and no other file stays. */
async function killBackups(scene: Scene, kills: (wholeMs: number) => Iterable<Kill>) {
  const { place, faults } = scene
  const server = await place.serve()
  await scene.send(server, 20)
  const wholeMs = await timeOf(() => place.run(['backup', scene.at('first.db')]))
  mkdirSync(scene.at('backups'))
  for (const kill of kills(wholeMs)) {
    const target = `backups/${Bun.randomUUIDv7()}.db`
    await scene.send(server, 1)
    const isWhole = await scene.killed(['backup', target], kill)
    if (isWhole && !existsSync(scene.at(target)))
      faults.push('a backup that ended well is not there')
    if (!existsSync(scene.at(target))) continue
    const found = await place.run(['restore', '--check', target])
    if (found.status !== 0 || found.stderr !== '')
      faults.push(`a backup is not whole: ${found.stderr}`)
    progress(`${scene.kills} backups killed`)
  }
  await place.run(['backup', 'backups/last.db'])
  const left = readdirSync(scene.at('backups')).filter(name => name.includes('partial'))
  faults.push(...left.map(name => `${name} stays after the next backup`))
  if ((await server.end()) !== 0) faults.push('the server did not stop well')
}

/** Kills restores: each leaves either the data from before or that of the backup, and can be undone. */
async function killRestores(scene: Scene, kills: (wholeMs: number) => Iterable<Kill>) {
  const { place, faults } = scene
  const [backup, present] = [scene.at('first.db'), scene.at('present')]
  cpSync(place.dataDir, present, { recursive: true })
  const [old, other] = [lookAt(join(present, 'cairn.db')), lookAt(backup)]
  const outcomes = new Map<number | string, number>()
  const freshData = () => {
    rmSync(scene.at('data'), { recursive: true, force: true })
    cpSync(present, scene.at('data'), { recursive: true })
  }
  freshData()
  const restore = ['restore', backup, '--data', 'data']
  const wholeMs = await timeOf(() => place.run(restore))
  for (const kill of kills(wholeMs)) {
    freshData()
    await scene.killed(restore, kill)
    const found = lookAt(scene.at('data/cairn.db'))
    outcomes.set(found, (outcomes.get(found) ?? 0) + 1)
    if (found !== old && found !== other) faults.push(`after a killed restore: ${found}`)
    // Whatever the killed one left must not get in the way.
    const { status, stderr } = await place.run(restore)
    if (status !== 0) faults.push(`the next restore fails: ${stderr}`)
    if (lookAt(scene.at('data/cairn.db')) !== other)
      faults.push('the next restore restored nothing')
    const undone = await place.run(['restore', '--undo', '--data', 'data'])
    if (undone.status !== 0) faults.push(`it cannot be undone: ${undone.stderr}`)
    if (lookAt(scene.at('data/cairn.db')) !== found) faults.push('undone, it is not what it was')
    if (existsSync(scene.at('data/.cairn-restore.partial'))) faults.push('a partial file stays')
    progress(`${scene.kills} commands killed`)
  }
  const server = await place.serve(['--data', 'data'])
  await scene.send(server, 1)
  if ((await server.end()) !== 0) faults.push('the server did not stop well')
  return { old: outcomes.get(old) ?? 0, other: outcomes.get(other) ?? 0 }
}

/** Kills backups and restores at random moments, and at each call that names or syncs a file. */
export async function backup({ isLong, seed }: Torture): Promise<Ledger> {
  const { moments, calls: most } = isLong ? effort.long : effort.short
  const random = new SeededRandom(`backup ${seed}`)
  const kills = (wholeMs: number) => killsOf(random, moments, most, wholeMs)
  const scene = new Scene()
  try {
    await scene.open()
    await killBackups(scene, kills)
    const backups = scene.kills
    const { old, other } = await killRestores(scene, kills)
    const entries: Entry[] = [
      { what: 'backups killed beside a server that takes events', value: backups },
      { what: 'restores killed', value: scene.kills - backups },
      { what: 'of all restores left the old database', value: old },
      { what: 'and the new one', value: other },
      none('files that were neither, or stayed', scene.faults.length),
    ]
    return { title: 'Backups and restores, killed', entries, notes: scene.faults.slice(0, 20) }
  } finally {
    await scene.place.close()
  }
}
