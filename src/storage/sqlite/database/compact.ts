import type { Database } from 'bun:sqlite'
import { resolve } from 'node:path'

const numberOf = (database: Database, pragma: string): number =>
  Object.values(database.query<Record<string, number>, []>(`pragma ${pragma}`).get() ?? {})[0] ?? 0

/** How large a database file is, and how much of it holds something; bytes. */
export function databaseSize(database: Database): { bytes: number; usedBytes: number } {
  const pages = numberOf(database, 'page_count')
  const free = numberOf(database, 'freelist_count')
  const page = numberOf(database, 'page_size')
  return { bytes: pages * page, usedBytes: (pages - free) * page }
}

/**
 * Writes a database anew, so that it can give pages back from then on, without free pages and without
 * what was deleted or overwritten once: that stands on in the unused parts of its pages (SQLite moves
 * rows between pages and leaves their bytes behind, whatever `secure_delete` says), and nothing less
 * than this takes it away.
 *
 * It is one transaction: whatever interrupts it leaves the database as it was, and writers wait as long:
 * half a second for thirty megabytes. It takes room for the database twice more meanwhile: in a file of
 * the data directory, and in the write-ahead log, which `emptyLog` gives back.
 */
export function compact(database: Database, dataDir: string): void {
  // A copy of everything belongs on the disk that has room for it, and not into memory.
  database.run('pragma temp_store = file')
  // Deprecated, and still the only way to say it for one process: elsewhere there may be no room.
  database.run(`pragma temp_store_directory = '${resolve(dataDir).replaceAll("'", "''")}'`)
  try {
    database.run('pragma auto_vacuum = incremental')
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
