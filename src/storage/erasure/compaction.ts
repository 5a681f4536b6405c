import type { Database } from 'bun:sqlite'

const numberOf = (database: Database, pragma: string): number =>
  Object.values(database.query<Record<string, number>, []>(`pragma ${pragma}`).get() ?? {})[0] ?? 0

/** How large the database is, bytes. */
export const databaseBytes = (database: Database): number =>
  numberOf(database, 'page_count') * numberOf(database, 'page_size')

/**
 * Writes the whole database anew. What was deleted or overwritten once stands on in the unused parts
 * of its pages (SQLite moves rows between pages and leaves their bytes behind, whatever
 * `secure_delete` says), and nothing less than this takes it away. Writers wait as long: half a second
 * for thirty megabytes. It needs room for two more copies in the data directory.
 */
export function compact(database: Database, dataDir: string): void {
  // A copy of everything belongs on the disk that has room for it, and not into memory.
  database.run('pragma temp_store = file')
  database.run(`pragma temp_store_directory = '${dataDir.replaceAll("'", "''")}'`)
  try {
    database.run('vacuum')
  } finally {
    database.run("pragma temp_store_directory = ''")
    database.run('pragma temp_store = memory')
  }
}

/**
 * Empties the write-ahead log into the database: what was there before a change is then in no file.
 * Somebody who reads as of before (an export under way) can stand in the way for as long as that takes.
 *
 * @returns whether the log is empty
 */
export function emptyLog(database: Database): boolean {
  // Most of it without holding up anybody.
  database.run('pragma wal_checkpoint(passive)')
  const patience = numberOf(database, 'busy_timeout')
  // Who waits for readers here keeps writers waiting.
  database.run('pragma busy_timeout = 50')
  try {
    const row = database.query<{ busy: number }, []>('pragma wal_checkpoint(truncate)').get()
    return row?.busy === 0
  } finally {
    database.run(`pragma busy_timeout = ${patience}`)
  }
}
