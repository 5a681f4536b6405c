import type { Database } from 'bun:sqlite'
import { eq, max } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import * as schema from '../database/schema.ts'

const connect = (database: Database) => drizzle(database, { schema })

/** Drizzle's view of a connection, or of the transaction in which a change is made. */
export type Tables = Omit<ReturnType<typeof connect>, '$client' | 'transaction'>

export const tables = (database: Database): Tables => connect(database)

/** Does work in one transaction that begins as a writer, so that what it read still holds. */
export function inTransaction<T>(database: Database, work: (tables: Tables) => T): T {
  return connect(database).transaction(work as never, { behavior: 'immediate' }) as T
}

/**
 * Statements that are prepared once for a connection or a transaction: Drizzle takes ten times as
 * long to put one together as SQLite takes to run it.
 */
export function preparedOnce<T>(prepare: (tables: Tables) => T): (tables: Tables) => T {
  const known = new WeakMap<Tables, T>()
  return tables => {
    const prepared = known.get(tables) ?? prepare(tables)
    known.set(tables, prepared)
    return prepared
  }
}

/**
 * Notes that callers will see an organisation changed, in the transaction of the change: threads
 * and processes that hold the catalogue in memory load the organisation again.
 */
export function announce(tables: Tables, orgRow: number): void {
  tables.insert(schema.catalogueChanges).values({ orgId: orgRow }).run()
}

/** The number of the newest change that any process has made; 0 before the first. */
export function newestChange(database: Database): number {
  const newest = max(schema.catalogueChanges.seq)
  return tables(database).select({ newest }).from(schema.catalogueChanges).get()?.newest ?? 0
}

/** The number of the newest change that a running server has taken up; 0 where none has. */
export function takenUpChange(database: Database): number {
  const { name, value } = schema.serverState
  const isIt = eq(name, 'catalogue_seq')
  return tables(database).select({ value }).from(schema.serverState).where(isIt).get()?.value ?? 0
}
