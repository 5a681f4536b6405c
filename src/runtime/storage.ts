import type { ManagementStores, Stores } from '../app.ts'
import { AppError } from '../core/errors.ts'
import { LagBoard, type SharedMemory } from '../storage/shared/boards.ts'
import { NodeBoard } from '../storage/shared/node-board.ts'
import { connectStores } from '../storage/sqlite/connect.ts'
import { connectManagement } from '../storage/sqlite/connect-management.ts'
import { openForReading } from '../storage/sqlite/database/database.ts'
import { sharedFileIn } from '../storage/sqlite/replica/shared-files.ts'
import type { StorageClient } from '../storage/sqlite/writer/client.ts'
import { longWorkBeside } from './long-work-thread.ts'
import type { StoragePlace } from './place.ts'
import { SharedJob } from './shared-job.ts'
import { systemClock } from './system-clock.ts'

/** The stores of one thread. */
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
 * Connects a thread to the storage of a data directory, which is open.
 *
 * @param client the client of the storage thread
 * @param isServed whether a server's writes are to be let pass
 * @param monotonic the time of the clock that all threads share
 */
export function connectStorage(
  { data: dataDir, databaseUrl }: StoragePlace,
  client: StorageClient,
  shared: SharedMemory,
  isServed: boolean,
  monotonic: () => number = systemClock().monotonic,
): ConnectedStorage {
  const isOneOfSeveral = databaseUrl !== null
  const reading = openForReading(dataDir)
  const snapshots = openForReading(dataDir)
  const work = longWorkBeside({ dataDir, isServed })
  const lag = new LagBoard(shared.lag)
  const management = connectManagement(reading, client, work, lag, isOneOfSeveral)
  const board = new NodeBoard(shared.node)
  /** An old database may lack a new credential, or still accept one that was revoked. */
  const byCurrent = <Known extends { find(sha256: string): unknown }>(known: Known): Known => ({
    ...known,
    find(sha256: string) {
      if (isServed && monotonic() >= board.answersUntil) throw outOfTouch()
      return known.find(sha256)
    },
  })
  return {
    stores: connectStores(reading, snapshots, client, shared, isOneOfSeveral),
    management: isOneOfSeveral
      ? {
          ...management,
          managementTokens: byCurrent(management.managementTokens),
          dashboardSessions: byCurrent(management.dashboardSessions),
        }
      : management,
    job: isOneOfSeveral ? new SharedJob(client, 'alerts', board, monotonic) : null,
    ...(isOneOfSeveral && { nodesBehind: () => client.work<readonly string[]>('nodesBehind', []) }),
    sharedFile: sharedFileIn(reading),
    close() {
      reading.close()
      snapshots.close()
    },
  }
}

const outOfTouch = () =>
  new AppError('overloaded', 'This node has lost touch with its database', { retryAfterSeconds: 1 })
