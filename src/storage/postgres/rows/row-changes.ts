import type { Database } from 'bun:sqlite'
import type { MovedTable, Row, RowChange } from './tables.ts'

const keyOf = ({ key }: MovedTable, row: 'old' | 'new') =>
  `json_array(${key.map(name => `${row}.${name}`).join(', ')})`

/**
 * Notes which rows of some tables are written over a SQLite connection, by triggers of that connection alone.
 * They do not say how a row changed, because only its content at the end counts.
 */
export class RowChanges {
  private readonly noted
  private readonly clearNotes
  private readonly contents: ReadonlyMap<
    string,
    { table: MovedTable; get(key: unknown[]): Row | null }
  >

  constructor(database: Database, tables: readonly MovedTable[]) {
    database.run('create temp table noted_rows (name text not null, key text not null)')
    for (const table of tables) {
      const note = (row: 'old' | 'new') =>
        `insert into noted_rows values ('${table.name}', ${keyOf(table, row)});`
      const trigger = (verb: string, notes: string) =>
        database.run(
          `create temp trigger note_${verb}_${table.name} after ${verb} on main.${table.name}
          begin ${notes} end`,
        )
      trigger('insert', note('new'))
      trigger('update', note('old') + note('new'))
      trigger('delete', note('old'))
    }
    this.noted = database.query<{ name: string; key: string }, []>(
      'select distinct name, key from noted_rows',
    )
    this.clearNotes = database.query('delete from noted_rows')
    this.contents = new Map(
      tables.map(table => {
        const isIt = table.key.map(name => `${name} = ?`).join(' and ')
        const query = database.query<Row, (string | number)[]>(
          `select ${table.columns.join(', ')} from ${table.name} where ${isIt}`,
        )
        return [table.name, { table, get: key => query.get(...(key as (string | number)[])) }]
      }),
    )
  }

  /** Discards what was noted until now. */
  forget(): void {
    this.clearNotes.run()
  }

  /** The rows that were written since the last call, as they are now. */
  take(): RowChange[] {
    const changes = this.noted.all().map(({ name, key: text }) => {
      const { table, get } = this.contents.get(name)!
      const values = JSON.parse(text) as (string | number)[]
      const key = Object.fromEntries(table.key.map((column, i) => [column, values[i]!]))
      return { table, key, content: get(values) }
    })
    this.forget()
    return changes
  }
}
