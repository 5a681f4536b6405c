import type { Database } from 'bun:sqlite'
import { resolve } from 'node:path'
import { pragmaNumber } from './database.ts'

/** How large a database file is, and how much of it is in use; bytes. */
export function databaseSize(database: Database): { bytes: number; usedBytes: number } {
  const pages = pragmaNumber(database, 'page_count')
  const free = pragmaNumber(database, 'freelist_count')
  const page = pragmaNumber(database, 'page_size')
  return { bytes: pages * page, usedBytes: (pages - free) * page }
}

/**
 * Rewrites a database, so that it can give pages back from then on, without free pages and without what was
 * once deleted or overwritten. Such data stays in the unused parts of pages (SQLite moves rows between
 * pages and leaves their bytes behind, whatever `secure_delete` says); nothing less than this removes it.
 *
 * It is one transaction: if anything interrupts it, the database stays as it was. Writers wait until it
 * ends: half a second for thirty megabytes. Meanwhile it needs room for the database twice more: in a file
 * of the data directory, and in the write-ahead log, which `emptyLog` gives back.
 */
export function compact(database: Database, dataDir: string): void {
  // A copy of everything belongs on the disk that has room for it, and not in memory.
  database.run('pragma temp_store = file')
  // Deprecated, but still the only way to set it for one process. Elsewhere there may be no room.
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
 * Empties the write-ahead log into the database, so that no file holds what was there before a change. A
 * reader of an older snapshot (an export under way) can block this for as long as it reads.
 *
 * @returns whether the log is empty
 */
export function emptyLog(database: Database): boolean {
  // Writes most of it back without holding up anybody.
  database.run('pragma wal_checkpoint(passive)')
  const patience = pragmaNumber(database, 'busy_timeout')
  // Short, because waiting for readers here keeps writers waiting.
  database.run('pragma busy_timeout = 50')
  try {
    const row = database.query<{ busy: number }, []>('pragma wal_checkpoint(truncate)').get()
    return row?.busy === 0
  } finally {
    database.run(`pragma busy_timeout = ${patience}`)
  }
}
