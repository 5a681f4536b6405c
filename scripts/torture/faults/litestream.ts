import { Database } from 'bun:sqlite'
import { existsSync, readdirSync } from 'node:fs'
import { apiOf } from '../../support/binary.ts'
import { storedEvents } from '../../support/stored.ts'
import { type Check, noProblem } from '../result.ts'
import { litestreamProgram } from '../tools/litestream.ts'
import type { Fault } from './fault.ts'

/** How long clients send until both processes are killed, seconds. */
const seconds = { short: 4, long: 60 }

/**
 * The manual's configuration (`backup`), with a folder instead of a bucket. It requires `--checkpoints litestream`:
 * when Cairn wrote back its log itself under load, a replica lost a commit in the middle or was damaged.
 */
const configOf = (database: string, replica: string) => `dbs:
  - path: ${database}
    monitor-interval: 250ms
    replicas:
      - path: ${replica}
        sync-interval: 250ms
`

/** How many times Litestream began a replica with a snapshot of the whole database. */
const generationsIn = (replica: string) =>
  existsSync(`${replica}/generations`) ? readdirSync(`${replica}/generations`).length : 0

/** The events of a database, in the order of their commits. */
function idsIn(file: string): string[] {
  using database = new Database(file, { create: false, readwrite: true })
  return storedEvents(database).map(({ id }) => id)
}

export const litestream: Fault = {
  what: 'killed together with Litestream, which replicates it, and restored',
  longRounds: 10,
  missing: () => (litestreamProgram() === null ? 'Litestream on the PATH' : null),
  async run(site, isLong): Promise<Check[]> {
    const { place } = site
    const [database, replica] = [place.path('cairn-data/cairn.db'), place.path('replica')]
    await Bun.write(place.path('litestream.yml'), configOf(database, replica))
    const config = ['-config', place.path('litestream.yml')]
    const command = (...args: string[]) => [litestreamProgram()!, ...args]
    const server = await site.start(['--checkpoints', 'litestream'])
    const replicating = Bun.spawn(command('replicate', ...config), {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await server.until(() => generationsIn(replica) > 0)
    const load = site.load(server)
    await Bun.sleep(seconds[isLong ? 'long' : 'short'] * 1_000)
    replicating.kill('SIGKILL')
    await Promise.all([site.kill(server, load), replicating.exited])

    const problems: string[] = []
    const restored = place.path('restored.db')
    const restore = Bun.spawnSync(command('restore', ...config, '-o', restored, database))
    if (!restore.success) problems.push(`Litestream does not restore: ${restore.stderr}`)
    const taken = await place.run(['restore', restored, '--data', 'fresh'])
    if (taken.status !== 0) problems.push(taken.stderr)
    const again = await place.serve(['--data', 'fresh'])
    const events = [{ id: 'later', kind: 'custom', name: 'x', userId: 'u' }]
    const { status } = await apiOf(again, site.tenants[0]!.snippetKey)('POST', '/events', {
      events,
    })
    if (status !== 202) problems.push(`a server on it answers ${status}`)
    await again.end()
    const [kept, original] = [idsIn(place.path('fresh/cairn.db')), idsIn(database)]
    const count = kept.length - events.length
    if (!Bun.deepEquals(kept.slice(0, count), original.slice(0, count))) {
      problems.push('something is missing although something later is there')
    }
    return [
      { what: 'events stored, and in the replica', value: `${original.length}, ${count}` },
      noProblem('replicas that are not a beginning of the database, or are not served', problems),
      ...(await site.finish()),
    ]
  },
}
