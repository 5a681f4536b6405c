import type { Database } from 'bun:sqlite'
import { count, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

const connect = (database: Database) => drizzle(database)

/** Drizzle's view of a connection, the same inside and outside a transaction. */
export type Tables = Omit<ReturnType<typeof connect>, '$client' | 'transaction'>

/** One per connection, so that statements prepared for it stay prepared. */
export const tables: (database: Database) => Tables = preparedOnce(connect)

/** Does work in one transaction that takes the write lock at its start, so that what it read stays true. */
export function inTransaction<T>(database: Database, work: (tables: Tables) => T): T {
  return database.transaction(() => work(tables(database))).immediate()
}

/**
 * Statements that are prepared once for a connection, or for Drizzle's view of one: Drizzle takes ten times
 * as long to build a statement as SQLite takes to run it, and Bun caches only the first twenty.
 */
export function preparedOnce<Connection extends object, T>(
  prepare: (connection: Connection) => T,
): (connection: Connection) => T {
  const known = new WeakMap<Connection, T>()
  return connection => {
    const prepared = known.get(connection) ?? prepare(connection)
    known.set(connection, prepared)
    return prepared
  }
}

/** How many rows a table has, or how many of them meet a condition. */
export const countOf = (tx: Tables, table: SQLiteTable, condition?: SQL): number =>
  tx.select({ rows: count() }).from(table).where(condition).get()!.rows

/**
 * Notes, in the transaction of the change, that callers will see a changed organisation, so that whoever
 * holds the catalogue in memory loads it again.
 */
export function announce(database: Database, orgRow: number): void {
  database.query('insert into catalogue_changes (org_id) values (?)').run(orgRow)
}
