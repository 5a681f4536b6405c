import type { AnswerObserver, RequestSummary } from '../app.ts'
import { errors, unauthorizedCauses } from '../core/errors.ts'
import { type RejectionCode, rejectionCodes } from '../core/event/event.ts'
import type { AppendOutcome } from '../core/event/stored-event.ts'
import { type Bucket, buckets } from '../core/organisation/buckets.ts'
import type { EventBatch } from '../storage/shared/in-rows.ts'
import type { RetentionReport } from '../storage/sqlite/retention/retention.ts'
import type { StorageObserver } from '../storage/sqlite/storage.ts'
import type { CommitReport } from '../storage/sqlite/writer/writer.ts'
import type { Exposition, Labels } from './exposition.ts'
import type { Tally } from './tally.ts'

/**
 * A histogram within a row of counters: one counter per bucket, one for values beyond the last bound, and the
 * sum of all observed values.
 */
class Histogram {
  /** How many counters a histogram takes. */
  readonly words: number

  /** @param bounds upper bounds of the buckets, inclusive, ascending */
  constructor(private readonly bounds: readonly number[]) {
    this.words = bounds.length + 2
  }

  observe(counters: Float64Array, at: number, value: number): void {
    const { bounds } = this
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    ;(counters[at + bucket] as number) += 1
    ;(counters[at + bounds.length + 1] as number) += value
  }

  count(counters: Float64Array, at: number): number {
    return counters.subarray(at, at + this.bounds.length + 1).reduce((sum, n) => sum + n, 0)
  }

  render(page: Exposition, name: string, counters: Float64Array, at: number, labels: Labels = {}) {
    let below = 0
    for (const [i, bound] of this.bounds.entries()) {
      below += counters[at + i] as number
      page.sample(`${name}_bucket`, below, { ...labels, le: `${bound}` })
    }
    const total = below + (counters[at + this.bounds.length] as number)
    page.sample(`${name}_bucket`, total, { ...labels, le: '+Inf' })
    page.sample(`${name}_sum`, counters[at + this.bounds.length + 1] as number, labels)
    page.sample(`${name}_count`, total, labels)
  }
}

/** The parts of a declared route that are needed for counting. */
export interface CountedRoute {
  method: string
  path: string
  bucket?: Bucket
}

/** The parts of an answer that are counted. */
type CountedAnswer = Pick<
  RequestSummary,
  'method' | 'route' | 'organisation' | 'status' | 'durationMs' | 'cause'
>

/** The one label for all methods and routes that the server does not have, because callers can make up any. */
const other = 'other'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', other] as const

/** A method's label in metrics and log, because a made-up method could hold anything. */
export const methodLabel = (method: string): string =>
  (methods as readonly string[]).includes(method) ? method : other

/** Statuses that are answered; any other is counted as 500. */
const statuses = [
  ...[200, 201, 202, 204, 304, 308],
  ...[...new Set<number>(Object.values(errors).map(({ status }) => status))].sort(),
]

/** Shown for every route from the start, because an alert on `rate` misses a series' first step. */
const watchedStatuses = [401, 429, 500, 503]

const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const

/** Most answers take 50 to 500 µs; a write waits for the disk, 1 to 50 ms. */
const durations = new Histogram([
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
])

// Layout: one counter per cause of a 401; then one place per (path, method), with one counter per status and
// one histogram per status class.
const placeWords = statuses.length + statusClasses.length * durations.words

const indexOfOther = statuses.indexOf(500)
const indexOfStatus = new Map(statuses.map((status, i) => [status, i]))

const classOf = (status: number) => Math.min(Math.max(Math.floor(status / 100) - 2, 0), 3)

/** Counts requests and how they were answered. */
export class HttpCounters implements AnswerObserver {
  private readonly counters: Float64Array
  /** Where each path is; requests without a route come last. */
  private readonly places: ReadonlyMap<string, number>
  private readonly placeOfOther: number
  total = 0

  /** @param tally counts the same answers by organisation */
  constructor(
    private readonly routes: readonly CountedRoute[],
    private readonly tally: Tally<string> | null = null,
  ) {
    const paths = new Set([...routes.map(({ path }) => path), other])
    this.places = new Map([...paths].map((path, i) => [path, i]))
    this.placeOfOther = paths.size - 1
    this.counters = new Float64Array(placeAt(paths.size, 0))
  }

  answered({ method, route, organisation, status, durationMs, cause }: CountedAnswer): void {
    const counters = this.counters
    this.total++
    const path = this.places.get(route ?? other) ?? this.placeOfOther
    const at = placeAt(path, methods.indexOf(methodLabel(method) as 'GET'))
    ;(counters[at + (indexOfStatus.get(status) ?? indexOfOther)] as number) += 1
    durations.observe(counters, histogramAt(at, classOf(status)), durationMs / 1_000)
    if (cause) (counters[unauthorizedCauses.indexOf(cause)] as number) += 1
    if (this.tally?.isWatched && organisation !== null) {
      this.tally.add(organisation, { requests: 1, limited: Number(status === 429) })
    }
  }

  /** The counts as metrics. */
  render(page: Exposition): void {
    const counters = this.counters
    const routes = this.routes
    const places = [...this.places].flatMap(([route, path]) =>
      methods.map((method, m) => ({ labels: { method, route }, at: placeAt(path, m) })),
    )
    const isDeclared = (method: string, route: string) =>
      routes.some(declared => declared.method === method && declared.path === route)

    const requests = 'cairn_http_requests_total'
    page.family(requests, 'counter', 'Requests answered.')
    const refusedByPath = new Map<string, number>()
    for (const { labels, at } of places) {
      const { method, route } = labels
      for (const [i, status] of statuses.entries()) {
        const count = counters[at + i] as number
        const isWatched = watchedStatuses.includes(status) && isDeclared(method, route)
        if (count > 0 || isWatched) page.sample(requests, count, { ...labels, status: `${status}` })
        if (status === 429) refusedByPath.set(route, (refusedByPath.get(route) ?? 0) + count)
      }
    }

    const duration = 'cairn_http_request_duration_seconds'
    page.family(
      duration,
      'histogram',
      'Time from receipt to the answer; a download goes on after it.',
    )
    for (const { labels, at } of places) {
      for (const [i, statusClass] of statusClasses.entries()) {
        const histogram = histogramAt(at, i)
        if (durations.count(counters, histogram) === 0) continue
        durations.render(page, duration, counters, histogram, {
          ...labels,
          status_class: statusClass,
        })
      }
    }

    page.family('cairn_rate_limited_total', 'counter', 'Requests over their limit (429).')
    for (const bucket of buckets) {
      const ofBucket = new Set(routes.filter(r => r.bucket === bucket).map(({ path }) => path))
      const count = [...ofBucket].reduce((sum, path) => sum + (refusedByPath.get(path) ?? 0), 0)
      page.sample('cairn_rate_limited_total', count, { bucket })
    }

    page.family(
      'cairn_unauthorized_total',
      'counter',
      'Requests refused for their credential (401).',
    )
    for (const [i, cause] of unauthorizedCauses.entries()) {
      page.sample('cairn_unauthorized_total', counters[i] as number, { cause })
    }
  }
}

const placeAt = (path: number, method: number) =>
  unauthorizedCauses.length + (path * methods.length + method) * placeWords

const histogramAt = (place: number, statusClass: number) =>
  place + statuses.length + statusClass * durations.words

/** `erased` is reported only here. */
const verdicts = ['accepted', 'duplicate', ...rejectionCodes, 'erased'] as const

type Verdict = (typeof verdicts)[number]

const latencies = new Histogram([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
])

/** Events per commit. A group takes 5,000, and the rest of the batch that exceeds it. */
const sizes = new Histogram([1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000])

// Layout: one counter per verdict; one each for faults, commands, deleted events and when the oldest was
// received; then the two histograms.
const faultsAt = verdicts.length
const commandsAt = faultsAt + 1
const deletedAt = commandsAt + 1
const oldestAt = deletedAt + 1
const latencyAt = oldestAt + 1
const sizeAt = latencyAt + latencies.words
const commitWords = sizeAt + sizes.words

/**
 * Counts what storage commits. Doubles are exact integers up to 2^53; 32 bits would overflow within hours when
 * microseconds are summed.
 */
export class CommitCounters implements StorageObserver {
  private readonly counters = new Float64Array(commitWords)

  /** @param tally counts events by the organisation's row */
  constructor(private readonly tally: Tally<number> | null = null) {}

  /** How many commands were committed. */
  get commands(): number {
    return this.counters[commandsAt]!
  }

  committed({ commands, events, durationMs }: CommitReport): void {
    this.add(commandsAt, commands)
    latencies.observe(this.counters, latencyAt, durationMs / 1_000)
    // Housekeeping has transactions too, but they have no size.
    if (commands > 0) sizes.observe(this.counters, sizeAt, events)
  }

  appended({ orgRow, events, refusals }: EventBatch, outcome: AppendOutcome): void {
    const { duplicates, deadLetters, erased } = outcome
    let rejected = deadLetters.length + erased.length
    const accepted = events.length - duplicates.length - rejected
    this.verdict('accepted', accepted)
    this.verdict('duplicate', duplicates.length)
    this.verdict('storage', deadLetters.length)
    this.verdict('erased', erased.length)
    for (const [code, count] of Object.entries(refusals)) {
      this.verdict(code as RejectionCode, count)
      rejected += count
    }
    if (this.tally?.isWatched) {
      this.tally.add(orgRow, { accepted, duplicates: duplicates.length, rejected })
    }
  }

  retained({ deleted, oldestAt: receivedAt }: RetentionReport): void {
    this.add(deletedAt, deleted)
    this.counters[oldestAt] = (receivedAt ?? 0) / 1_000
  }

  refused(): void {
    this.add(faultsAt, 1)
  }

  private verdict(verdict: Verdict, count: number): void {
    this.add(verdicts.indexOf(verdict), count)
  }

  private add(at: number, count: number): void {
    ;(this.counters[at] as number) += count
  }

  /** The counts as metrics. */
  render(page: Exposition): void {
    const { counters } = this
    const at = (i: number) => counters[i] as number
    page.family('cairn_events_total', 'counter', 'Events of answered batches, by verdict.')
    for (const [i, verdict] of verdicts.entries()) {
      page.sample('cairn_events_total', at(i), { verdict })
    }
    page.counter(
      'cairn_dead_letters_total',
      'Events that the database itself refused, set aside with the reason.',
      at(verdicts.indexOf('storage')),
    )
    page.counter('cairn_commands_total', 'Writes committed.', at(commandsAt))
    page.counter(
      'cairn_storage_faults_total',
      'Times that storage began to refuse, or took a group of writes apart.',
      at(faultsAt),
    )
    page.counter(
      'cairn_retention_deleted_events_total',
      'Raw events that were kept for as long as they had to be, and deleted.',
      at(deletedAt),
    )
    page.gauge(
      'cairn_oldest_event_timestamp_seconds',
      'When the oldest raw event was received, Unix time, as the retention last saw it; 0 for none.',
      at(oldestAt),
    )
    page.family('cairn_commit_duration_seconds', 'histogram', 'Time of a group commit, synced.')
    latencies.render(page, 'cairn_commit_duration_seconds', counters, latencyAt)
    page.family('cairn_commit_events', 'histogram', 'Events a group commit.')
    sizes.render(page, 'cairn_commit_events', counters, sizeAt)
  }
}
