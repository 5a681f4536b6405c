import type { Postgres, Queries } from './connection.ts'
import schema from './schema.sql' with { type: 'text' }

/** The form in which this release writes the log, and the latest that it reads. */
export const logFormat = 1

/** Lets only one node at a time set a database up. Any number that nothing else locks. */
const lock = 0x6361_6972

/** What a database says of the log in it. */
export interface LogState {
  log: string
  format: number
  seq: number
  /** Where the data is now, if it was moved out of this database. */
  movedTo: string | null
}

/** Null if there is no log in the database yet. */
export async function logStateOf(queries: Queries): Promise<LogState | null> {
  const { isThere } = (await queries.get<{ isThere: boolean }>(
    `select to_regclass('cairn_clock') is not null as "isThere"`,
  ))!
  if (!isThere) return null
  return queries.get<LogState>(
    'select log, format, seq::float8 as seq, moved_to as "movedTo" from cairn_clock',
  )
}

/** Creates the tables if there are none; another node may do so at the same time. */
export const setUpLog = (postgres: Postgres): Promise<LogState> =>
  postgres.begin(async transaction => {
    await transaction.all('select pg_advisory_xact_lock($1)', lock)
    const found = await logStateOf(transaction)
    if (found) return found
    await transaction.script(schema)
    await transaction.run(
      `insert into cairn_clock (log, format, seq, mark, at) values ($1, $2, 0, '', 0)`,
      ...[crypto.randomUUID(), logFormat],
    )
    await transaction.run(`insert into cairn_marks (seq, mark, at) values (0, '', 0)`)
    return (await logStateOf(transaction))!
  })

/** The tables that the schema creates. */
export const ownTables = [...schema.matchAll(/^create table (\w+)/gm)].map(([, name]) => name!)
