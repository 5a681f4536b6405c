import type { ManagementStores, Stores } from '../app.ts'
import { AppError } from '../core/errors.ts'
import { connectPostgresStores } from '../storage/postgres/connect.ts'
import { connectPostgresManagement } from '../storage/postgres/connect-management.ts'
import { Postgres } from '../storage/postgres/database/connection.ts'
import { readingPools } from '../storage/postgres/database/pools.ts'
import { SharedJob } from '../storage/postgres/nodes/jobs.ts'
import { namesBehind } from '../storage/postgres/nodes/visibility.ts'
import { LagBoard, type SharedMemory } from '../storage/shared/boards.ts'
import { NodeBoard } from '../storage/shared/node-board.ts'
import { connectStores } from '../storage/sqlite/connect.ts'
import { connectManagement } from '../storage/sqlite/connect-management.ts'
import { openForReading } from '../storage/sqlite/database/database.ts'
import type { StorageClient } from '../storage/sqlite/writer/client.ts'
import { longWorkBeside } from './long-work-thread.ts'
import { databaseDirOf, type StoragePlace } from './place.ts'
import { systemClock } from './system-clock.ts'

/** The refusal for callers who want something that is only in the database. */
const whileAway = (cause: unknown) =>
  new AppError('overloaded', 'The database does not answer at the moment', {
    cause,
    retryAfterSeconds: 2,
  })

/** The stores of one thread. */
export interface ConnectedStorage {
  stores: Stores
  management: ManagementStores
  /** The database that nodes share; null if there is none. */
  postgres: Postgres | null
  /** The job of looking after alerts, which one of several nodes does; null for a server alone. */
  job: SharedJob | null
  /** The nodes that do not know of the last change made here, by name; absent for a server alone. */
  nodesBehind?: () => Promise<readonly string[]>
  close(): Promise<void>
}

/**
 * Connects a thread to the storage that the settings name, which is open.
 *
 * @param client the client of the storage thread
 * @param isServed whether a server's writes are to be let pass
 * @param monotonic the time of the clock that all threads share
 */
export function connectStorage(
  place: StoragePlace,
  client: StorageClient,
  shared: SharedMemory,
  isServed: boolean,
  monotonic: () => number = systemClock().monotonic,
): ConnectedStorage {
  const { databaseUrl } = place
  const dataDir = databaseDirOf(place)
  const reading = openForReading(dataDir)
  if (databaseUrl === null) {
    const snapshots = openForReading(dataDir)
    const work = longWorkBeside({ dataDir, isServed })
    return {
      stores: connectStores(reading, snapshots, client, shared),
      management: connectManagement(reading, client, work, new LagBoard(shared.lag)),
      postgres: null,
      job: null,
      async close() {
        reading.close()
        snapshots.close()
      },
    }
  }
  const postgres = Postgres.open(databaseUrl, { ...readingPools.requests, whileAway })
  const analytics = Postgres.open(databaseUrl, { ...readingPools.analytics, whileAway })
  const ofPeople = Postgres.open(databaseUrl, { ...readingPools.people, whileAway })
  const board = new NodeBoard(shared.node)
  const by = { copy: reading, postgres, analytics, ofPeople }
  return {
    stores: connectPostgresStores(by, client, shared, monotonic),
    management: connectPostgresManagement(by, client, shared, monotonic),
    postgres,
    job: new SharedJob(postgres, 'alerts', board, monotonic),
    nodesBehind: () => namesBehind(postgres, board),
    async close() {
      reading.close()
      await Promise.all([postgres, analytics, ofPeople].map(pool => pool.close()))
    },
  }
}
