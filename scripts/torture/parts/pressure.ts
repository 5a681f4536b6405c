import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { nearestRank } from '../../../src/core/number/statistics.ts'
import { progress } from '../../report/progress.ts'
import { apiOf, asForUsers, metricOf, type Server, type Workplace } from '../../support/binary.ts'
import { rssMiBOf } from '../../support/process.ts'
import { storedEvents } from '../../support/stored.ts'
import type { Tenant } from '../clients.ts'
import { Findings } from '../findings.ts'
import { eventsOfBatch, Flood, type FloodReport, nameOf } from '../flood.ts'
import { atMost, type Entry, type Ledger, none, type Torture } from '../ledger.ts'
import { Scene } from '../scene.ts'

/** Storage that is slow for so many commits, and ten times the load that it can take meanwhile. */
interface Pressure {
  name: string
  args: readonly string[]
  /** How long each of the slow commits takes, milliseconds, and how many there are. */
  delayMs: number
  commits: number
  batchesPerSecond: number
}

/** With a buffer of a hundred events, a commit of 100 ms takes two batches: 20 batches per second. */
const smallBuffer: Pressure = {
  name: 'buffer of 100 events',
  args: ['--buffer-events', '100'],
  delayMs: 100,
  commits: 40,
  batchesPerSecond: 200,
}

/** A commit takes a hundred batches at most: with 1 s each, not quite a hundred batches per second. */
const defaultBuffer: Pressure = {
  name: 'default buffer',
  args: [],
  delayMs: 1_000,
  commits: 12,
  batchesPerSecond: 1_000,
}

/** What flow reads may take at the 99th percentile, milliseconds. */
const p99Bound = 50

/** How soon it is as fast again as a server without pressure, and which share of that speed counts as full. */
const recoveredWithinMs = 2_000
const fullSpeed = 0.8

/** Both speeds are measured in turn this many times, and the best counts, because other work only slows them. */
const speedTries = 8
const speedTryMs = 500

/** How much memory the server may take, MiB. */
const memoryBound = 512

const residentMib = ({ child }: Server) => Math.round(rssMiBOf(child.pid))

const p99Of = (tookMs: readonly number[]) =>
  Math.round(
    nearestRank(
      tookMs.toSorted((a, b) => a - b),
      0.99,
    )! * 10,
  ) / 10

/** Watches a server during the flood. */
class Watch {
  readonly readsMs: number[] = []
  /** The same from a server that is left alone meanwhile: how long a read takes on this machine as such. */
  readonly calmReadsMs: number[] = []
  failedReads = 0
  peakMib = 0
  wasNotReady = false
  /** When the last slow commit was over, epoch milliseconds. */
  easedAt = Number.POSITIVE_INFINITY
  readonly eased = Promise.withResolvers<void>()
  private isOver = false
  private readonly ended: Promise<unknown>

  constructor(
    private readonly server: Server,
    tenant: Tenant,
    private readonly commits: number,
    calm: [Server, Tenant],
  ) {
    const reading = [this.read(this.readsMs, server, tenant), this.read(this.calmReadsMs, ...calm)]
    this.ended = Promise.all([...reading, this.look()])
  }

  async stop(): Promise<void> {
    this.isOver = true
    await this.ended
  }

  private async read(tookMs: number[], server: Server, { snippetKey }: Tenant): Promise<void> {
    const ask = apiOf(server, snippetKey)
    while (!this.isOver) {
      const startedAt = performance.now()
      const response = await ask('GET', '/flows')
      await response.arrayBuffer()
      // Only during the pressure.
      if (this.easedAt > Date.now()) tookMs.push(performance.now() - startedAt)
      if (response.status !== 200) this.failedReads++
      await Bun.sleep(10)
    }
  }

  private async look(): Promise<void> {
    while (!this.isOver) {
      this.peakMib = Math.max(this.peakMib, residentMib(this.server))
      const readiness = await fetch(`${this.server.managementUrl}/readyz`)
      this.wasNotReady ||= readiness.status === 503
      const commits = await metricOf(this.server, 'cairn_commit_duration_seconds_count')
      if (commits >= this.commits) {
        this.easedAt = Math.min(this.easedAt, Date.now())
        this.eased.resolve()
      }
      await Bun.sleep(50)
    }
  }
}

/** How many acknowledged events are missing. */
function lostOf({ acknowledged }: FloodReport, prefix: string, place: Workplace): number {
  using database = place.reading()
  const stored = new Set(storedEvents(database).map(({ id }) => id))
  let lost = 0
  for (const [batch] of acknowledged) {
    for (let i = 0; i < eventsOfBatch; i++) if (!stored.has(nameOf(prefix, batch, i))) lost++
  }
  return lost
}

/** Batches per second that four clients get stored, each client one after another. */
async function speedOf(server: Server, { snippetKey, diary }: Tenant): Promise<number> {
  const ask = apiOf(server, snippetKey)
  const startedAt = performance.now()
  let stored = 0
  const client = async () => {
    while (performance.now() < startedAt + speedTryMs) {
      const batch = diary.newNumber()
      const events = Array.from({ length: eventsOfBatch }, (_, i) => ({
        ...{ id: nameOf('speed', batch, i), kind: 'custom', name: 'x', userId: 'u' },
      }))
      if ((await ask('POST', '/events', { events })).status === 202) stored++
    }
  }
  await Promise.all([client(), client(), client(), client()])
  return (stored / (performance.now() - startedAt)) * 1_000
}

async function press(
  scene: Scene,
  calm: Scene,
  pressure: Pressure,
  isTimed: boolean,
): Promise<Entry[]> {
  const { name, args, delayMs, commits, batchesPerSecond } = pressure
  progress(name)
  const tenant = scene.tenants[0]!
  const { snippetKey } = tenant
  const fresh = await calm.start([...args, '--log-level', 'error'], asForUsers)
  const server = await scene.start([...args, '--log-level', 'error'], {
    ...asForUsers,
    CAIRN_FAILPOINTS: `before_commit=delay:${delayMs}*${commits}`,
  })
  const restingMib = residentMib(server)
  const watch = new Watch(server, tenant, commits, [fresh, calm.tenants[0]!])
  const prefix = `flood-${batchesPerSecond}`
  const flood = new Flood({ url: server.url, snippetKey, batchesPerSecond, prefix })
  await watch.eased.promise
  const [report] = await Promise.all([flood.stop(), Bun.sleep(recoveredWithinMs)])
  await watch.stop()
  let [fullest, speedAfter] = [0, 0]
  for (let i = 0; i < (isTimed ? speedTries : 1); i++) {
    speedAfter = Math.max(speedAfter, await speedOf(server, tenant))
    fullest = Math.max(fullest, await speedOf(fresh, calm.tenants[0]!))
  }
  const { easedAt, peakMib } = watch
  await Promise.all([server.end(), fresh.end()])
  const lost = lostOf(report, prefix, scene.place)
  const taken = report.acknowledged.filter(([, at]) => at < easedAt).length
  const refused = report.refused.filter(at => at < easedAt).length
  const ratio = Math.round(((taken + refused) / taken) * 10) / 10
  const others = JSON.stringify(report.others)
  const reads = `${name}: p99 of ${watch.readsMs.length} flow reads`
  const since = `${recoveredWithinMs / 1_000} s after`
  const speed = `${name}: batches a second, ${since} and of a server that was never pressed`
  return [
    {
      what: `${name}: batches taken and refused, and how many times what was taken`,
      value: `${taken}, ${refused}, ${ratio} times`,
    },
    none(`${name}: acknowledged events that are not there`, lost),
    none(`${name}: refusals without Retry-After`, report.withoutRetryAfter),
    { what: `${name}: answers but 202 and 503`, value: others, isGood: others === '{}' },
    none(`${name}: flow reads that failed`, watch.failedReads),
    isTimed
      ? atMost(reads, p99Of(watch.readsMs), p99Bound, ' ms')
      : { what: reads, value: `${p99Of(watch.readsMs)} ms` },
    {
      what: `${name}: p99 meanwhile of a server that was left alone`,
      value: `${p99Of(watch.calmReadsMs)} ms`,
    },
    { what: `${name}: memory at rest`, value: `${restingMib} MiB` },
    atMost(`${name}: memory, the most`, peakMib, memoryBound, ' MiB'),
    {
      what: speed,
      value: `${Math.round(speedAfter)}, ${Math.round(fullest)}`,
      ...(isTimed && { isGood: speedAfter >= fullest * fullSpeed }),
    },
  ]
}

/** Ten times the load that storage takes, with a small buffer and with the default one. */
export async function pressure({ isLong, seed }: Torture): Promise<Ledger> {
  const random = new SeededRandom(`pressure ${seed}`)
  await using scene = await Scene.open(random, new Findings())
  await using calm = await Scene.open(random, new Findings())
  const entries = await press(scene, calm, smallBuffer, isLong)
  if (isLong) entries.push(...(await press(scene, calm, defaultBuffer, isLong)))
  return {
    title: 'Ten times the load that storage takes',
    entries,
    notes: [
      'The load, the reads that are timed and the server share the cores of this machine, so that p99 ' +
        'is also how long reads wait for a core: that of the server that was left alone is this alone.',
    ],
  }
}
