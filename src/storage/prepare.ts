import { openForWriting } from './database.ts'
import { migrate } from './migrate.ts'

/**
 * Makes or migrates the database before any thread opens it, so that one that is damaged, newer or
 * not to be written is told by this process in its own words.
 */
export function prepareDatabase(dataDir: string, now: number): void {
  const database = openForWriting(dataDir)
  try {
    migrate(database, now)
  } finally {
    database.close()
  }
}
