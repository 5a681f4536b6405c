import type { OrganisationRates, ServerFigures } from '../app.ts'
import type { Exposition } from './exposition.ts'
import { type Counts, columns } from './tally.ts'
import type { OrganisationTraffic } from './traffic.ts'

/** What a server reported about itself at one moment. */
export interface Look {
  /** Monotonic milliseconds. */
  atMs: number
  metrics: Exposition
  /** By organisation id. */
  traffic: ReadonlyMap<string, OrganisationTraffic>
}

const requests = 'cairn_http_requests_total'
const duration = 'cairn_http_request_duration_seconds'
const commit = 'cairn_commit_duration_seconds'
/** How many organisations are reported. */
const maxOrganisations = 50

/** What can be read off the metrics alone. */
export type FiguresOfMetrics = Omit<
  ServerFigures,
  'version' | 'commit' | 'startedAt' | 'notReady' | 'warnings' | 'backups' | 'retention'
> & { retention: Omit<ServerFigures['retention'], 'days'> }

/** What happened between two looks at a server, and its state at the second. */
export function figuresBetween(from: Look, to: Look): FiguresOfMetrics {
  const { metrics } = to
  const before = from.metrics
  const overSeconds = Math.max(0.001, (to.atMs - from.atMs) / 1_000)
  const counted = (now: number, earlier: number) => ({
    total: now,
    perSecond: (now - earlier) / overSeconds,
  })
  const sum = (name: string) => counted(metrics.sum(name), before.sum(name))
  const by = (name: string, label: string) => {
    const earlier = before.by(name, label)
    return [...metrics.by(name, label)]
      .filter(([, total]) => total > 0)
      .map(([key, total]) => ({ key, ...counted(total, earlier.get(key) ?? 0) }))
  }
  const quantile = (name: string, share: number) => quantileBetween(before, metrics, name, share)
  const oldest = metrics.sum('cairn_oldest_event_timestamp_seconds')
  return {
    overSeconds,
    isShared: metrics.value('cairn_nodes') !== null,
    requests: sum(requests),
    refusals: by(requests, 'status')
      .map(({ key, ...counts }) => ({ status: Number(key), ...counts }))
      .filter(({ status }) => status >= 400)
      .toSorted((a, b) => a.status - b.status),
    limits: by('cairn_rate_limited_total', 'bucket').map(({ key, ...counts }) => ({
      bucket: key,
      ...counts,
    })),
    limitsServer: limitsServerIn(metrics),
    answers: { p50Seconds: quantile(duration, 0.5), p99Seconds: quantile(duration, 0.99) },
    events: by('cairn_events_total', 'verdict').map(({ key, ...counts }) => ({
      verdict: key,
      ...counts,
    })),
    commits: {
      ...sum(`${commit}_count`),
      ...{ p50Seconds: quantile(commit, 0.5), p99Seconds: quantile(commit, 0.99) },
    },
    queue: {
      events: metrics.sum('cairn_buffer_events'),
      limitEvents: metrics.sum('cairn_buffer_limit_events'),
      bytes: metrics.sum('cairn_buffer_bytes'),
      limitBytes: metrics.sum('cairn_buffer_limit_bytes'),
      isRefusing: metrics.sum('cairn_storage_refusing') === 1,
    },
    disk: {
      databaseBytes: metrics.value('cairn_database_bytes'),
      logBytes: metrics.value('cairn_wal_bytes'),
      freeBytes: metrics.value('cairn_disk_free_bytes'),
    },
    process: {
      cores: sum('process_cpu_seconds_total').perSecond,
      memoryBytes: metrics.sum('process_resident_memory_bytes'),
      openFiles: metrics.value('process_open_fds'),
      mostFiles: metrics.value('process_max_fds'),
    },
    retention: {
      deletedEvents: metrics.sum('cairn_retention_deleted_events_total'),
      oldestEventAt: oldest === 0 ? null : oldest * 1_000,
    },
    organisations: organisationRates(from, to, overSeconds),
  }
}

function limitsServerIn(metrics: Exposition): ServerFigures['limitsServer'] {
  const isAway = metrics.value('cairn_limits_away')
  if (isAway === null) return null
  return { isAway: isAway === 1, decidedAlone: metrics.sum('cairn_limits_alone_total') }
}

function organisationRates(from: Look, to: Look, seconds: number): OrganisationRates[] {
  const rates = [...to.traffic].map(([id, now]) => {
    const before: Counts | undefined = from.traffic.get(id)
    // Counting starts again if nobody has looked for a while.
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
    .slice(0, maxOrganisations)
}

/**
 * The upper bound, in the histogram's unit, below which a share of the values observed between two pages
 * lies; null if none were observed. Beyond the last bound it is infinite.
 */
export function quantileBetween(
  from: Exposition,
  to: Exposition,
  histogram: string,
  share: number,
): number | null {
  const before = from.by(`${histogram}_bucket`, 'le')
  const counts = [...to.by(`${histogram}_bucket`, 'le')]
    .map(([le, count]) => ({
      bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le),
      count: count - (before.get(le) ?? 0),
    }))
    .toSorted((a, b) => a.bound - b.bound)
  const total = counts.at(-1)?.count ?? 0
  if (total <= 0) return null
  return counts.find(({ count }) => count >= share * total)?.bound ?? null
}
