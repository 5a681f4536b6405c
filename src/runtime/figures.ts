import type { OrganisationRates, ServerFigures, ServerWatch } from '../app.ts'
import { commit as revision, version } from '../core/version.ts'
import { openForReading } from '../storage/sqlite/database/database.ts'
import { organisationNames } from '../storage/sqlite/organisations/names.ts'
import type { BackupsSeen } from './backup-schedule.ts'
import type { CommitCounters, HttpCounters } from './counters.ts'
import type { Exposition } from './exposition.ts'

/** What a server reported about itself at one moment. */
export interface Look {
  /** Monotonic milliseconds. */
  atMs: number
  metrics: Exposition
  /** By the organisation's id, or its row. */
  traffic: ReadonlyMap<string | number, Partial<Counts>>
}

type Counts = Omit<OrganisationRates, 'slug'>

/** What was counted by organisation, as it is now. */
export const trafficNow = (http: HttpCounters, commits: CommitCounters): Look['traffic'] =>
  new Map(
    [...http.traffic, ...commits.traffic].map(([key, counts]) => [key, { ...counts }] as const),
  )

type NameOf = ReturnType<typeof organisationNames>

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
export function figuresBetween(from: Look, to: Look, nameOf: NameOf): FiguresOfMetrics {
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
    organisations: organisationRates(from, to, overSeconds, nameOf),
  }
}

function limitsServerIn(metrics: Exposition): ServerFigures['limitsServer'] {
  const isAway = metrics.value('cairn_limits_away')
  if (isAway === null) return null
  return { isAway: isAway === 1, decidedAlone: metrics.sum('cairn_limits_alone_total') }
}

const none: Counts = { requests: 0, limited: 0, accepted: 0, duplicates: 0, rejected: 0 }
const columns = Object.keys(none) as (keyof Counts)[]

function organisationRates(
  from: Look,
  to: Look,
  seconds: number,
  nameOf: NameOf,
): OrganisationRates[] {
  const rates = new Map<string, OrganisationRates>()
  for (const [key, now] of to.traffic) {
    const before = from.traffic.get(key)
    const counted = columns.filter(column => (now[column] ?? 0) > (before?.[column] ?? 0))
    const name = counted.length > 0 ? nameOf(key) : null
    if (name === null) continue
    const ofOrganisation = rates.get(name.id) ?? { slug: name.slug, ...none }
    for (const column of counted) {
      ofOrganisation[column] = (now[column]! - (before?.[column] ?? 0)) / seconds
    }
    rates.set(name.id, ofOrganisation)
  }
  return [...rates.values()]
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

/** Rates cover the first time at least, and a look older than the second is not compared with; milliseconds. */
const minMs = 1_000
const maxMs = 30_000
const maxLooks = 4

/** What the figures of a running server are read from. */
export interface WatchedServer {
  look(): Look
  dataDir: string
  notReady(): string[]
  warnings(): string[]
  backups: { readonly seen: BackupsSeen }
  retentionDays(): number
}

/** Looks at the server when somebody asks, and reports what has happened since the look before. */
export class FiguresOfServer implements ServerWatch {
  /** The newest last. */
  private looks: readonly Look[] = []
  private underWay: Promise<ServerFigures> | null = null

  constructor(private readonly server: WatchedServer) {}

  /** Those who ask at the same time get one answer. */
  look(): Promise<ServerFigures> {
    this.underWay ??= this.compare().finally(() => {
      this.underWay = null
    })
    return this.underWay
  }

  private async compare(): Promise<ServerFigures> {
    let to = this.server.look()
    const isComparable = ({ atMs }: Look) => to.atMs - atMs >= minMs && to.atMs - atMs <= maxMs
    const looks = this.looks.filter(isComparable)
    let from = looks.at(-1)
    if (from === undefined) {
      from = to
      await Bun.sleep(minMs)
      to = this.server.look()
    }
    this.looks = [...looks, to].slice(-maxLooks)
    using database = openForReading(this.server.dataDir)
    const { retention, ...figures } = figuresBetween(from, to, organisationNames(database))
    return {
      version,
      commit: revision,
      startedAt: performance.timeOrigin,
      notReady: this.server.notReady(),
      warnings: this.server.warnings(),
      ...figures,
      backups: backupsOf(this.server.backups.seen),
      retention: { days: this.server.retentionDays(), ...retention },
    }
  }
}

function backupsOf(seen: BackupsSeen): ServerFigures['backups'] {
  const { everyMs, overdueMs, last, failures, isFailing } = seen
  return {
    everySeconds: everyMs / 1_000,
    overdueSeconds: overdueMs / 1_000,
    nextAt: everyMs > 0 && last !== null ? last.at + everyMs : null,
    last: last && {
      at: last.at,
      bytes: last.bytes,
      durationSeconds: last.durationMs === null ? null : last.durationMs / 1_000,
    },
    failures,
    isFailing,
  }
}
