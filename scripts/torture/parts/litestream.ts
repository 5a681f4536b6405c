import { Database } from 'bun:sqlite'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { progress } from '../../report/progress.ts'
import { apiOf, type Server, Workplace, withUnlimitedTour } from '../../support/binary.ts'
import { storedEvents } from '../../support/stored.ts'
import { atMost, type Ledger, none, type Torture } from '../ledger.ts'
import { bringLitestream } from '../litestream/program.ts'

/** How many rounds, and how long how many clients send in each until both processes are killed. */
const effort = {
  short: { rounds: 1, seconds: 4, clients: 4 },
  long: { rounds: 10, seconds: 60, clients: 8 },
}

const eventsOfBatch = 20

/** The greatest age of what may be missing afterwards; more for a machine that others keep busy. */
const mostAgeMs = { short: 10_000, long: 1_000 }

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

/** An acknowledged event, with times by the wall clock. */
interface Acknowledged {
  id: string
  sentAt: number
  answeredAt: number
}

/** Clients that send numbered events until they are told to stop. What is not answered does not count. */
function clientsOf(server: Server, snippetKey: string, name: string, count: number) {
  const ask = apiOf(server, snippetKey)
  const acknowledged: Acknowledged[] = []
  let isOver = false
  const work = async (client: number) => {
    for (let batch = 0; !isOver; batch++) {
      const ids = Array.from({ length: eventsOfBatch }, (_, i) => `${name}-${client}-${batch}-${i}`)
      const events = ids.map(id => ({ id, kind: 'custom', name: 'x', userId: `u${client}` }))
      const sentAt = Date.now()
      const response = await ask('POST', '/events', { events }).catch(() => null)
      const answeredAt = Date.now()
      if (response?.status === 202) {
        acknowledged.push(...ids.map(id => ({ id, sentAt, answeredAt })))
      }
      await response?.text().catch(() => null)
    }
  }
  const ended = Promise.all(Array.from({ length: count }, (_, client) => work(client)))
  return {
    acknowledged,
    async stop() {
      isOver = true
      await ended
    },
  }
}

/** What a round found. */
interface Round {
  acknowledged: number
  missing: number
  /** Acknowledged, but missing even in Cairn's own database. */
  lost: number
  /** Missing, although acknowledged before something was sent that is there. */
  holes: number
  oldestMissingMs: number
  generations: number
  faults: string[]
}

async function round(number: number, seconds: number, clients: number): Promise<Round> {
  await using place = new Workplace()
  const { snippetKey } = await withUnlimitedTour(place)
  const at = (name: string) => join(place.folder, name)
  await Bun.write(at('litestream.yml'), configOf(at('cairn-data/cairn.db'), at('replica')))
  const config = ['-config', at('litestream.yml')]
  const litestream = (...args: string[]) => [bringLitestream(), ...args]
  const server = await place.serve(['--checkpoints', 'litestream'])
  const replicating = Bun.spawn(litestream('replicate', ...config), {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await server.until(() => generationsIn(at('replica')) > 0)
  const crowd = clientsOf(server, snippetKey, `r${number}`, clients)
  await Bun.sleep(seconds * 1_000)
  const killedAt = Date.now()
  server.child.kill('SIGKILL')
  replicating.kill('SIGKILL')
  await Promise.all([server.child.exited, replicating.exited, crowd.stop()])

  const generations = generationsIn(at('replica'))
  const restored = at('restored.db')
  const faults: string[] = []
  const restore = Bun.spawnSync(
    litestream('restore', ...config, '-o', restored, at('cairn-data/cairn.db')),
  )
  if (!restore.success) faults.push(`Litestream does not restore: ${restore.stderr}`)
  const taken = await place.run(['restore', restored, '--data', 'fresh'])
  if (taken.status !== 0) faults.push(taken.stderr)
  const stored = taken.status === 0 ? idsIn(at('fresh/cairn.db')) : new Set<string>()
  const original = idsIn(at('cairn-data/cairn.db'))
  const again = await place.serve(['--data', 'fresh'])
  const answer = await apiOf(again, snippetKey)('POST', '/events', {
    events: [{ id: 'after', kind: 'custom', name: 'x', userId: 'u' }],
  })
  if (answer.status !== 202) faults.push(`a server on it answers ${answer.status}`)
  const { acknowledged } = crowd
  const missing = acknowledged.filter(({ id }) => !stored.has(id))
  const there = acknowledged.filter(({ id }) => stored.has(id))
  const latestSent = there.reduce((latest, { sentAt }) => Math.max(latest, sentAt), 0)
  const oldest = missing.reduce((least, { answeredAt }) => Math.min(least, answeredAt), killedAt)
  return {
    acknowledged: acknowledged.length,
    missing: missing.length,
    lost: acknowledged.filter(({ id }) => !original.has(id)).length,
    holes: missing.filter(({ answeredAt }) => answeredAt < latestSent).length,
    oldestMissingMs: killedAt - oldest,
    generations,
    faults,
  }
}

/** How many times Litestream restarted a replica with a snapshot of the whole database. */
const generationsIn = (replica: string) =>
  existsSync(join(replica, 'generations')) ? readdirSync(join(replica, 'generations')).length : 0

function idsIn(file: string): Set<string> {
  using database = new Database(file, { create: false, readwrite: true })
  return new Set(storedEvents(database).map(({ id }) => id))
}

/** Litestream replicates while Cairn is under load; both are killed, and what it has is restored. */
export async function litestream({ isLong }: Torture): Promise<Ledger> {
  const { rounds, seconds, clients } = isLong ? effort.long : effort.short
  const found: Round[] = []
  for (let number = 1; number <= rounds; number++) {
    found.push(await round(number, seconds, clients))
    progress(`${number} of ${rounds} rounds`)
  }
  const sum = (of: 'acknowledged' | 'missing' | 'lost' | 'holes' | 'generations') =>
    found.reduce((total, one) => total + one[of], 0)
  const faults = found.flatMap(one => one.faults)
  const oldest = Math.max(...found.map(({ oldestMissingMs }) => oldestMissingMs))
  return {
    title: `Litestream beside Cairn, both killed after ${seconds} s, ${rounds} times`,
    entries: [
      { what: 'events acknowledged', value: sum('acknowledged') },
      { what: 'of them not in the replica', value: sum('missing') },
      atMost(
        'age of the oldest of those',
        oldest,
        isLong ? mostAgeMs.long : mostAgeMs.short,
        ' ms',
      ),
      none("not in Cairn's own database either", sum('lost')),
      none('missing although something sent later is there', sum('holes')),
      none('replicas that could not be restored and served', faults.length),
      { what: 'replicas begun anew under load', value: sum('generations') - rounds },
    ],
    notes: [
      ...faults,
      ...found.flatMap(({ holes }, i) =>
        holes > 0 ? [`Round ${i + 1}: ${holes} are missing before the end.`] : [],
      ),
    ],
  }
}
