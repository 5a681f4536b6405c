import type { ServerFigures } from '../../src/storage/interfaces/operations.ts'

/** The figures of a server that gets no requests, in place of a real one's. */
export const idleServer: ServerFigures = {
  version: '1.0.0',
  startedAt: Date.UTC(2026, 10, 20),
  notReady: [],
  warnings: [],
  isShared: false,
  limitsServer: null,
  disk: { databaseBytes: 5_300_000, freeBytes: null },
  backups: { everySeconds: 0, overdueSeconds: 0, nextAt: null, last: null, isFailing: false },
}
