import { openForWriting } from './database.ts'
import { finishErasures } from './erasure/erasures.ts'
import { migrate } from './migrate.ts'
import { hasOrganisation } from './organisations.ts'

export interface PreparedDatabase {
  hasOrganisation: boolean
  /** Why the files may still hold something of people who were erased; null where they do not. */
  erasuresUnfinished: string | null
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
    // A restored database may know less than the list beside it: nobody is to see who was erased.
    const erasuresUnfinished = finishErasures(database, dataDir, now)
    return {
      hasOrganisation: hasOrganisation(database),
      erasuresUnfinished,
      close: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error
  }
}
