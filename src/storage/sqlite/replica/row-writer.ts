import type { Database } from 'bun:sqlite'
import type { LogRow } from '../../log/log.ts'
import type { Row, SharedTable } from './shared-tables.ts'

function statements(database: Database, { name, key, columns }: SharedTable) {
  const isIt = key.map(column => `${column} = ?`).join(' and ')
  return {
    get: database.query<Row, (string | number)[]>(`select * from ${name} where ${isIt}`),
    // A row that has the same slug, say, is an older one, whose own change is in the same page.
    put: database.query(
      `insert or replace into ${name} (${columns.join(', ')})
      values (${columns.map(() => '?').join(', ')})`,
    ),
    delete: database.query(`delete from ${name} where ${isIt}`),
  }
}

/** Writes rows of shared tables as the log has them. */
export class RowWriter {
  private readonly tables: ReadonlyMap<
    string,
    { columns: readonly string[]; sql: ReturnType<typeof statements> }
  >

  constructor(database: Database, tables: readonly SharedTable[]) {
    this.tables = new Map(
      tables.map(table => [
        table.name,
        { columns: table.columns, sql: statements(database, table) },
      ]),
    )
  }

  write({ table, key, content }: LogRow): void {
    const found = this.tables.get(table)
    // A newer release may have tables that this one does not know.
    if (!found) return
    const { columns, sql } = found
    const values = JSON.parse(key) as (string | number)[]
    if (content === null) {
      sql.delete.run(...values)
      return
    }
    let row = JSON.parse(content) as Row
    // A row that an older release has written lacks some columns, which stay as they are.
    if (columns.some(name => row[name] === undefined)) row = { ...sql.get.get(...values), ...row }
    sql.put.run(...columns.map(name => row[name] ?? null))
  }
}
