import { statSync } from 'node:fs'
import { databaseFile } from './database.ts'

/** Which file a path leads to; null where to none. */
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
 * Whether the files that a connection has open are still those of the data directory. Removed or
 * replaced files take writes and syncs as ever, and nobody finds what they hold again: SQLite itself
 * does not look, with a write-ahead log.
 */
export class FilesInPlace {
  private readonly files: readonly { path: string; opened: string | null }[]

  /** To be made while the database and its log are open. */
  constructor(dataDir: string) {
    const database = databaseFile(dataDir)
    this.files = [database, `${database}-wal`].map(path => ({ path, opened: fileAt(path) }))
  }

  /** @throws Error with the code that SQLite has for this, where a file was removed or replaced */
  assert(): void {
    for (const { path, opened } of this.files) {
      let found = opened
      try {
        found = fileAt(path)
      } catch {
        // Rights taken away from an open file do not matter, and a sick disk tells its own faults.
      }
      if (found === opened) continue
      const what = found === null ? 'is gone' : 'was replaced'
      throw Object.assign(new Error(`${path} ${what} while it was open`), {
        code: 'SQLITE_READONLY_DBMOVED',
      })
    }
  }
}
