import type { Database } from 'bun:sqlite'

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
 * Writes a database anew without free pages, and so that it can give pages back from then on. It is one
 * transaction: whatever interrupts it leaves the database as it was. It takes room for the database twice
 * more meanwhile: in a file of the data directory, and in the write-ahead log.
 */
export function compact(database: Database, dataDir: string): void {
  database.run('pragma temp_store = file')
  // Deprecated, and still the only way to say it for one process: elsewhere there may be no room.
  database.run(`pragma temp_store_directory = '${dataDir.replaceAll("'", "''")}'`)
  database.run('pragma auto_vacuum = incremental')
  database.run('vacuum')
  database.run('pragma wal_checkpoint(truncate)')
}
