import { failpoint } from '../../../failpoints.ts'
import { hasAlerts } from '../alerts/alert-store.ts'
import { erasuresDue } from '../erasure/erasures.ts'
import { hasOrganisation } from '../organisations/organisations.ts'
import { openForWriting } from './database.ts'
import { requireNoLostDatabase } from './lost-database.ts'
import { migrate } from './migrate.ts'

export type PreparedDatabase = ReturnType<typeof prepareDatabase>

/**
 * Creates the database, or opens the existing one and brings its tables up to date, before any thread does, so
 * that this process itself can report a database that is damaged, newer or not writable in its own words.
 *
 * @throws SchemaMismatch, DatabaseLost
 */
export function prepareDatabase(dataDir: string) {
  requireNoLostDatabase(dataDir)
  const database = openForWriting(dataDir)
  try {
    migrate(database, () => failpoint('migration_step'))
    return {
      hasOrganisation: () => hasOrganisation(database),
      /** Whether any organisation wants to be told what is wrong. */
      hasAlerts: () => hasAlerts(database),
      /** Whether anybody is on the list of erasures whom the database still knows. */
      erasuresDue: () => erasuresDue(database, dataDir),
      /**
       * To be called once others have opened the database: the last one to close it writes the whole log back,
       * and nobody should have to wait for that at a start.
       */
      close: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error
  }
}
