import type { Database } from 'bun:sqlite'
import type { LogRow } from '../../log/log.ts'

/**
 * The tables that all machines over one log have with the same rows, besides the ledger. Everything else follows
 * from these and the ledger, or is about one machine.
 */
const names = [
  'organisations',
  'staging_links',
  'snippet_keys',
  'identity_secrets',
  'identity_counts',
  'flows',
  'flow_versions',
  'steps',
  'items',
  'images',
  'management_tokens',
  'members',
  'dashboard_sessions',
  'dashboard_links',
  'segments',
  'alert_settings',
  'alerts',
  'webhooks',
  'deliveries',
  'requested_sends',
  'audit_log',
  'erasures',
  'listed_erasures',
  'presence',
  'refusals',
  'dead_letters',
  'step_reports',
  'step_health',
  'step_baselines',
  'step_fingerprints',
  'short_lived',
  'retained',
  'shared_files',
  'rebuilds',
  'catalogue_changes',
] as const

/** A table whose rows are shared. */
export interface SharedTable {
  readonly name: string
  /** The columns of its primary key. */
  readonly key: readonly string[]
  readonly columns: readonly string[]
}

/** A row, by column. */
export type Row = Record<string, string | number | Uint8Array | null>

/** A row as the log has it: JSON, with bytes in Base64. */
export const rowText = (row: Row): string =>
  JSON.stringify(row, (_, value) =>
    value instanceof Uint8Array ? { base64: value.toBase64() } : value,
  )

const rowIn = (text: string): Row =>
  JSON.parse(text, (_, value) =>
    typeof value?.base64 === 'string' ? Uint8Array.fromBase64(value.base64) : value,
  )

export const sharedTables = (database: Database): readonly SharedTable[] =>
  names.map(name => {
    const columns = database
      .query<{ name: string; pk: number }, [string]>('select name, pk from pragma_table_info(?)')
      .all(name)
    const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
    return { name, key: key.map(({ name }) => name), columns: columns.map(({ name }) => name) }
  })

type Key = (string | number)[]

function statements(database: Database, { name, key, columns }: SharedTable) {
  const isIt = key.map(column => `${column} = ?`).join(' and ')
  return {
    columns,
    get: database.query<Row, Key>(`select ${columns.join(', ')} from ${name} where ${isIt}`),
    // A row that has the same slug, say, is an older one, whose own change is in the same page.
    put: database.query(
      `insert or replace into ${name} (${columns.join(', ')})
      values (${columns.map(() => '?').join(', ')})`,
    ),
    delete: database.query(`delete from ${name} where ${isIt}`),
  }
}

const noted = ({ name, key }: SharedTable, row: 'old' | 'new') =>
  `insert into noted_rows values
    ('${name}', json_array(${key.map(column => `${row}.${column}`).join(', ')}));`

/**
 * The rows of shared tables, as the log has them. Which ones are written over a connection is noted by triggers of
 * that connection alone. They do not say how a row changed, because only its content at the end counts.
 */
export class SharedRows {
  private readonly tables: ReadonlyMap<string, ReturnType<typeof statements>>
  private readonly noted
  private readonly clearNotes

  constructor(database: Database) {
    const tables = sharedTables(database)
    this.tables = new Map(tables.map(table => [table.name, statements(database, table)]))
    // Otherwise a row that another one replaces would go unnoticed.
    database.run('pragma recursive_triggers = on')
    database.run('create temp table noted_rows (name text not null, key text not null)')
    for (const table of tables) {
      for (const [verb, notes] of [
        ['insert', noted(table, 'new')],
        ['update', noted(table, 'old') + noted(table, 'new')],
        ['delete', noted(table, 'old')],
      ]) {
        database.run(
          `create temp trigger note_${verb}_${table.name} after ${verb} on main.${table.name}
          begin ${notes} end`,
        )
      }
    }
    this.noted = database.query<{ name: string; key: string }, []>(
      'select distinct name, key from noted_rows',
    )
    this.clearNotes = database.query('delete from noted_rows')
  }

  /** Discards what was noted until now. */
  forget(): void {
    this.clearNotes.run()
  }

  /** The rows that were written since the last call, as they are now. */
  take(): LogRow[] {
    const changes = this.noted.all().map(({ name, key }) => {
      const content = this.tables.get(name)!.get.get(...(JSON.parse(key) as Key))
      return { table: name, key, content: content && rowText(content) }
    })
    if (changes.length > 0) this.forget()
    return changes
  }

  /** Writes a row as the log has it. */
  write({ table, key, content }: LogRow): void {
    const sql = this.tables.get(table)
    // A newer release may have tables that this one does not know.
    if (!sql) return
    const values = JSON.parse(key) as Key
    if (content === null) {
      sql.delete.run(...values)
      return
    }
    let row = rowIn(content)
    // A row that an older release has written lacks some columns, which stay as they are.
    if (sql.columns.some(name => row[name] === undefined))
      row = { ...sql.get.get(...values), ...row }
    sql.put.run(...sql.columns.map(name => row[name] ?? null))
  }
}
