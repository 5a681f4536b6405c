import type { EventsTable, TableEvent } from '../log.ts'
import { arrayOf, type ColumnTypes, fromArrays, inArrays } from './arrays.ts'
import type { Postgres, Queries } from './connection.ts'
import schema from './events-table.sql' with { type: 'text' }

/** The columns of the table, and their types. */
const columns = [
  ...schema.split(/^\);/m)[0]!.matchAll(/^ {2}(\w+) (bigint|integer|text|timestamptz|json)\b/gm),
].map(([, name, type]) => ({ name: name!, type: type! }))

/** As they are sent: times in milliseconds, JSON as text. */
const sent: Readonly<Record<string, ColumnTypes[string]>> = {
  bigint: 'bigint',
  integer: 'integer',
  text: 'text',
  timestamptz: 'bigint',
  json: 'text',
}

const types: ColumnTypes = Object.fromEntries(columns.map(({ name, type }) => [name, sent[type]!]))

const selected = ({ name, type }: (typeof columns)[number]): string => {
  if (type === 'timestamptz') return `to_timestamp(k.${name} / 1000.0)`
  return type === 'json' ? `k.${name}::json` : `k.${name}`
}

const insertion = `insert into events (${columns.map(({ name }) => name)})
  select ${columns.map(selected)} from ${fromArrays(types)}`

/** The copy of all events as rows. Whoever writes it has the row with its position locked. */
export class PostgresEventsTable implements EventsTable {
  private isSetUp = false

  constructor(private readonly postgres: Postgres) {}

  async copy(
    read: (after: number) => { events: readonly TableEvent[]; upTo: number },
  ): Promise<boolean> {
    await this.setUp()
    return this.postgres.begin(async transaction => {
      const after = (await positionOf(transaction))!
      const { events, upTo } = read(after)
      if (upTo <= after) return false
      await insert(transaction, events)
      await transaction.run('update cairn_events_copied set seq = $1', upTo)
      return true
    })
  }

  async rewrite(seqs: readonly number[], read: () => readonly TableEvent[]): Promise<void> {
    if (!(await this.exists())) return
    await this.postgres.begin(async transaction => {
      const copied = (await positionOf(transaction))!
      await transaction.run('delete from events where seq = any($1::text::bigint[])', arrayOf(seqs))
      await insert(
        transaction,
        read().filter(({ seq }) => seq <= copied),
      )
    })
  }

  async retain(upTo: ReadonlyMap<string, number>): Promise<void> {
    if (!(await this.exists())) return
    const marks = { org_id: 'text', seq: 'bigint' } satisfies ColumnTypes
    const rows = [...upTo].map(([org_id, seq]) => ({ org_id, seq }))
    await this.postgres.run(
      `delete from events as e using ${fromArrays(marks)}
      where e.seq <= $3 and e.org_id = k.org_id and e.seq <= k.seq`,
      ...inArrays(marks, rows),
      Math.max(0, ...upTo.values()),
    )
  }

  async exists(): Promise<boolean> {
    this.isSetUp ||= await isThere(this.postgres, 'cairn_events_copied')
    return this.isSetUp
  }

  private async setUp(): Promise<void> {
    if (await this.exists()) return
    await this.postgres.begin(async transaction => {
      await transaction.get('select from cairn_clock for update')
      if (await isThere(transaction, 'cairn_events_copied')) return
      if (await isThere(transaction, 'events'))
        throw new Error(
          'the database has a table "events" that is not Cairn\'s: rename it, or unset CAIRN_EVENTS_TABLE',
        )
      await transaction.script(schema)
    })
  }
}

async function isThere(queries: Queries, table: string): Promise<boolean> {
  // Not by to_regclass, which within a transaction may remember that there was none.
  const found = await queries.get<{ isThere: boolean }>(
    `select exists (
      select from pg_class
      where relname = $1 and relnamespace = to_regnamespace(quote_ident(current_schema()))
    ) as "isThere"`,
    table,
  )
  return found!.isThere
}

async function positionOf(transaction: Queries): Promise<number | null> {
  const row = await transaction.get<{ seq: number }>(
    'select seq::float8 as seq from cairn_events_copied for update',
  )
  return row?.seq ?? null
}

async function insert(queries: Queries, events: readonly TableEvent[]): Promise<void> {
  if (events.length > 0) await queries.run(insertion, ...inArrays(types, events))
}
