import type { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { catalogueChanges } from '../database/schema.ts'

const connect = (database: Database) => drizzle(database)

/** Drizzle's view of a connection, inside a transaction as outside. */
export type Tables = Omit<ReturnType<typeof connect>, '$client' | 'transaction'>

const known = new WeakMap<Database, Tables>()

/** One for a connection, so that what is prepared once for it stays prepared. */
export function tables(database: Database): Tables {
  const ofDatabase = known.get(database) ?? connect(database)
  known.set(database, ofDatabase)
  return ofDatabase
}

/** Does work in one transaction that begins as a writer, so that what it read still holds. */
export function inTransaction<T>(database: Database, work: (tables: Tables) => T): T {
  return database.transaction(() => work(tables(database))).immediate()
}

/**
 * Statements that are prepared once for a connection, or for Drizzle's view of one: that takes ten times
 * as long to put one together as SQLite takes to run it, and Bun remembers only the first twenty.
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

/**
 * Notes that callers will see an organisation changed, in the transaction of the change: threads
 * and processes that hold the catalogue in memory load the organisation again.
 */
export function announce(tables: Tables, orgRow: number): void {
  tables.insert(catalogueChanges).values({ orgId: orgRow }).run()
}
