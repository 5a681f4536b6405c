/** The dashboard for Grafana, which shows what the management port exposes at `/metrics`. */

type Unit = 'none' | 'short' | 'reqps' | 's' | 'bytes' | 'percentunit'

interface Panel {
  title: string
  description: string
  unit: Unit
  /** Queries by what the legend calls their series. */
  queries: Record<string, string>
  /** Whether series are stacked, because they are parts of a whole. */
  isStacked?: boolean
}

const here = '{instance=~"$instance"}'
const rate = (metric: string, labels = '') =>
  `rate(${metric}{instance=~"$instance"${labels}}[$__rate_interval])`
const sum = (metric: string, by: string) => `sum by (${by}) (${rate(metric)})`
const quantile = (share: number, metric: string, by = 'le', labels = '') =>
  `histogram_quantile(${share}, sum by (${by}) (${rate(`${metric}_bucket`, labels)}))`
const increase = (metric: string) => rate(metric).replace('rate(', 'increase(')

const requests = 'cairn_http_requests_total'
const duration = 'cairn_http_request_duration_seconds'
const commit = 'cairn_commit_duration_seconds'

/** The first row: one number each. */
const numbers: Panel[] = [
  {
    ...{ title: 'Ready', unit: 'none' },
    description: '1 while the server takes requests. If not, /readyz has the reason.',
    queries: { ready: `min(cairn_ready${here})` },
  },
  {
    ...{ title: 'Requests', unit: 'reqps', description: 'Responses per second.' },
    queries: { requests: `sum(${rate(requests)})` },
  },
  {
    ...{ title: 'Events stored', unit: 'reqps', description: 'Committed events per second.' },
    queries: { events: `sum(${rate('cairn_events_total', ',verdict="accepted"')})` },
  },
  {
    ...{ title: 'Response time, p99', unit: 's' },
    description: 'Of flows and events, which pages wait for.',
    queries: { p99: quantile(0.99, duration, 'le', ',route=~"/flows|/events"') },
  },
  {
    ...{ title: 'Buffer', unit: 'percentunit' },
    description: 'Share of the ingest buffer in use. Callers get 503 when it is full.',
    queries: { full: `max(cairn_buffer_events${here} / cairn_buffer_limit_events${here})` },
  },
  {
    ...{ title: 'Free disk', unit: 'bytes', description: 'On the disk of the data directory.' },
    queries: { free: `min(cairn_disk_free_bytes${here})` },
  },
]

const charts: Panel[] = [
  {
    ...{ title: 'Requests by status', unit: 'reqps', isStacked: true },
    description: '429 is over a limit, 503 is a server at its capacity.',
    queries: { '{{status}}': sum(requests, 'status') },
  },
  {
    ...{ title: 'Requests by route', unit: 'reqps', isStacked: true },
    description: 'Responses per second.',
    queries: { '{{method}} {{route}}': `${sum(requests, 'method, route')} > 0` },
  },
  {
    ...{ title: 'Response time', unit: 's' },
    description: 'Until a response begins. A write waits for its commit.',
    queries: {
      'p50 {{route}}': quantile(0.5, duration, 'le, route'),
      'p99 {{route}}': quantile(0.99, duration, 'le, route'),
    },
  },
  {
    ...{ title: 'Events by verdict', unit: 'reqps', isStacked: true },
    description: 'Outcome of each reported event.',
    queries: { '{{verdict}}': sum('cairn_events_total', 'verdict') },
  },
  {
    ...{ title: 'Over the limit (429)', unit: 'reqps', isStacked: true },
    description: 'By bucket. The page Server of the dashboard shows the organisations.',
    queries: { '{{bucket}}': sum('cairn_rate_limited_total', 'bucket') },
  },
  {
    ...{ title: 'Rejected credentials (401)', unit: 'reqps', isStacked: true },
    description: 'By cause, which responses do not name.',
    queries: { '{{cause}}': `${sum('cairn_unauthorized_total', 'cause')} > 0` },
  },
  {
    ...{ title: 'Commits', unit: 's' },
    description: 'Duration of a group commit, synced to disk.',
    queries: { p50: quantile(0.5, commit), p99: quantile(0.99, commit) },
  },
  {
    ...{ title: 'Events per commit', unit: 'short' },
    description: 'Groups grow with load, which keeps commits fast.',
    queries: {
      p50: quantile(0.5, 'cairn_commit_events'),
      p99: quantile(0.99, 'cairn_commit_events'),
    },
  },
  {
    ...{ title: 'Waiting for the disk', unit: 'short' },
    description: 'Events in the buffer, and how many fit.',
    queries: {
      'waiting {{instance}}': `cairn_buffer_events${here}`,
      'limit {{instance}}': `cairn_buffer_limit_events${here}`,
    },
  },
  {
    ...{ title: 'Errors', unit: 'short' },
    description: 'Storage errors, dead letters, failed backups and restarts. All should stay 0.',
    queries: {
      'storage errors': increase('cairn_storage_faults_total'),
      'dead letters': increase('cairn_dead_letters_total'),
      'failed backups': increase('cairn_backup_failures_total'),
      restarts: rate('process_start_time_seconds').replace('rate(', 'changes('),
    },
  },
  {
    ...{ title: 'Database', unit: 'bytes' },
    description: 'Sizes of its files. Checkpoints shorten the write-ahead log.',
    queries: {
      'database {{instance}}': `cairn_database_bytes${here}`,
      'write-ahead log {{instance}}': `cairn_wal_bytes${here}`,
    },
  },
  {
    ...{ title: 'Backup overdue', unit: 's' },
    description: 'Time since a scheduled backup was due, including one in progress.',
    queries: { '{{instance}}': `cairn_backup_overdue_seconds${here}` },
  },
  {
    ...{ title: 'Events deleted', unit: 'reqps' },
    description: 'Raw events past the retention, per second.',
    queries: { '{{instance}}': rate('cairn_retention_deleted_events_total') },
  },
  {
    ...{ title: 'CPU', unit: 'short', description: 'Cores in use.' },
    queries: { '{{instance}}': rate('process_cpu_seconds_total') },
  },
  {
    ...{ title: 'Memory', unit: 'bytes', description: 'Resident memory of the process.' },
    queries: { '{{instance}}': `process_resident_memory_bytes${here}` },
  },
  {
    ...{ title: 'Open files', unit: 'short', description: 'Including connections, and the limit.' },
    queries: {
      'open {{instance}}': `process_open_fds${here}`,
      'limit {{instance}}': `process_max_fds${here}`,
    },
  },
]

const datasource = { type: 'prometheus', uid: '$source' }

function panelOf({ title, description, unit, queries, isStacked }: Panel, at: number) {
  const isNumber = at < numbers.length
  const chart = at - numbers.length
  const stacking = { mode: isStacked ? 'normal' : 'none' }
  return {
    ...{ id: at + 1, title, description, type: isNumber ? 'stat' : 'timeseries', datasource },
    gridPos: isNumber
      ? { w: 4, h: 4, x: 4 * at, y: 0 }
      : { w: 12, h: 8, x: 12 * (chart % 2), y: 4 + 8 * Math.floor(chart / 2) },
    fieldConfig: {
      defaults: { unit, min: 0, custom: { fillOpacity: isStacked ? 30 : 0, stacking } },
      overrides: [],
    },
    targets: Object.entries(queries).map(([legendFormat, expr], i) => ({
      ...{ refId: 'ABCD'[i], expr, legendFormat },
    })),
  }
}

/** The dashboard as Grafana imports it. */
export const grafanaDashboard = () => ({
  ...{ title: 'Cairn', uid: 'cairn', tags: ['cairn'], schemaVersion: 39, editable: true },
  ...{ refresh: '30s', time: { from: 'now-6h', to: 'now' } },
  templating: {
    list: [
      { name: 'source', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
      {
        ...{ name: 'instance', label: 'Server', type: 'query', datasource, refresh: 2 },
        query: { query: 'label_values(cairn_build_info, instance)', refId: 'servers' },
        ...{ multi: true, includeAll: true, current: { text: 'All', value: '$__all' } },
      },
    ],
  },
  panels: [...numbers, ...charts].map(panelOf),
})
