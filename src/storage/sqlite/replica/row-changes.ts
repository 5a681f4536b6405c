import type { Database } from 'bun:sqlite'
import type { LogRow } from '../../log/log.ts'
import type { Row, SharedTable } from './shared-tables.ts'

type Key = (string | number)[]

const keyOf = ({ key }: SharedTable, row: 'old' | 'new') =>
  `json_array(${key.map(name => `${row}.${name}`).join(', ')})`

/**
 * Notes which rows of shared tables are written over a connection, by triggers of that connection alone. They do
 * not say how a row changed, because only its content at the end counts.
 */
export class RowChanges {
  private readonly noted
  private readonly clearNotes
  private readonly readers: ReadonlyMap<string, (key: Key) => Row | null>

  constructor(database: Database, tables: readonly SharedTable[]) {
    // Otherwise a row that another one replaces would go unnoticed.
    database.run('pragma recursive_triggers = on')
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
    this.readers = new Map(
      tables.map(({ name, key, columns }) => {
        const isIt = key.map(column => `${column} = ?`).join(' and ')
        const query = database.query<Row, Key>(
          `select ${columns.join(', ')} from ${name} where ${isIt}`,
        )
        return [name, values => query.get(...values)]
      }),
    )
  }

  /** Discards what was noted until now. */
  forget(): void {
    this.clearNotes.run()
  }

  /** The rows that were written since the last call, as they are now. */
  take(): LogRow[] {
    const changes = this.noted.all().map(({ name, key }) => {
      const content = this.readers.get(name)!(JSON.parse(key) as Key)
      return { table: name, key, content: content && JSON.stringify(content) }
    })
    if (changes.length > 0) this.forget()
    return changes
  }
}
