/** A dashboard for Grafana (dashboard JSON model), over the metrics of one server or of several. */

type Unit = 'reqps' | 's' | 'bytes' | 'short' | 'percentunit' | 'none'

interface Panel {
  title: string
  /** What it means, and what to look for. */
  about: string
  unit: Unit
  /** Queries, with the legend of each; `$of` stands for the chosen servers. */
  queries: readonly (readonly [query: string, legend: string])[]
  kind?: 'stat' | 'timeseries'
  /** Whether what is shown adds up. */
  isStacked?: boolean
}

const rate = (metric: string, more = '') => `rate(${metric}{$of${more}}[$__rate_interval])`
const quantile = (share: number, metric: string, by: string, more = '') =>
  `histogram_quantile(${share}, sum by (${by}) (${rate(`${metric}_bucket`, more)}))`

const requests = 'cairn_http_requests_total'
const duration = 'cairn_http_request_duration_seconds'
const commit = 'cairn_commit_duration_seconds'

const figures: readonly Panel[] = [
  {
    title: 'Ready',
    about: '1 while traffic may come; /readyz says why not.',
    unit: 'none',
    queries: [['min(cairn_ready{$of})', 'ready']],
  },
  {
    title: 'Requests',
    about: 'Answered, a second.',
    unit: 'reqps',
    queries: [[`sum(${rate(requests)})`, 'requests']],
  },
  {
    title: 'Events stored',
    about: 'Accepted and committed, a second.',
    unit: 'reqps',
    queries: [[`sum(${rate('cairn_events_total', ',verdict="accepted"')})`, 'events']],
  },
  {
    title: 'Answer, p99',
    about: 'Of flows and events, which pages wait for.',
    unit: 's',
    queries: [[quantile(0.99, duration, 'le', ',route=~"/flows|/events"'), 'p99']],
  },
  {
    title: 'Buffer',
    about: 'How full it is; callers get 503 when it is.',
    unit: 'percentunit',
    queries: [['max(cairn_buffer_events{$of} / cairn_buffer_limit_events{$of})', 'full']],
  },
  {
    title: 'Free disk',
    about: 'Where the data directory is.',
    unit: 'bytes',
    queries: [['min(cairn_disk_free_bytes{$of})', 'free']],
  },
]

const graphs: readonly Panel[] = [
  {
    title: 'Requests by status',
    about: '429 is over a limit, 503 is a server that cannot take more.',
    unit: 'reqps',
    queries: [[`sum by (status) (${rate(requests)})`, '{{status}}']],
    isStacked: true,
  },
  {
    title: 'Requests by route',
    about: 'Answered, a second.',
    unit: 'reqps',
    queries: [[`sum by (method, route) (${rate(requests)}) > 0`, '{{method}} {{route}}']],
    isStacked: true,
  },
  {
    title: 'Time to answer',
    about: 'A write waits for its commit; a download goes on after its answer began.',
    unit: 's',
    queries: [
      [quantile(0.5, duration, 'le, route'), 'p50 {{route}}'],
      [quantile(0.99, duration, 'le, route'), 'p99 {{route}}'],
    ],
  },
  {
    title: 'Events by verdict',
    about: 'What became of each event that was reported.',
    unit: 'reqps',
    queries: [[`sum by (verdict) (${rate('cairn_events_total')})`, '{{verdict}}']],
    isStacked: true,
  },
  {
    title: 'Over the limit (429)',
    about: 'By bucket; "cairn top" shows of which organisations.',
    unit: 'reqps',
    queries: [[`sum by (bucket) (${rate('cairn_rate_limited_total')})`, '{{bucket}}']],
    isStacked: true,
  },
  {
    title: 'Refused credentials (401)',
    about: 'By cause, which callers are not told.',
    unit: 'reqps',
    queries: [[`sum by (cause) (${rate('cairn_unauthorized_total')}) > 0`, '{{cause}}']],
    isStacked: true,
  },
  {
    title: 'Commits',
    about: 'Time of a group commit, synced to disk.',
    unit: 's',
    queries: [
      [quantile(0.5, commit, 'le'), 'p50'],
      [quantile(0.99, commit, 'le'), 'p99'],
    ],
  },
  {
    title: 'Events a commit',
    about: 'Larger groups come with load; they are what keeps it fast.',
    unit: 'short',
    queries: [
      [quantile(0.5, 'cairn_commit_events', 'le'), 'p50'],
      [quantile(0.99, 'cairn_commit_events', 'le'), 'p99'],
    ],
  },
  {
    title: 'Waiting for the disk',
    about: 'Events in the buffer, and those it may hold.',
    unit: 'short',
    queries: [
      ['cairn_buffer_events{$of}', 'waiting {{instance}}'],
      ['cairn_buffer_limit_events{$of}', 'limit {{instance}}'],
    ],
  },
  {
    title: 'Faults',
    about: 'Storage that refused, dead letters, backups, dead threads; all should stay 0.',
    unit: 'short',
    queries: [
      ['increase(cairn_storage_faults_total{$of}[$__rate_interval])', 'storage faults'],
      ['increase(cairn_dead_letters_total{$of}[$__rate_interval])', 'dead letters'],
      ['increase(cairn_backup_failures_total{$of}[$__rate_interval])', 'failed backups'],
      [
        'increase(cairn_http_thread_restarts_total{$of}[$__rate_interval])',
        'threads started again',
      ],
    ],
  },
  {
    title: 'Database',
    about: 'Sizes of its files; the write-ahead log is cut back by checkpoints.',
    unit: 'bytes',
    queries: [
      ['cairn_database_bytes{$of}', 'database {{instance}}'],
      ['cairn_wal_bytes{$of}', 'write-ahead log {{instance}}'],
    ],
  },
  {
    title: 'Backup overdue',
    about: 'For how long a scheduled one has been due; one that is being made counts.',
    unit: 's',
    queries: [['cairn_backup_overdue_seconds{$of}', '{{instance}}']],
  },
  {
    title: 'Events deleted',
    about: 'Raw events that were kept for as long as they had to be, a second.',
    unit: 'reqps',
    queries: [[rate('cairn_retention_deleted_events_total'), '{{instance}}']],
  },
  {
    title: 'CPU',
    about: 'Cores in use.',
    unit: 'short',
    queries: [[rate('process_cpu_seconds_total'), '{{instance}}']],
  },
  {
    title: 'Memory',
    about: 'Resident memory of the process.',
    unit: 'bytes',
    queries: [['process_resident_memory_bytes{$of}', '{{instance}}']],
  },
  {
    title: 'Open files',
    about: 'Connections among them; and how many there may be.',
    unit: 'short',
    queries: [
      ['process_open_fds{$of}', 'open {{instance}}'],
      ['process_max_fds{$of}', 'limit {{instance}}'],
    ],
  },
]

/** Grafana's grid has 24 columns. */
const gridColumns = 24
const rowOf = { figure: { w: 4, h: 4 }, graph: { w: 12, h: 8 } }

const source = { type: 'prometheus', uid: '$source' }

/** The dashboard, as `JSON.stringify` takes it. */
export function dashboard() {
  const top = figures.map((panel, i) => placed({ ...panel, kind: 'stat' }, i, rowOf.figure, 0))
  const below = graphs.map((panel, i) => placed(panel, i, rowOf.graph, rowOf.figure.h))
  return {
    title: 'Cairn',
    uid: 'cairn',
    tags: ['cairn'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'source', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          name: 'instance',
          label: 'Server',
          type: 'query',
          datasource: source,
          query: { query: 'label_values(cairn_build_info, instance)', refId: 'servers' },
          refresh: 2,
          multi: true,
          includeAll: true,
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels: [...top, ...below].map((panel, i) => ({ id: i + 1, ...panel })),
  }
}

function placed(panel: Panel, i: number, { w, h }: { w: number; h: number }, below: number) {
  const { title, about, unit, queries, kind = 'timeseries', isStacked = false } = panel
  const perRow = gridColumns / w
  return {
    title,
    description: about,
    type: kind,
    datasource: source,
    gridPos: { w, h, x: (i % perRow) * w, y: below + Math.floor(i / perRow) * h },
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        custom: {
          fillOpacity: isStacked ? 30 : 0,
          stacking: { mode: isStacked ? 'normal' : 'none' },
        },
      },
      overrides: [],
    },
    targets: queries.map(([query, legendFormat], n) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + n),
      expr: query.replaceAll('$of', 'instance=~"$instance"'),
      legendFormat,
    })),
  }
}
