import type { ServerFigures } from '../app.ts'
import { version } from '../core/version.ts'
import type { NodeState } from '../storage/shared/node-state.ts'
import type { BackupsSeen } from './backup-schedule.ts'
import type { DiskSeen } from './disk-watch.ts'
import type { OpenLimiter } from './limiter.ts'

/** What the figures of a running server are read from. */
interface FigureSources {
  notReady: string[]
  warnings: string[]
  /** Null until the disk has been looked at. */
  disk: DiskSeen | null
  backups: BackupsSeen
  limitsServer: OpenLimiter['server']
  /** The state of this node among others; null for a server alone. */
  node: NodeState | null
}

/** What a running server reports about itself to its operator. */
export const figuresOf = (sources: FigureSources): ServerFigures => {
  const { notReady, warnings, disk, backups, limitsServer, node } = sources
  const { everyMs, overdueMs, last, isFailing } = backups
  return {
    version,
    startedAt: performance.timeOrigin,
    notReady,
    warnings,
    isShared: node !== null,
    limitsServer: limitsServer && { isAway: limitsServer.isAway },
    disk: {
      databaseBytes: (node ?? disk)?.databaseBytes ?? null,
      freeBytes: disk?.freeBytes ?? null,
    },
    backups: {
      everySeconds: everyMs / 1_000,
      overdueSeconds: overdueMs / 1_000,
      nextAt: everyMs > 0 && last !== null ? last.at + everyMs : null,
      last: last && { at: last.at, bytes: last.bytes },
      isFailing,
    },
  }
}
