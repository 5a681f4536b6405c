import type { AnswerObserver, RequestSummary } from '../app.ts'
import { errors, type UnauthorizedCause, unauthorizedCauses } from '../core/errors.ts'
import { type AppendOutcome, rejectionCodes } from '../core/event/event.ts'
import { type Bucket, buckets } from '../core/organisation/limits.ts'
import type { EventBatch } from '../storage/shared/in-rows.ts'
import type { RetentionReport } from '../storage/sqlite/retention/retention.ts'
import type { StorageObserver } from '../storage/sqlite/storage.ts'
import type { CommitReport } from '../storage/sqlite/writer/writer.ts'
import { type Exposition, Histogram } from './exposition.ts'

/** The parts of a declared route that are needed for counting. */
export interface CountedRoute {
  method: string
  path: string
  bucket?: Bucket
}

/** The parts of an answer that are counted. */
type CountedAnswer = Pick<RequestSummary, 'method' | 'route' | 'status' | 'durationMs' | 'cause'>

/** The one label for all methods and routes that the server does not have, because callers can make up any. */
const other = 'other'

const methods: ReadonlySet<string> = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
])

/** A method's label in metrics and log, because a made-up method could hold anything. */
export const methodLabel = (method: string): string => (methods.has(method) ? method : other)

/** Statuses that are answered; any other is counted as 500. */
const statuses: ReadonlySet<number> = new Set([
  ...[200, 201, 202, 204, 304, 308],
  ...Object.values(errors).map(({ status }) => status),
])

/** Shown for every route from the start, because an alert on `rate` misses a series' first step. */
const watchedStatuses = [401, 429, 500, 503]

/** Most answers take 50 to 500 µs; a write waits for the disk, 1 to 50 ms. */
const durationBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** How one method of one route was answered. */
interface Answers {
  labels: { method: string; route: string }
  byStatus: Map<number, number>
  /** By status class: `2xx`. */
  durations: Map<string, Histogram>
}

/** Counts requests and how they were answered. */
export class HttpCounters implements AnswerObserver {
  total = 0
  private readonly answers = new Map<string, Map<string, Answers>>()
  private readonly bucketOf: ReadonlyMap<string, Bucket | undefined>
  private readonly limited = new Map(buckets.map(bucket => [bucket, 0]))
  private readonly causes = new Map<UnauthorizedCause, number>(
    unauthorizedCauses.map(cause => [cause, 0]),
  )

  constructor(routes: readonly CountedRoute[]) {
    this.bucketOf = new Map(routes.map(({ path, bucket }) => [path, bucket]))
    for (const { method, path } of routes) {
      const { byStatus } = this.of(method, path)
      for (const status of watchedStatuses) byStatus.set(status, 0)
    }
  }

  responded({ method, route, status, durationMs, cause }: CountedAnswer): void {
    this.total++
    const path = route !== null && this.bucketOf.has(route) ? route : other
    const { byStatus, durations } = this.of(methodLabel(method), path)
    increment(byStatus, statuses.has(status) ? status : 500)
    const statusClass = `${Math.min(Math.max(Math.floor(status / 100), 2), 5)}xx`
    obtain(durations, statusClass, () => new Histogram(durationBounds)).observe(durationMs / 1_000)
    const bucket = this.bucketOf.get(path)
    if (status === 429 && bucket) increment(this.limited, bucket)
    if (cause) increment(this.causes, cause)
  }

  private of(method: string, route: string): Answers {
    const ofRoute = obtain(this.answers, route, () => new Map<string, Answers>())
    const labels = { method, route }
    return obtain(ofRoute, method, () => ({ labels, byStatus: new Map(), durations: new Map() }))
  }

  /** The counts as metrics. */
  render(page: Exposition): void {
    const answers = [...this.answers.values()].flatMap(ofRoute => [...ofRoute.values()])
    const requests = 'cairn_http_requests_total'
    page.family(requests, 'counter', 'Requests answered.')
    for (const { labels, byStatus } of answers) {
      for (const [status, count] of byStatus) {
        page.sample(requests, count, { ...labels, status: `${status}` })
      }
    }
    const duration = 'cairn_http_request_duration_seconds'
    const help =
      'Time from receipt of a request to its response, without the transfer of a download.'
    page.family(duration, 'histogram', help)
    for (const { labels, durations } of answers) {
      for (const [status_class, histogram] of durations) {
        histogram.render(page, duration, { ...labels, status_class })
      }
    }
    page.family('cairn_rate_limited_total', 'counter', 'Requests over their limit (429).')
    for (const [bucket, count] of this.limited) {
      page.sample('cairn_rate_limited_total', count, { bucket })
    }
    const unauthorized = 'cairn_unauthorized_total'
    page.family(unauthorized, 'counter', 'Requests rejected for their credentials (401).')
    for (const [cause, count] of this.causes) page.sample(unauthorized, count, { cause })
  }
}

function increment<Key>(counts: Map<Key, number>, key: Key, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

function obtain<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** `erased` is reported only here. */
const verdicts = ['accepted', 'duplicate', ...rejectionCodes, 'erased']

const latencyBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Events per commit. A group takes 5,000, and the rest of the batch that exceeds it. */
const sizeBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000]

/** Counts what storage commits. */
export class CommitCounters implements StorageObserver {
  /** How many commands were committed. */
  commands = 0
  private readonly events = new Map(verdicts.map(verdict => [verdict, 0]))
  private readonly latencies = new Histogram(latencyBounds)
  private readonly sizes = new Histogram(sizeBounds)
  private faults = 0
  private deleted = 0
  private oldestAt = 0

  committed({ commands, events, durationMs }: CommitReport): void {
    this.commands += commands
    this.latencies.observe(durationMs / 1_000)
    // Housekeeping has transactions too, but they have no size.
    if (commands > 0) this.sizes.observe(events)
  }

  appended({ events, refusals }: EventBatch, outcome: AppendOutcome): void {
    const { duplicates, deadLetters, erased } = outcome
    const accepted = events.length - duplicates.length - deadLetters.length - erased.length
    increment(this.events, 'accepted', accepted)
    increment(this.events, 'duplicate', duplicates.length)
    increment(this.events, 'storage', deadLetters.length)
    increment(this.events, 'erased', erased.length)
    for (const [code, count] of Object.entries(refusals)) {
      increment(this.events, code, count)
    }
  }

  retained({ deleted, oldestAt }: RetentionReport): void {
    this.deleted += deleted
    this.oldestAt = oldestAt ?? 0
  }

  refused(): void {
    this.faults++
  }

  /** The counts as metrics. */
  render(page: Exposition): void {
    page.family('cairn_events_total', 'counter', 'Events of answered batches, by verdict.')
    for (const [verdict, count] of this.events)
      page.sample('cairn_events_total', count, { verdict })
    page.counter(
      'cairn_dead_letters_total',
      'Events that the database rejected, kept as dead letters.',
      this.events.get('storage')!,
    )
    page.counter('cairn_commands_total', 'Writes committed.', this.commands)
    page.counter(
      'cairn_storage_faults_total',
      'Times that storage started to reject writes, or split a group of writes.',
      this.faults,
    )
    page.counter(
      'cairn_retention_deleted_events_total',
      'Raw events deleted at the end of their retention.',
      this.deleted,
    )
    page.gauge(
      'cairn_oldest_event_timestamp_seconds',
      'Unix time at which the oldest raw event was received, as of the last check of the retention; 0 for none.',
      this.oldestAt / 1_000,
    )
    page.family(
      'cairn_commit_duration_seconds',
      'histogram',
      'Duration of a group commit, with its sync.',
    )
    this.latencies.render(page, 'cairn_commit_duration_seconds')
    page.family('cairn_commit_events', 'histogram', 'Events per group commit.')
    this.sizes.render(page, 'cairn_commit_events')
  }
}
