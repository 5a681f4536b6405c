import type { ServerFigures } from '../../src/storage/interfaces/operations.ts'

const counted = { total: 0, perSecond: 0 }
const quantiles = { p50Seconds: null, p99Seconds: null }

/** The figures of a server that gets no requests, in place of a real one's. */
export const idleServer: ServerFigures = {
  version: '1.0.0',
  commit: '0123abc',
  startedAt: Date.UTC(2026, 10, 20),
  notReady: [],
  warnings: [],
  overSeconds: 5,
  isShared: false,
  requests: counted,
  refusals: [],
  limits: [],
  limitsServer: null,
  answers: quantiles,
  events: [],
  commits: { ...counted, ...quantiles },
  queue: { events: 0, limitEvents: 50_000, bytes: 0, limitBytes: 268_435_456, isRefusing: false },
  disk: { databaseBytes: 5_300_000, logBytes: 0, freeBytes: null },
  process: { cores: 0, memoryBytes: 180_000_000, openFiles: 40, mostFiles: 1_024 },
  backups: {
    ...{ everySeconds: 0, overdueSeconds: 0, nextAt: null, last: null },
    ...{ failures: 0, isFailing: false },
  },
  retention: { days: 90, deletedEvents: 0, oldestEventAt: null },
  organisations: [],
}
