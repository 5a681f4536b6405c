import { readdirSync, readFileSync } from 'node:fs'
import { attempt } from '../core/attempt.ts'
import { type UserHashCounts, userHashVerdicts } from '../core/organisation/verified-identity.ts'
import { commit, version } from '../core/version.ts'
import type { ValkeyLimiter } from '../limits/valkey.ts'
import type { LiveState } from '../storage/shared/live-state.ts'
import type { NodeState } from '../storage/shared/node-state.ts'
import type { BackupsSeen } from './backup-schedule.ts'
import type { CommitCounters, HttpCounters } from './counters.ts'
import type { DiskWatch } from './disk-watch.ts'
import { Exposition } from './exposition.ts'
import { awayAfterMs } from './readiness.ts'

/** What the metrics of a running server are read from. */
export interface MetricSources {
  /** Null until requests are answered. */
  requests: HttpCounters | null
  commits: CommitCounters
  live: Pick<LiveState, 'buffer' | 'lag' | 'catalogueChanges'>
  /** How many user hashes got which verdict. */
  userHashes: UserHashCounts
  disk: Pick<DiskWatch, 'seen'>
  /** Whether it is ready for traffic. */
  isReady: boolean
  /** Whether the latest reload of the settings succeeded, and when one last did, Unix milliseconds. */
  reloads: { wentWell: boolean; lastGoodAt: number }
  backups: BackupsSeen
  /** The state of the limits server; null if requests are counted in memory. */
  limits: Pick<ValkeyLimiter, 'isAway' | 'alone'> | null
  /** Its state among the nodes over a database; null for a server alone. */
  node: { state: NodeState; monotonicMs: number } | null
}

/** All metrics, for Prometheus and for the dashboard's server page. */
export function metricsOf(sources: MetricSources): Exposition {
  const page = new Exposition()
  sources.requests?.render(page)
  sources.commits.render(page)
  renderIdentity(page, sources.userHashes)
  renderServer(page, sources)
  if (sources.node) renderNode(page, sources.node)
  if (sources.limits) renderLimits(page, sources.limits)
  renderDisk(page, sources)
  renderBackups(page, sources.backups)
  renderProcess(page)
  return page
}

const lagSeconds = ({ waitingSince }: LiveState['lag']) =>
  waitingSince === null ? 0 : Math.max(0, Date.now() - waitingSince) / 1_000

function renderServer(page: Exposition, sources: MetricSources): void {
  const { live, reloads } = sources
  const { buffer, lag } = live
  page.family('cairn_build_info', 'gauge', 'Version of this server; always 1.')
  page.sample('cairn_build_info', 1, { version, commit })
  page.gauge(
    'cairn_ready',
    '1 while the server is ready for traffic (/readyz).',
    Number(sources.isReady),
  )
  page.gauge('cairn_buffer_events', 'Events waiting to be committed.', buffer.events)
  page.gauge(
    'cairn_buffer_limit_events',
    'Maximum number of events waiting to be committed.',
    buffer.bounds.events,
  )
  page.gauge('cairn_buffer_bytes', 'Bytes waiting to be committed.', buffer.bytes)
  page.gauge(
    'cairn_buffer_limit_bytes',
    'Maximum number of bytes waiting to be committed.',
    buffer.bounds.bytes,
  )
  page.gauge(
    'cairn_projection_lag_events',
    'Events that are stored, but not yet in analytics, progress and history.',
    lag.events,
  )
  page.gauge(
    'cairn_projection_lag_seconds',
    'How long the oldest event that is not yet in analytics, progress and history has waited.',
    lagSeconds(lag),
  )
  page.gauge(
    'cairn_storage_refusing',
    '1 while storage rejects writes.',
    Number(buffer.isRejecting),
  )
  page.counter(
    'cairn_catalogue_refreshes_total',
    'Reloads of keys, limits or flows.',
    live.catalogueChanges,
  )
  page.gauge(
    'cairn_config_last_reload_successful',
    '0 while the latest settings are invalid and the previous ones stay in use.',
    Number(reloads.wentWell),
  )
  page.gauge(
    'cairn_config_last_reload_success_timestamp_seconds',
    'Unix time at which settings were last loaded.',
    reloads.lastGoodAt / 1_000,
  )
}

/** For organisations that check user hashes. Every verdict is shown from the start, as with 401s. */
function renderIdentity(page: Exposition, sums: UserHashCounts): void {
  const name = 'cairn_user_hashes_total'
  page.family(
    name,
    'counter',
    'Calls and events with a user ID, by the result of identity verification.',
  )
  for (const verdict of userHashVerdicts) page.sample(name, sums[verdict], { verdict })
}

function renderLimits(
  page: Exposition,
  { isAway, alone }: NonNullable<MetricSources['limits']>,
): void {
  page.gauge(
    'cairn_limits_away',
    '1 while the limits server cannot count requests.',
    Number(isAway),
  )
  page.counter(
    'cairn_limits_alone_total',
    'Requests that were decided without the limits server.',
    alone,
  )
}

function renderNode(
  page: Exposition,
  { state, monotonicMs: now }: NonNullable<MetricSources['node']>,
): void {
  const lagMs = Math.max(0, now - state.followedAt)
  page.gauge('cairn_nodes', 'Running nodes, as last seen by this one.', state.nodes)
  page.gauge(
    'cairn_node_lease_seconds',
    'Time until the lease of this node expires; negative once it has.',
    (state.leasedUntil - now) / 1_000,
  )
  page.gauge(
    'cairn_node_current',
    '0 while it rejects management tokens, because it may have missed changes to them.',
    Number(now < state.answersUntil),
  )
  page.gauge(
    'cairn_catalogue_change',
    'Number of the last change to keys, limits or flows that every part of this node has.',
    state.tookUp,
  )
  page.gauge(
    'cairn_catalogue_lag_seconds',
    'Time since it last checked for changes.',
    lagMs / 1_000,
  )
  page.gauge(
    'cairn_database_up',
    '0 while the database does not answer.',
    Number(lagMs < awayAfterMs),
  )
  page.gauge(
    'cairn_database_connections',
    'All connections to the PostgreSQL server.',
    state.connections,
  )
  page.gauge(
    'cairn_clock_ahead_seconds',
    "How far this machine's clock is ahead of the database's.",
    state.clockAhead === null ? null : state.clockAhead / 1_000,
  )
}

/** Left out until the disk has been looked at, rather than shown as 0. */
function renderDisk(page: Exposition, { disk: { seen }, node }: MetricSources): void {
  if (seen === null) return
  const bytes = node ? node.state.databaseBytes : seen.databaseBytes
  page.gauge('cairn_database_bytes', 'Size of the database.', bytes)
  if (!node) page.gauge('cairn_wal_bytes', 'Size of the write-ahead log.', seen.walBytes)
  page.gauge(
    'cairn_disk_free_bytes',
    'Free space on the disk of the data directory.',
    seen.freeBytes,
  )
}

/** Values that no backup has reported yet are left out. */
function renderBackups(page: Exposition, seen: BackupsSeen): void {
  const { everyMs, overdueMs, last, failures, isFailing } = seen
  const now = (name: string, help: string, value: number) =>
    page.gauge(`cairn_backup_${name}`, help, value)
  now('interval_seconds', 'Backup interval; 0 for never.', everyMs / 1_000)
  now('overdue_seconds', 'Time since a backup was due.', overdueMs / 1_000)
  now('last_successful', '0 while the latest scheduled backup failed.', Number(!isFailing))
  page.counter('cairn_backup_failures_total', 'Scheduled backups that failed.', failures)
  if (last === null) return
  now(
    'last_success_timestamp_seconds',
    'Unix time at which the newest backup began.',
    last.at / 1_000,
  )
  now('last_size_bytes', 'Size of the newest backup.', last.bytes)
  if (last.durationMs === null) return
  now('last_duration_seconds', 'Duration of the newest backup.', last.durationMs / 1_000)
}

/** Under the names that every Prometheus client uses. */
function renderProcess(page: Exposition): void {
  const { user, system } = process.cpuUsage()
  const cpuSeconds = (user + system) / 1e6
  page.counter('process_cpu_seconds_total', 'CPU time, user and system.', cpuSeconds)
  page.gauge(
    'process_resident_memory_bytes',
    'Resident memory of the process.',
    process.memoryUsage.rss(),
  )
  page.gauge(
    'process_start_time_seconds',
    'Unix time at which the process started.',
    performance.timeOrigin / 1_000,
  )
  page.gauge('process_open_fds', 'Open file descriptors.', countOpenFiles())
  page.gauge('process_max_fds', 'Maximum number of open file descriptors.', maxOpenFiles())
}

/** Null without a limit, or if the system has no `/proc`. */
function maxOpenFiles(): number | null {
  const limits = attempt(() => readFileSync('/proc/self/limits', 'utf8'), '')
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? []
  return limit === undefined ? null : Number(limit)
}

/** Null if the system has no `/proc`. */
const countOpenFiles = () => attempt(() => readdirSync('/proc/self/fd').length, null)
