import type { Database } from 'bun:sqlite'
import { failpoint } from '../../../failpoints.ts'
import { openForWriting } from './database.ts'
import { requireNoLostDatabase } from './lost-database.ts'
import { migrate } from './migrate.ts'

/**
 * Creates the database, or opens the existing one and brings its tables up to date, before anything else does, so that
 * a database that is damaged, newer or not writable is reported in words of its own.
 *
 * It is to be closed once others have opened it: the last one to close it writes the whole log back, and nobody should
 * have to wait for that at a start.
 *
 * @throws SchemaMismatch, DatabaseLost
 */
export function prepareDatabase(dataDir: string): Database {
  requireNoLostDatabase(dataDir)
  const database = openForWriting(dataDir)
  try {
    migrate(database, () => failpoint('migration_step'))
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
