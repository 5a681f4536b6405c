import type { Database } from 'bun:sqlite'

/** What is about one machine: how it finds rows, and what it has done. */
const own = /^(server_state|run_blocks|sqlite_stat\d)$/

type Row = Record<string, unknown>

const textOf = (value: unknown) => (value instanceof Uint8Array ? value.toHex() : value)

/** All that databases over one log have in common, by table. The number of a run's row is a machine's own. */
export function replicatedRows(database: Database): Record<string, string[]> {
  const tables = database
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' order by 1")
    .all()
    .filter(({ name }) => !own.test(name))
  return Object.fromEntries(
    tables.map(({ name }) => {
      const rows = database.query<Row, []>(`select * from ${name}`).all()
      const texts = rows.map(row => {
        if (name === 'runs') delete row.id
        return JSON.stringify(row, (_, value) => textOf(value))
      })
      return [name, texts.sort()]
    }),
  )
}

type People = { org_id: number; person: string; first_at: number | null }

/**
 * The rows of several databases to be compared. One that deletes events later still knows when people were
 * first seen who have come back since; in another they are new. So the time does not count for people whom
 * one of the databases has seen before what was deleted.
 */
export function comparableRows(databases: readonly Database[]): Record<string, string[]>[] {
  const all = databases.map(replicatedRows)
  const parsed = <Row>(rows: string[] = []) => rows.map(row => JSON.parse(row) as Row)
  const older = new Set(
    all.flatMap(({ people, retained }) => {
      const marks = parsed<{ org_id: number; at: number }>(retained)
      const deletedUpTo = new Map(marks.map(({ org_id, at }) => [org_id, at]))
      return parsed<People>(people)
        .filter(({ org_id, first_at }) => first_at! <= (deletedUpTo.get(org_id) ?? 0))
        .map(({ org_id, person }) => `${org_id} ${person}`)
    }),
  )
  return all.map(rows => ({
    ...rows,
    people: parsed<People>(rows.people).map(row => {
      if (older.has(`${row.org_id} ${row.person}`)) row.first_at = null
      return JSON.stringify(row)
    }),
  }))
}
