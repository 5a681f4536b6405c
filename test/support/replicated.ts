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
