import type { Database } from 'bun:sqlite'
import { schemaOf } from './migrate.ts'

/** What an inspection of a whole database tells its operator, over a connection that cannot write. */

/** Events that SQLite refused and that wait for a person; `newestError` is SQLite's own message. */
export interface DeadLetters {
  count: number
  newestAt: number | null
  newestError: string | null
}

const noDeadLetters: DeadLetters = { count: 0, newestAt: null, newestError: null }

const deadLettersSql = `select (select count(*) from dead_letters) as count,
    at as "newestAt", error as "newestError"
  from dead_letters order by seq desc limit 1`

export function deadLetterSummary(database: Database): DeadLetters {
  return database.query<DeadLetters, []>(deadLettersSql).get() ?? noDeadLetters
}

/** The number of erased people about whom unused parts of the files may still hold something. */
export function unfinishedErasures(database: Database): number {
  const query = database.query<{ count: number }, []>(
    'select count(*) as count from erasures where finished_at is null',
  )
  return query.get()!.count
}

/** When the newest event came in, epoch milliseconds; null before the first. */
export function newestReceipt(database: Database): number | null {
  if (schemaOf(database) === 0) return null
  const newest = database
    .query<{ received_at: number }, []>(
      'select received_at from event_batches order by seq desc limit 1',
    )
    .get()
  return newest?.received_at ?? null
}

/** The faults that SQLite finds; it stops at a hundred. */
const problemsOf = (database: Database, sql: string): string[] =>
  database
    .query<Record<string, string>, []>(sql)
    .all()
    .map(row => String(Object.values(row)[0]))
    .filter(line => line !== 'ok')

/**
 * Checks the pages of one table after the other, including the order of its indexes but not their contents.
 * A snapshot is held for one table at a time, so that a running server can go on with checkpoints.
 */
export function quickCheck(database: Database): string[] {
  const names = database
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table'")
    .all()
    .map(({ name }) => name)
  return ['sqlite_schema', ...names].flatMap(table =>
    problemsOf(database, `pragma quick_check("${table.replaceAll('"', '""')}")`),
  )
}

/** Checks everything: every page, every index against its table, and every reference. */
export function fullCheck(database: Database): string[] {
  const references = database
    .query<{ table: string; parent: string }, []>('pragma foreign_key_check')
    .all()
    .slice(0, 100)
    .map(({ table, parent }) => `a row of ${table} names none of ${parent}`)
  return [...problemsOf(database, 'pragma integrity_check'), ...references]
}
