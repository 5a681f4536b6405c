import type { Database } from 'bun:sqlite'
import { copiedTables } from '../copy/copied-tables.ts'
import type { Queries } from '../database/connection.ts'
import { stateTables } from '../projections/state.ts'
import { type MovedTable, tableOf } from '../rows/tables.ts'

/** Tables that are neither management's nor made from events alone. */
const others = [
  'deleted_events',
  'dead_letters',
  'presence',
  'refusals',
  'identity_counts',
  'step_baselines',
  'step_fingerprints',
  'step_health',
  'step_reports',
]

/** Numbers of one server only, except for `erasures_changed`: see `erasuresChanged`. */
const ownState = 'server_state'

/**
 * The tables whose rows are the same in a data directory and in PostgreSQL: all but the ledger. Their keys are
 * those of SQLite, which has the rows in that order.
 */
export const movedTables = (database: Database): readonly MovedTable[] =>
  [...copiedTables(database), ...stateTables(database), ...others.map(name => ({ name }))]
    .filter(({ name }) => name !== ownState)
    .map(({ name }) => tableOf(database, name))

/** How many rows a table of SQLite has. */
export const rowsOf = (database: Database, table: string): number =>
  database.query<{ count: number }, []>(`select count(*) as count from ${table}`).get()!.count

/** How many events SQLite's ledger has. */
export const eventsOf = (database: Database): number =>
  database
    .query<{ count: number }, []>('select coalesce(sum(events), 0) as count from event_batches')
    .get()!.count

/** How many rows a table of PostgreSQL has. */
export async function rowsIn(queries: Queries, table: string): Promise<number> {
  const row = await queries.get<{ count: number }>(`select count(*) as count from ${table}`)
  return row!.count
}

/** A data directory's database, and PostgreSQL. */
interface Sides {
  database: Database
  queries: Queries
}

/** The first table, or the ledger, in which one side has more than the other; null if there is none. */
export async function differingCount({ database, queries }: Sides): Promise<string | null> {
  for (const { name } of movedTables(database)) {
    const [here, there] = [rowsOf(database, name), await rowsIn(queries, name)]
    if (here !== there) return told(name, here, there)
  }
  const [here, there] = [eventsOf(database), await rowsIn(queries, 'events')]
  return here === there ? null : told('events', here, there)
}

const told = (name: string, here: number, there: number) =>
  `${name}: ${here} rows in the data directory, ${there} in the database`
