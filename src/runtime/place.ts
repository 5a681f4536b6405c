import type { Config } from '../config/settings.ts'
import { hasDatabase, openForReading } from '../storage/sqlite/database/database.ts'
import { positionIn } from '../storage/sqlite/replica/replica.ts'

/** A data directory, and the database whose log it follows; null for that of a server alone. */
export type StoragePlace = Pick<Config, 'data' | 'databaseUrl'>

/** A data directory is not what the settings say; the message says what to do. */
export class WrongStorage extends Error {
  override readonly name = 'WrongStorage'
}

/** Whether a data directory is one of several that follow a log. */
export function followsLog(dataDir: string): boolean {
  if (!hasDatabase(dataDir)) return false
  const database = openForReading(dataDir)
  try {
    return positionIn(database) !== null
  } catch {
    // Nothing is known of a database that is damaged or older.
    return false
  } finally {
    database.close()
  }
}

/**
 * To be called if the settings name no database: what is stored here would be known to no other machine.
 *
 * @throws WrongStorage
 */
export function requireOwnData(dataDir: string): void {
  if (!followsLog(dataDir)) return
  throw new WrongStorage(
    `${dataDir} is the directory of a node, which follows a database: set CAIRN_DATABASE_URL to that, choose another directory with --data, or detach it with "cairn move --back"`,
  )
}
