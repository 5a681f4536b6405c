import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredEvent } from '../../src/storage/shared/in-rows.ts'
import { type BatchRow, eventsOf } from '../../src/storage/sqlite/ledger/event-batches.ts'

/** Looks at what is in a data directory. */

/** All events in the ledger, or one organisation's if one is named, in the order of arrival. */
export function storedEvents(database: Database, orgRow?: number): StoredEvent[] {
  return database
    .query<BatchRow & { org_id: number }, []>('select * from event_batches order by seq')
    .all()
    .filter(row => orgRow === undefined || row.org_id === orgRow)
    .flatMap(row => eventsOf(row))
}

/**
 * Tables that are about one machine alone, or that only make reading quicker and are written whenever there is
 * time. All others have the same rows in every database that follows a log.
 */
const ownTables = /^(sqlite_|server_state$|run_blocks$)/

/** How far a database has taken up the log, and the hash of each table that follows from that alone. */
export interface Followed {
  /** The number and the mark of its position. */
  position: string
  /** Whether everything up to there is projected. */
  isProjected: boolean
  hashes: ReadonlyMap<string, string>
}

/** Reads what a database holds at one moment, also beside a running server. */
export function followedBy(database: Database): Followed {
  const first = (sql: string) => database.query(sql).values()[0] ?? []
  database.run('begin')
  try {
    const position = first('select seq, mark from log_position').join(' ')
    const [isProjected] = first(
      `select coalesce(max(seq), 0) <= (select value from server_state where name = 'projected')
      from event_batches`,
    )
    const tables = database
      .query("select name from sqlite_schema where type = 'table' order by name")
      .values()
      .map(([name]) => String(name))
      .filter(name => !ownTables.test(name))
    return {
      position,
      isProjected: isProjected === 1,
      hashes: new Map(tables.map(name => [name, hashOf(database, name)])),
    }
  } finally {
    database.run('rollback')
  }
}

/** The hash of a table's rows, whatever order they were written in. */
function hashOf(database: Database, table: string): string {
  const hash = createHash('sha256')
  for (const row of rowsOf(database, table)) hash.update(`${row}\n`)
  return hash.digest('hex')
}

/** The rows of a table as JSON, in the order of those texts. */
export function rowsOf(database: Database, table: string): string[] {
  const columns = database
    .query('select name from pragma_table_info(?)')
    .values(table)
    // The number of a run's row is chosen by each machine, and shown to nobody.
    .filter(([name]) => table !== 'runs' || name !== 'id')
  const rows = database.query(`select ${columns.join(', ')} from ${table}`).values()
  const textOf = (_: string, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  return rows.map(row => JSON.stringify(row, textOf)).sort()
}

/** What SQLite finds wrong with a database; null if nothing. */
export function damageIn(database: Database): string | null {
  const [[verdict] = []] = database.query<[string], []>('pragma integrity_check').values()
  return verdict === 'ok' ? null : String(verdict)
}

/** Which of some texts occur anywhere in the files of a directory, whatever those files are. */
export function textsIn(directory: string, texts: readonly string[]): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  // A file may be deleted meanwhile.
  const contents = files.filter(file => existsSync(file)).map(file => readFileSync(file))
  // The ledger is compressed.
  const ledgers = files
    .filter(file => file.endsWith('.db'))
    .map(file => JSON.stringify(eventsIn(file)))
  return texts.filter(
    text =>
      contents.some(bytes => bytes.includes(text)) || ledgers.some(ledger => ledger.includes(text)),
  )
}

/** The events in a file that may be a database of Cairn's. */
function eventsIn(file: string): StoredEvent[] {
  try {
    using database = new Database(file, { readonly: true })
    return storedEvents(database)
  } catch {
    return []
  }
}
