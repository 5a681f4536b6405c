import type { ManagementStores, Stores } from '../app.ts'
import { AppError } from '../core/errors.ts'
import { connectStores } from '../storage/sqlite/connect.ts'
import { connectManagement } from '../storage/sqlite/connect-management.ts'
import { openForReading } from '../storage/sqlite/database/database.ts'
import { sharedFileIn } from '../storage/sqlite/replica/shared-files.ts'
import type { StorageCalls } from '../storage/sqlite/writer/calls.ts'
import { longWorkBeside } from './long-work-thread.ts'
import { SharedJob } from './shared-job.ts'
import { systemClock } from './system-clock.ts'

/** The stores over an open storage. */
export interface ConnectedStorage {
  stores: Stores
  management: ManagementStores
  /** The job of looking after alerts, which one of several nodes does; null for a server alone. */
  job: SharedJob | null
  /** The nodes that do not know of the last change made here, by name; absent for a server alone. */
  nodesBehind?: () => Promise<readonly string[]>
  /** Finds a file that nodes share. */
  sharedFile(name: string): string | null
  close(): void
}

/**
 * Connects the stores to the storage of a data directory, which is open.
 *
 * @param isServed whether a server's writes are to be let pass
 */
export function connectStorage(
  dataDir: string,
  calls: StorageCalls,
  isServed: boolean,
  monotonic: () => number = systemClock().monotonic,
): ConnectedStorage {
  const reading = openForReading(dataDir)
  const snapshots = openForReading(dataDir)
  const work = longWorkBeside({ dataDir, isServed })
  const management = connectManagement(reading, calls, work)
  const { live, together } = calls.storage
  const { node } = live
  const member = together?.member ?? null
  /** An old database may lack a new credential, or still accept one that was revoked. */
  const byCurrent = <Known extends { find(sha256: string): unknown }>(known: Known): Known => ({
    ...known,
    find(sha256: string) {
      if (isServed && monotonic() >= node.answersUntil) throw outOfTouch()
      return known.find(sha256)
    },
  })
  return {
    stores: connectStores(reading, snapshots, calls),
    management: together
      ? {
          ...management,
          managementTokens: byCurrent(management.managementTokens),
          dashboardSessions: byCurrent(management.dashboardSessions),
        }
      : management,
    job: member && new SharedJob(member, 'alerts', node, monotonic),
    ...(member && { nodesBehind: () => member.behind() }),
    sharedFile: sharedFileIn(reading),
    close() {
      reading.close()
      snapshots.close()
    },
  }
}

const outOfTouch = () =>
  new AppError('overloaded', 'This node has lost its connection to the database', {
    retryAfterSeconds: 1,
  })
