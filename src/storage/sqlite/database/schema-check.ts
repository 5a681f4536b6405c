import type { Database } from 'bun:sqlite'
import { shown } from '../../../core/text/wording.ts'
import { emptyWith, schemaKnown, schemaOf } from './migrate.ts'

/** In a damaged schema, each may be anything but a text. */
interface SchemaEntry {
  type: string
  name: string
  table: string
  /** Null for the indexes that SQLite makes for a table by itself. */
  sql: string | null
}

const schemaSql = 'select type, name, tbl_name as "table", sql from sqlite_schema order by rowid'

/** Tables that Litestream makes in every database that it replicates. */
const ofLitestream = new Map([
  ['_litestream_seq', 'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'],
  ['_litestream_lock', 'CREATE TABLE _litestream_lock (id INTEGER)'],
])

const isOfLitestream = ({ name, sql }: SchemaEntry) => ofLitestream.get(name) === sql

/** What "analyze" writes. */
const isOfSqlite = ({ name }: SchemaEntry) => /^sqlite_stat\d$/.test(name)

const entriesOf = (database: Database): Map<string, SchemaEntry> =>
  new Map(
    database
      .query<SchemaEntry, []>(schemaSql)
      .all()
      .map(entry => [`${entry.type} ${entry.name}`, entry]),
  )

const named = ({ type, name, table }: SchemaEntry) =>
  `the ${shown(String(type))} "${shown(String(name))}"${table === name ? '' : ` on "${shown(String(table))}"`}`

/**
 * How a database differs from what the steps of its schema have made, to the letter: each table, index,
 * trigger and view in words. Empty if it does not, or if the schema is none that this release knows.
 */
export function schemaDifferences(database: Database): string[] {
  const schema = schemaOf(database)
  if (schema === 0 || schema > schemaKnown) return []
  using made = emptyWith(schema)
  const expected = entriesOf(made)
  const found = entriesOf(database)
  const foreign = [...found].flatMap(([key, entry]) => {
    const own = expected.get(key)
    if (!own) {
      return isOfLitestream(entry) || isOfSqlite(entry) ? [] : [`${named(entry)} is not Cairn's`]
    }
    const isSame = own.sql === entry.sql && own.table === entry.table
    return isSame ? [] : [`${named(entry)} differs from Cairn's`]
  })
  const missing = [...expected].flatMap(([key, entry]) =>
    found.has(key) ? [] : [`${named(entry)} is missing`],
  )
  return [...foreign, ...missing]
}
