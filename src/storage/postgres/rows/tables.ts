import type { Database } from 'bun:sqlite'
import type { Queries } from '../database/connection.ts'
import { type ColumnTypes, fromArrays, inArrays } from './arrays.ts'

/**
 * Tables that are both in PostgreSQL and in a SQLite database of this process: with the same names, the same
 * columns, and values that JSON can carry. So rows pass from one to the other, whatever they mean.
 */

/** A row as both have it. */
export type Row = Record<string, string | number | null>

/** A table, as far as its rows are moved. */
export interface MovedTable {
  readonly name: string
  /** The columns that tell its rows apart: its primary key in PostgreSQL. */
  readonly key: readonly string[]
  readonly columns: readonly string[]
  /** The types of all columns. */
  readonly types: ColumnTypes
  /** How columns are combined if another row has the key. In all other columns, the new row's values stand. */
  readonly joined: Readonly<Record<string, 'least' | 'greatest'>>
}

const typeOf: ColumnTypes = {
  INTEGER: 'bigint',
  TEXT: 'text',
  REAL: 'double precision',
}

/** @param key if it is not SQLite's primary key */
export function tableOf(
  database: Database,
  name: string,
  key?: readonly string[],
  joined: MovedTable['joined'] = {},
): MovedTable {
  const columns = database
    .query<{ name: string; type: string; pk: number }, [string]>(
      'select name, type, pk from pragma_table_info(?)',
    )
    .all(name)
  if (columns.length === 0) throw new Error(`There is no table ${name}`)
  const own = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  const keys = key ?? own.map(({ name }) => name)
  return {
    name,
    key: keys,
    columns: columns.map(({ name }) => name),
    types: Object.fromEntries(columns.map(({ name, type }) => [name, typeOf[type.toUpperCase()]!])),
    joined,
  }
}

/** A row that was changed or deleted. */
export interface RowChange {
  readonly table: MovedTable
  readonly key: Row
  /** Null if the row was deleted. */
  readonly content: Row | null
}

/** Writes rows to PostgreSQL as they are now: for each table first the deleted ones, then the others. */
export function writeRows(queries: Queries, changes: readonly RowChange[]): Promise<unknown>[] {
  const written: Promise<unknown>[] = []
  for (const [table, ofTable] of Map.groupBy(changes, ({ table }) => table)) {
    const gone = ofTable.filter(({ content }) => content === null).map(({ key }) => key)
    const kept = ofTable.map(({ content }) => content).filter(content => content !== null)
    if (gone.length > 0) written.push(deleteRows(queries, table, gone))
    if (kept.length > 0) written.push(upsertRows(queries, table, kept))
  }
  return written
}

function deleteRows(queries: Queries, table: MovedTable, keys: readonly Row[]) {
  const isSame = table.key.map(name => `t.${name} = k.${name}`).join(' and ')
  const types = Object.fromEntries(table.key.map(name => [name, table.types[name]!]))
  return queries.run(
    `delete from ${table.name} t using ${fromArrays(types)} where ${isSame}`,
    ...inArrays(types, keys),
  )
}

function upsertRows(queries: Queries, table: MovedTable, rows: readonly Row[]) {
  const columns = Object.keys(table.types).join(', ')
  const others = table.columns.filter(name => !table.key.includes(name))
  const set = others.map(name => {
    const join = table.joined[name]
    return join
      ? `${name} = ${join}(${table.name}.${name}, excluded.${name})`
      : `${name} = excluded.${name}`
  })
  const conflict = set.length > 0 ? `update set ${set.join(', ')}` : 'nothing'
  return queries.run(
    `insert into ${table.name} (${columns}) select ${columns} from ${fromArrays(table.types)}
    on conflict (${table.key.join(', ')}) do ${conflict}`,
    ...inArrays(table.types, rows),
  )
}

/** Puts rows into a SQLite database. */
export class RowWriter {
  private readonly insert: ReturnType<typeof insertInto>
  /** The same for rows that lack some columns, by the columns that they have. */
  private readonly partial = new Map<string, ReturnType<typeof insertInto>>()
  private readonly remove

  constructor(
    private readonly database: Database,
    private readonly table: MovedTable,
  ) {
    this.insert = insertInto(database, table)
    this.remove = database.query(
      `delete from ${table.name} where ${table.key.map(name => `${name} = ?`).join(' and ')}`,
    )
  }

  /** Columns that this release does not know are left out. */
  put(row: Row): void {
    this.insert.run(...this.table.columns.map(name => row[name] ?? null))
  }

  /** As `put`, but missing columns stay as they are, because an older release has written the row. */
  putKnown(row: Row): void {
    const columns = this.table.columns.filter(name => row[name] !== undefined)
    const names = columns.join()
    let insert = this.partial.get(names)
    if (!insert) {
      insert = insertInto(this.database, { ...this.table, columns })
      this.partial.set(names, insert)
    }
    insert.run(...columns.map(name => row[name]!))
  }

  delete(key: Row): void {
    this.remove.run(...this.table.key.map(name => key[name]!))
  }
}

function insertInto(
  database: Database,
  { name, columns, key }: Pick<MovedTable, 'name' | 'columns' | 'key'>,
) {
  const others = columns.filter(column => !key.includes(column))
  const set = others.map(column => `${column} = excluded.${column}`).join(', ')
  return database.query(
    `insert into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})
    on conflict do ${set ? `update set ${set}` : 'nothing'}`,
  )
}
