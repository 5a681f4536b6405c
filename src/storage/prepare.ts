import { openForWriting } from './database.ts'
import { migrate } from './migrate.ts'
import { hasOrganisation } from './organisations.ts'

/**
 * Makes or migrates the database before any thread opens it, so that one that is damaged, newer or
 * not to be written is told by this process in its own words. Says whether it has an organisation.
 */
export function prepareDatabase(dataDir: string, now: number): { hasOrganisation: boolean } {
  const database = openForWriting(dataDir)
  try {
    migrate(database, now)
    return { hasOrganisation: hasOrganisation(database) }
  } finally {
    database.close()
  }
}
