import { statSync } from 'node:fs'
import { nearestRank } from '../../../src/core/number/statistics.ts'
import { dayMs } from '../../../src/core/time/durations.ts'
import { databaseFile, openForWriting } from '../../../src/storage/sqlite/database/database.ts'
import { progress } from '../../report/progress.ts'
import {
  apiOf,
  firstFlowOf,
  type Server,
  Workplace,
  withUnlimitedTour,
} from '../../support/binary.ts'
import { damageIn } from '../../support/stored.ts'
import { atMost, type Entry, type Ledger, none, type Torture } from '../ledger.ts'
import { bodies, type History, type Tenant } from '../retention/history.ts'
import { send } from '../retention/post.ts'

/** How long ago the old events were received, and how long events are kept. */
const ageDays = 100
const keptDays = 90
const forever = 3_650

/** Requests of 50 events; in the long form half of what two cores can take. */
const forms = {
  long: { runs: 1_000_000, perSecond: 800, seconds: 20 },
  short: { runs: 3_000, perSecond: 40, seconds: 1 },
}

/** How much longer the slowest hundredth of requests may take while events are deleted, milliseconds. */
const mostDelayMs = 100

/**
 * Old events are deleted while new ones come: nothing else is lost, no number changes, commits are not held
 * up, and the file shrinks. The server is killed in the middle.
 */
export async function retention({ isLong }: Torture): Promise<Ledger> {
  const { runs, ...load } = isLong ? forms.long : forms.short
  await using place = new Workplace()
  const data = place.dataDir
  const { snippetKey } = await withUnlimitedTour(place)
  const start = (days: number) => place.serve(['--threads', '1', '--retention-days', `${days}`])

  let server = await start(forever)
  const { id: flowId, steps } = await firstFlowOf(apiOf(server, snippetKey))
  const tenant = { snippetKey, flowId, stepIds: steps.map(({ id }) => id) }
  const stream = new Stream(tenant, runs)
  await stream.storeOld(server)
  const old = stream.acknowledged
  await server.end()
  makeOld(data)
  const bytesBefore = statSync(databaseFile(data)).size

  progress('new events, nothing to delete')
  server = await start(forever)
  const quiet = await stream.load(() => server, load)
  const before = await answerOf(place, server, tenant)
  await server.end()

  progress('new events, all old ones go')
  server = await start(keptDays)
  const startedAt = performance.now()
  const first = oldest(place).seq
  const isDone = () => oldest(place).received_at > Date.now() - keptDays * dayMs
  let kills = 0
  const killed = (async () => {
    while (oldest(place).seq === first) await Bun.sleep(2)
    kills++
    await server.end('SIGKILL')
    server = await start(keptDays)
  })()
  const busy = await stream.load(() => server, { ...load, seconds: isLong ? 5 : 3 })
  await killed
  await stream.sendAgain(server)
  while (!isDone()) busy.push(...(await stream.load(() => server, { ...load, seconds: 1 })))
  const seconds = (performance.now() - startedAt) / 1_000
  const after = await answerOf(place, server, tenant)
  await Bun.sleep(isLong ? 60_000 : 0)
  await server.end()

  const { left, damage } = stored(place)
  const { changed } = await place.json<{ changed: number }>(['rebuild'])
  const delay = percentile(busy, 0.99) - percentile(quiet, 0.99)
  const entries: Entry[] = [
    { what: 'old events, all of them deleted', value: old },
    { what: 'events acknowledged meanwhile', value: stream.acknowledged - old },
    none('of those lost, or there twice', Math.abs(left - (stream.acknowledged - old))),
    none('parts of the analytics that differ from before', differing(before, after)),
    none('flows that a rebuild changes', changed),
    none('faults that integrity_check finds', damage === null ? 0 : 1),
    { what: 'kills in the middle', value: kills },
    { what: 'until all were gone', value: `${seconds.toFixed(1)} s` },
    { what: 'requests without deletions, p50 and p99', value: shown(quiet) },
    { what: 'requests while events go, p50 and p99', value: shown(busy) },
    ...(isLong ? [atMost('p99 longer by', Math.round(delay), mostDelayMs, ' ms')] : []),
    {
      what: 'database before and after',
      value: `${mib(bytesBefore)}, ${mib(statSync(databaseFile(data)).size)}`,
    },
  ]
  return { title: 'Retention', entries }
}

const percentile = (values: readonly number[], part: number) =>
  nearestRank(
    values.toSorted((a, b) => a - b),
    part,
  )!

const shown = (ms: readonly number[]) =>
  `${percentile(ms, 0.5).toFixed(1)} ms, ${percentile(ms, 0.99).toFixed(1)} ms of ${ms.length}`

const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`

/** Makes everything look as if it had been received long ago. */
function makeOld(data: string): void {
  const database = openForWriting(data)
  database.run(`update event_batches set received_at = received_at - ${ageDays * dayMs}`)
  database.run(`update event_id_segments set newest_at = newest_at - ${ageDays * dayMs}`)
  database.run('pragma wal_checkpoint(truncate)')
  database.close()
}

function oldest(place: Workplace): { seq: number; received_at: number } {
  using database = place.reading()
  const row = database
    .query<{ seq: number; received_at: number }, []>(
      'select seq, received_at from event_batches order by seq limit 1',
    )
    .get()
  return row ?? { seq: 0, received_at: Number.POSITIVE_INFINITY }
}

function stored(place: Workplace): { left: number; damage: string | null } {
  using database = place.reading()
  const [left] = database.query('select coalesce(sum(events), 0) from event_batches').values()
  return { left: Number(left?.[0]), damage: damageIn(database) }
}

/** The analytics of the old runs; new ones began yesterday or today. */
async function answerOf(place: Workplace, server: Server, tenant: Tenant) {
  const { token } = await place.json<{ token: string }>(['token', 'issue'])
  const day = (ago: number) => new Date(Date.now() - ago * dayMs).toISOString().slice(0, 10)
  const path = `/flows/${tenant.flowId}/analytics?from=${day(35)}&to=${day(3)}`
  const response = await apiOf(server, token)('GET', path)
  if (response.status !== 200) throw new Error(await response.text())
  const { generatedAt, ...answer } = (await response.json()) as Record<string, unknown>
  return answer
}

const differing = (before: Record<string, unknown>, after: Record<string, unknown>) =>
  Object.keys(before).filter(name => !Bun.deepEquals(before[name], after[name])).length

/** Events of one flow: old ones over a month, then new ones of today. */
class Stream {
  /** How many events are stored, according to the server. */
  acknowledged = 0
  private readonly fresh: Iterator<string>
  private unanswered: string[] = []

  constructor(
    private readonly tenant: Tenant,
    private readonly runs: number,
  ) {
    this.fresh = bodies(this.history('v4', 1, 10_000_000), 0, 10_000_000)
  }

  async storeOld(server: Server): Promise<void> {
    const texts = bodies(this.history('v7', 30, this.runs), 0, this.runs)
    await send(server, this.tenant, texts, ({ accepted }) => {
      this.acknowledged += accepted
    })
  }

  /**
   * Sends new events at a fixed pace, however long the answers take.
   *
   * @returns how long each answered request took, milliseconds
   */
  async load(
    server: () => Server,
    { perSecond, seconds }: { perSecond: number; seconds: number },
  ): Promise<number[]> {
    const took: number[] = []
    const pending: Promise<void>[] = []
    const startedAt = performance.now()
    for (let n = 0; n < perSecond * seconds; n++) {
      const waitMs = startedAt + (n * 1_000) / perSecond - performance.now()
      if (waitMs > 0) await Bun.sleep(waitMs)
      pending.push(this.sendFresh(server(), this.fresh.next().value as string, took))
    }
    await Promise.all(pending)
    return took
  }

  /** Sends what a killed server has not answered. */
  async sendAgain(server: Server): Promise<void> {
    for (const body of this.unanswered) await this.send(server, body)
    this.unanswered = []
  }

  private async sendFresh(server: Server, body: string, took: number[]): Promise<void> {
    const sentAt = performance.now()
    try {
      await this.send(server, body)
      took.push(performance.now() - sentAt)
    } catch {
      this.unanswered.push(body)
    }
  }

  private async send(server: Server, body: string): Promise<void> {
    const response = await fetch(`${server.url}/api/v1/events`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.tenant.snippetKey}`,
        'content-type': 'application/json',
      },
      body,
    })
    if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
    const { accepted, duplicates } = (await response.json()) as Record<string, number>
    this.acknowledged += (accepted ?? 0) + (duplicates ?? 0)
  }

  private history(ids: History['ids'], days: number, runs: number): History {
    return { tenant: this.tenant, ids, days, runs, people: 100_000, until: Date.now() }
  }
}
