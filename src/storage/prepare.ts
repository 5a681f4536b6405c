import { openForWriting } from './database.ts'
import { finishErasures } from './erasure/erasures.ts'
import { migrate } from './migrate.ts'
import { hasOrganisation } from './organisations.ts'

export interface PreparedDatabase {
  hasOrganisation: boolean
  /**
   * Erases people whom the list of erasures names and a restored database knows, before anybody is
   * told of them. Why the files may still hold something of theirs; null where they do not.
   */
  finishErasures(): string | null
  /**
   * To be called once others have opened it: the last one to close a database writes its whole log
   * back into it, for which nobody should have to wait at a start.
   */
  close(): void
}

/**
 * Makes or migrates the database before any thread opens it, so that one that is damaged, newer or
 * not to be written is told by this process in its own words.
 */
export function prepareDatabase(dataDir: string, now: number): PreparedDatabase {
  const database = openForWriting(dataDir)
  try {
    migrate(database, now)
    return {
      hasOrganisation: hasOrganisation(database),
      finishErasures: () => finishErasures(database, dataDir, now),
      close: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error
  }
}
