import { type Counts, columns } from '../../runtime/tally.ts'
import type { OrganisationTraffic } from '../../runtime/traffic.ts'
import { MetricsPage, quantileBetween } from './metrics-page.ts'

/** What a server said of itself at one moment. */
export interface Look {
  /** Monotonic milliseconds. */
  atMs: number
  metrics: MetricsPage
  /** By organisation id. */
  traffic: ReadonlyMap<string, OrganisationTraffic>
}

/** An organisation's traffic, a second. */
export type OrganisationRates = Counts & { slug: string }

/** What is shown; rates are a second, between two looks. Times are upper bounds of a histogram. */
export type Figures = ReturnType<typeof figuresBetween>

const requests = 'cairn_http_requests_total'
const duration = 'cairn_http_request_duration_seconds'
const commit = 'cairn_commit_duration_seconds'
const commitEvents = 'cairn_commit_events'

/** What happened between two looks at one server; one that was started anew meanwhile begins at 0. */
export function figuresBetween(from: Look, to: Look, nowMs: number) {
  const { metrics } = to
  const start = 'process_start_time_seconds'
  const isSame = from.metrics.sum(start) === metrics.sum(start)
  const before = isSame ? from.metrics : new MetricsPage('')
  const seconds = Math.max(0.001, (to.atMs - from.atMs) / 1_000)
  const rate = (name: string, isIt?: (labels: Record<string, string>) => boolean) =>
    (metrics.sum(name, isIt) - before.sum(name, isIt)) / seconds
  const ratesBy = (name: string, label: string) => {
    const earlier = before.by(name, label)
    const sums = [...metrics.by(name, label)]
    return Object.fromEntries(
      sums.map(([key, n]) => [key, (n - (earlier.get(key) ?? 0)) / seconds]),
    )
  }
  const withStatus = (status: string) => rate(requests, labels => labels.status === status)
  const commits = rate(`${commit}_count`)
  const groups = rate(`${commitEvents}_count`)
  return {
    version: metrics.label('cairn_build_info', 'version'),
    ready: metrics.sum('cairn_ready') === 1,
    upSeconds: Math.max(0, Math.round(nowMs / 1_000 - metrics.sum(start))),
    requests: {
      rate: rate(requests),
      limited: withStatus('429'),
      unauthorized: withStatus('401'),
      overloaded: withStatus('503'),
      failed: withStatus('500'),
    },
    answers: {
      p50Seconds: quantileBetween(before, metrics, duration, 0.5),
      p99Seconds: quantileBetween(before, metrics, duration, 0.99),
    },
    events: ratesBy('cairn_events_total', 'verdict'),
    commits: {
      rate: commits,
      p50Seconds: quantileBetween(before, metrics, commit, 0.5),
      p99Seconds: quantileBetween(before, metrics, commit, 0.99),
      events: groups === 0 ? null : rate(`${commitEvents}_sum`) / groups,
    },
    buffer: {
      events: metrics.sum('cairn_buffer_events'),
      limitEvents: metrics.sum('cairn_buffer_limit_events'),
      bytes: metrics.sum('cairn_buffer_bytes'),
      limitBytes: metrics.sum('cairn_buffer_limit_bytes'),
      refusing: metrics.sum('cairn_storage_refusing') === 1,
    },
    disk: {
      databaseBytes: metrics.sum('cairn_database_bytes'),
      walBytes: metrics.sum('cairn_wal_bytes'),
      freeBytes: metrics.gauge('cairn_disk_free_bytes'),
    },
    process: {
      cores: rate('process_cpu_seconds_total'),
      memoryBytes: metrics.sum('process_resident_memory_bytes'),
      openFiles: metrics.gauge('process_open_fds'),
      mostFiles: metrics.gauge('process_max_fds'),
    },
    threads: {
      up: metrics.sum('cairn_http_threads'),
      configured: metrics.sum('cairn_http_threads_configured'),
    },
    limitedByBucket: ratesBy('cairn_rate_limited_total', 'bucket'),
    organisations: organisationRates(from, to, seconds),
  }
}

function organisationRates(from: Look, to: Look, seconds: number): OrganisationRates[] {
  const rates = [...to.traffic].map(([id, now]) => {
    const before = from.traffic.get(id)
    // Counting begins anew where nobody looked on for a while, or the server was started again.
    const isSame = before !== undefined && columns.every(column => before[column] <= now[column])
    const rated = columns.map(column => [
      column,
      (now[column] - (isSame ? before[column] : 0)) / seconds,
    ])
    return { slug: now.slug, ...Object.fromEntries(rated) } as OrganisationRates
  })
  return rates
    .filter(rated => columns.some(column => rated[column] > 0))
    .toSorted((a, b) => b.requests - a.requests || b.accepted - a.accepted)
}
