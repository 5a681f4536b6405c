import { Database } from 'bun:sqlite'
import { existsSync, readdirSync } from 'node:fs'
import { apiOf } from '../../support/binary.ts'
import { storedEvents } from '../../support/stored.ts'
import { type Check, noProblem } from '../result.ts'
import type { Site } from '../site.ts'
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

/** Clients that send numbered events until they are told to stop, each after the one before. */
function sending(site: Site, url: string) {
  const ask = apiOf({ url }, site.tenants[0]!.snippetKey)
  const acknowledged: { id: string; sentAt: number; answeredAt: number }[] = []
  let isStopped = false
  const work = async (client: number) => {
    for (let batch = 0; !isStopped; batch++) {
      const ids = Array.from({ length: 20 }, (_, i) => `sent-${client}-${batch}-${i}`)
      const events = ids.map(id => ({ id, kind: 'custom', name: 'x', userId: `u${client}` }))
      const sentAt = performance.now()
      const response = await ask('POST', '/events', { events }).catch(() => null)
      const answeredAt = performance.now()
      if (response?.status !== 202) continue
      acknowledged.push(...ids.map(id => ({ id, sentAt, answeredAt })))
    }
  }
  const ended = Promise.all(Array.from({ length: 4 }, (_, client) => work(client)))
  return {
    acknowledged,
    async stop() {
      isStopped = true
      await ended
    },
  }
}

/** How many times Litestream began a replica with a snapshot of the whole database. */
const generationsIn = (replica: string) =>
  existsSync(`${replica}/generations`) ? readdirSync(`${replica}/generations`).length : 0

function idsIn(file: string): Set<string> {
  using database = new Database(file, { create: false, readwrite: true })
  return new Set(storedEvents(database).map(({ id }) => id))
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
    const clients = sending(site, server.url)
    await Bun.sleep(seconds[isLong ? 'long' : 'short'] * 1_000)
    server.child.kill('SIGKILL')
    replicating.kill('SIGKILL')
    await Promise.all([server.child.exited, replicating.exited, clients.stop()])

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
    const { acknowledged } = clients
    const missing = acknowledged.filter(({ id }) => !kept.has(id))
    const there = acknowledged.filter(({ id }) => kept.has(id))
    const latest = there.reduce((most, { sentAt }) => Math.max(most, sentAt), 0)
    const lost = acknowledged.filter(({ id }) => !original.has(id))
    const holes = missing.filter(({ answeredAt }) => answeredAt < latest)
    return [
      {
        what: 'events acknowledged, and not in the replica',
        value: `${acknowledged.length}, ${missing.length}`,
      },
      noProblem(
        "not in Cairn's own database",
        lost.map(({ id }) => id),
      ),
      noProblem(
        'missing although something sent later is there',
        holes.map(({ id }) => id),
      ),
      noProblem('replicas that could not be restored and served', problems),
    ]
  },
}
