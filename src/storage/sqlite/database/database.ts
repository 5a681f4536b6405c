import { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createFile } from './synced-files.ts'

/** The first SQLite without the WAL corruption by a concurrent checkpoint. */
const oldestSqlite = '3.51.3'

export const databaseFile = (dataDir: string) => join(dataDir, 'cairn.db')

/** The version of the SQLite that is part of this program. */
export function sqliteVersion(database: Database): string {
  return database.query<{ v: string }, []>('select sqlite_version() as v').get()!.v
}

/** @throws Error if SQLite is too old to be trusted with data */
export function assertSqliteVersion(database: Database): void {
  const version = sqliteVersion(database)
  if (Bun.semver.order(version, oldestSqlite) >= 0) return
  throw new Error(`SQLite ${version} is older than ${oldestSqlite}`)
}

/** The number that a pragma tells. */
export const pragmaNumber = (database: Database, pragma: string): number =>
  Object.values(database.query<Record<string, number>, []>(`pragma ${pragma}`).get() ?? {})[0] ?? 0

/**
 * Opens the database for writing, and creates it if there is none.
 *
 * It has a write-ahead log with a sync at every commit, so that what was acknowledged survives a power cut.
 */
export function openForWriting(dataDir: string): Database {
  createFile(databaseFile(dataDir))
  const database = new Database(databaseFile(dataDir), { create: true, strict: true })
  // The busy timeout comes first: setting the journal mode may itself find the database locked.
  database.run('pragma busy_timeout = 5000')
  // Must be set before anything is in the database; later it would only wait for whoever writes.
  if (pragmaNumber(database, 'page_count') === 0) database.run('pragma auto_vacuum = incremental')
  database.run('pragma journal_mode = wal')
  database.run('pragma synchronous = full')
  database.run('pragma foreign_keys = on')
  database.run('pragma temp_store = memory')
  database.run('pragma cache_size = -65536')
  database.run('pragma journal_size_limit = 67108864')
  assertSqliteVersion(database)
  return database
}

/** Opens an existing database for reading alone. */
export function openForReading(dataDir: string): Database {
  const database = new Database(databaseFile(dataDir), { readonly: true, strict: true })
  database.run('pragma busy_timeout = 5000')
  database.run('pragma temp_store = memory')
  return database
}

/** Whether a data directory holds a database. An empty file is none: SQLite makes one before it writes. */
export function hasDatabase(dataDir: string): boolean {
  const file = databaseFile(dataDir)
  if (!existsSync(file)) return false
  const found = statSync(file)
  return !(found.isFile() && found.size === 0)
}
