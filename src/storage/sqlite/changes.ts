import type { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import type { StoredCatalogue } from './catalogue/catalogue.ts'
import { databaseFile } from './database/database.ts'
import type { Withholding } from './erasure/withheld.ts'

/** What happens beneath a running server: others change what the database says, or move its files. */

/** The file that a path leads to; null if it leads to none. */
function fileAt(path: string): string | null {
  try {
    const { dev, ino } = statSync(path)
    return `${dev} ${ino}`
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

/**
 * Whether the files that a connection has open are still those of the data directory. Removed or replaced
 * files still take writes and syncs, but nobody finds what they hold again. With a write-ahead log, SQLite
 * itself does not check this.
 */
export class FilesInPlace {
  private readonly files: readonly { path: string; opened: string | null }[]

  /** To be made while the database and its log are open. */
  constructor(dataDir: string) {
    const database = databaseFile(dataDir)
    this.files = [database, `${database}-wal`].map(path => ({ path, opened: fileAt(path) }))
  }

  /** @throws Error with the code that SQLite has for this, if a file was removed or replaced */
  assert(): void {
    for (const { path, opened } of this.files) {
      let found = opened
      try {
        found = fileAt(path)
      } catch {
        // Rights taken away from an open file do not matter, and a failing disk reports its own faults.
      }
      if (found === opened) continue
      const what = found === null ? 'is gone' : 'was replaced'
      throw Object.assign(new Error(`${path} ${what} while it was open`), {
        code: 'SQLITE_READONLY_DBMOVED',
      })
    }
  }
}

/** Makes everything in memory agree with what others, or management, have changed in the database. */
export class Changes {
  private readonly dataVersion
  private readonly newestChange
  private knownDataVersion = 0
  private knownChange = 0

  /**
   * @param on.refresh is called when readers have to load the catalogue anew
   * @param on.erasure is called when somebody is being erased
   */
  constructor(
    database: Database,
    private readonly catalogue: StoredCatalogue,
    private readonly withholding: Withholding,
    private readonly on: { refresh(): void; erasure(): void },
  ) {
    this.dataVersion = database.query<{ data_version: number }, []>('pragma data_version')
    this.newestChange = database.query<{ seq: number }, []>(
      'select coalesce(max(seq), 0) as seq from catalogue_changes',
    )
  }

  /**
   * Checks whether another process has written; costs a pragma if none has. Also called at the beginning of
   * every transaction, because what it stores must be judged by what it can see.
   */
  notice(): void {
    const version = this.dataVersion.get()?.data_version ?? 0
    if (version === this.knownDataVersion) return
    this.noticeOwn()
    // Noted only once all is done, so that what fails is retried.
    this.knownDataVersion = version
  }

  /** Notices what this connection itself has changed, because `data_version` does not tell that. */
  noticeOwn(): void {
    const newest = this.newestChange.get()?.seq ?? 0
    if (newest !== this.knownChange) this.refreshCatalogue()
    if (this.withholding.look()) this.on.erasure()
    this.knownChange = newest
  }

  /** Makes everybody load again what `catalogue_changes` names. */
  refreshCatalogue(): void {
    this.catalogue.refresh()
    this.on.refresh()
  }
}
