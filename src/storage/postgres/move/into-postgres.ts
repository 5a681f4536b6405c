import type { Database } from 'bun:sqlite'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../../core/attempt.ts'
import { dayMs } from '../../../core/time/durations.ts'
import { openForWriting } from '../../sqlite/database/database.ts'
import { stateIn } from '../../sqlite/database/server-state.ts'
import {
  type BatchRow,
  batchColumns,
  eventsPerBatch,
  storedText,
} from '../../sqlite/engine/event-codec/event-batches.ts'
import { decodeEvents } from '../../sqlite/engine/event-codec/event-text.ts'
import { erasuresDue } from '../../sqlite/erasure/erasures.ts'
import { projectRest } from '../../sqlite/projections/project-rest.ts'
import { asRows } from '../database/connection.ts'
import { rowOf } from '../events/event-rows.ts'
import { bucketOf, idInText } from '../ledger/event-id.ts'
import { keepFile } from '../nodes/kept-files.ts'
import { isBeyondRuns } from '../projections/state.ts'
import { makePartitions } from '../retention/partitions.ts'
import type { MovedTable, Row } from '../rows/tables.ts'
import { keptNames } from './kept-names.ts'
import { differingCount, eventsOf, movedTables, rowsOf } from './moved-tables.ts'
import {
  beginMove,
  type Counts,
  endMove,
  type MoveProgress,
  MoveRefused,
  type OwnDatabase,
  openForItself,
  type Place,
} from './moves.ts'

/** The most rows that a statement writes, and roughly the most characters of them. */
const usualRows = 4_000
const mostLength = 4_000_000

/** The name of the ledger among the tables, and the place where only the rest is missing. */
const ledger = 'events'
const rest = ' '

interface Source {
  dataDir: string
  /** Of the database, which has been migrated. */
  url: string
  now: () => number
  /** The most rows that a statement writes. */
  mostRows?: number
}

/** Rows to be written, with the key of the last one. */
interface Page<Of> {
  rows: Of[]
  last: readonly (string | number)[]
}

/**
 * Moves what a data directory holds into a PostgreSQL database, page by page. A page and the note that it is
 * there are one transaction, so that an interrupted move goes on where it was.
 */
export class MoveIntoPostgres {
  private constructor(
    private readonly source: Source,
    private readonly database: Database,
    private readonly own: OwnDatabase,
    private readonly begun: Place,
  ) {}

  /**
   * Begins a move, or goes on with one that was interrupted. Nobody else may use the directory, and its schema must
   * be this release's.
   *
   * @throws MoveRefused
   */
  static async open(source: Source): Promise<MoveIntoPostgres> {
    const database = openForWriting(source.dataDir)
    let own: OwnDatabase | null = null
    try {
      own = await openForItself(source.url)
      if (erasuresDue(database, source.dataDir)) {
        throw new MoveRefused(
          'people are being erased from this data directory: start the server on it once, which brings that to its end',
        )
      }
      projectRest(database, source.now)
      const begun = await beginMove(own.postgres, database, source.now())
      return new MoveIntoPostgres(source, database, own, begun)
    } catch (error) {
      database.close()
      await own?.close()
      throw error
    }
  }

  private get postgres() {
    return this.own.postgres
  }

  private get mostRows(): number {
    return this.source.mostRows ?? usualRows
  }

  /** Whether some of it was moved already. */
  get isResumed(): boolean {
    return this.begun.table !== ''
  }

  /** Moves all that is left. If it throws, the move can be resumed. @returns how many rows each table has */
  async run(onProgress: (progress: MoveProgress) => void): Promise<Counts> {
    const { database, begun } = this
    const tables = movedTables(database)
    const counts = new Map(tables.map(({ name }) => [name, rowsOf(database, name)]))
    counts.set(ledger, eventsOf(database))
    const total = counts.values().reduce((sum, count) => sum + count, 0)
    const steps = [...tables.map(({ name }) => name), ledger]
    const beginAt = begun.table === rest ? steps.length : Math.max(0, steps.indexOf(begun.table))
    let before = 0
    for (const [i, table] of steps.entries()) {
      if (i >= beginAt) {
        const from = table === begun.table ? begun : { table, rows: 0, last: null }
        const tell = (rows: number) => onProgress({ table, done: before + rows, total })
        tell(from.rows)
        await (table === ledger
          ? this.moveEvents(from, tell)
          : this.moveRows(tables[i]!, from, tell))
      }
      before += counts.get(table)!
    }
    await this.moveRest(tables)
    return counts
  }

  /** What differs in number between the two sides; null if nothing does. */
  differingCount(): Promise<string | null> {
    return differingCount({ database: this.database, queries: this.postgres })
  }

  /** Ends the move. @param isWell whether the database may be used */
  async end(isWell: boolean): Promise<void> {
    await this.own.stillHeld()
    await endMove(this.postgres, isWell)
  }

  async close(): Promise<void> {
    this.database.close()
    await this.own.close()
  }

  private async moveRows(table: MovedTable, from: Place, tell: (rows: number) => void) {
    const columns = table.columns.join(', ')
    const pages = rowPages(this.database, table, from.last, this.mostRows)
    await this.write(
      { from, tell, pages },
      `insert into ${table.name} (${columns})
      select ${columns} from json_populate_recordset(null::${table.name}, $5::text::json)`,
      rows => [asRows(rows.map(withoutNul))],
    )
  }

  private async moveEvents(from: Place, tell: (rows: number) => void) {
    if (from.last === null) await this.makeDays()
    await this.write(
      { from, tell, pages: eventPages(this.database, from.last, this.mostRows) },
      `insert into events select * from json_populate_recordset(null::events, $5::text::json)
      ), with_ids as (
        insert into event_ids (org_id, bucket, id, received_at)
        select org_id, bucket, id, received_at
        from json_populate_recordset(null::event_ids, $6::text::json)
        on conflict do nothing`,
      rows => [
        asRows(rows),
        asRows(
          rows.map(({ org_id, id, received_at }) => ({
            ...{ org_id, received_at, bucket: bucketOf(id), id: idInText(id) },
          })),
        ),
      ],
    )
  }

  /** Creates the tables of the days on which events were received, before the default table takes those events. */
  private async makeDays(): Promise<void> {
    const days = this.database.query<{ day: number }, []>(
      `select distinct received_at / ${dayMs} as day from event_batches order by day`,
    )
    for (const { day } of days.all()) await makePartitions(this.postgres, day * dayMs)
  }

  /** Writes pages of rows with a statement. The next page is made while one is written. */
  private async write<Of>(
    { from, tell, pages }: { from: Place; tell: (rows: number) => void; pages: Iterable<Page<Of>> },
    insert: string,
    valuesOf: (rows: Of[]) => string[],
  ): Promise<void> {
    const text = `with put as (${insert})
      update moves set table_name = $1, table_rows = $2, last_key = $3 where state = $4`
    let written: Promise<unknown> = Promise.resolve()
    let rows = from.rows
    for (const page of pages) {
      const values = valuesOf(page.rows)
      await written
      tell(rows)
      rows += page.rows.length
      written = this.postgres.run(
        text,
        ...[from.table, rows, JSON.stringify(page.last), 'moving', ...values],
      )
      // It is awaited above or below.
      written.catch(() => {})
    }
    await written
    tell(rows)
  }

  /** Writes what follows from the rows, and what is not a row. All of it may be there already. */
  private async moveRest(tables: readonly MovedTable[]): Promise<void> {
    const { database, postgres } = this
    const state = (name: string) => stateIn(database, name)
    // Events keep their numbers, because readers go on from them. The next event gets the next number.
    const { newest, latestAt } = database
      .query<{ newest: number; latestAt: number }, []>(
        `select coalesce(max(seq), 0) as newest, coalesce(max(received_at), 0) as latestAt
        from event_batches`,
      )
      .get()!
    const lastRow = Math.max(newest, state('ledger_deleted'), state('projected'))
    await postgres.begin(async transaction => {
      await transaction.run(
        `insert into ledgers (org_id, seq, latest_at) select id, $1, $2 from organisations
        on conflict (org_id) do update set seq = excluded.seq, latest_at = excluded.latest_at`,
        ...[(lastRow + 1) * eventsPerBatch - 1, latestAt],
      )
      await transaction.run(
        `insert into server_state (name, value) values ('erasures_changed', $1)
        on conflict (name) do update set value = excluded.value`,
        state('erasures_changed'),
      )
      for (const { name } of tables.filter(isBeyondRuns)) {
        await transaction.run(
          `insert into joined_flows select distinct org_id, flow_id from ${name} on conflict do nothing`,
        )
      }
      await transaction.all(`select setval('run_ids', coalesce(max(id), 0) + 1, false) from runs`)
      for (const table of ['dead_letters', 'step_fingerprints', 'step_reports']) {
        await transaction.all(
          `select setval(pg_get_serial_sequence('${table}', 'seq'), coalesce(max(seq), 0) + 1, false)
          from ${table}`,
        )
      }
      for (const name of keptNames(names(this.source.dataDir))) {
        const file = join(this.source.dataDir, name)
        const at = Math.floor(statSync(file).mtimeMs)
        await keepFile(transaction, { name, content: readFileSync(file), at })
      }
      await transaction.run("update moves set table_name = $1 where state = 'moving'", rest)
    })
    await postgres.script('analyze')
  }
}

/** The names of what a directory holds, and of what its `snippet` folder holds. */
function names(directory: string): string[] {
  const below = attempt(() => readdirSync(join(directory, 'snippet')), [])
  return [...readdirSync(directory), ...below.map(name => `snippet/${name}`)]
}

/** A table's rows after one, in the order of their keys. */
function* rowPages(
  database: Database,
  { name, key, columns }: MovedTable,
  after: Page<Row>['last'] | null,
  mostRows: number,
): Generator<Page<Row>> {
  const select = `select ${columns.join(', ')} from ${name}`
  const order = `order by ${key.join(', ')}`
  const behind = `(${key.join(', ')}) > (${key.map(() => '?').join(', ')})`
  const first = database.query<Row, []>(`${select} ${order}`)
  const next = database.query<Row, (string | number)[]>(`${select} where ${behind} ${order}`)
  const lengthOf = (row: Row) =>
    Object.values(row).reduce<number>(
      (sum, value) => sum + (typeof value === 'string' ? value.length : 8),
      0,
    )
  for (let last = after; ; ) {
    const stored = last === null ? first.iterate() : next.iterate(...last)
    const rows = some(stored, mostRows, row => ({ rows: [row], length: lengthOf(row) }))
    if (rows.length === 0) return
    last = key.map(column => rows.at(-1)![column]!)
    yield { rows, last }
  }
}

/** The ledger's events after one of its rows. */
function* eventPages(
  database: Database,
  after: Page<unknown>['last'] | null,
  mostRows: number,
): Generator<Page<ReturnType<typeof rowOf>>> {
  const next = database.query<BatchRow & { org_id: number }, [number]>(
    `select org_id, ${batchColumns} from event_batches where seq > ? order by seq`,
  )
  for (let last = Number(after?.[0] ?? -1); ; ) {
    const rows = some(next.iterate(last), mostRows, row => {
      last = row.seq
      const events = decodeEvents(storedText(row))
      return {
        rows: events.map((event, i) => rowOf(row.org_id, row.seq * eventsPerBatch + i, event)),
        length: row.facts.length + row.details.length,
      }
    })
    if (rows.length === 0) return
    yield { rows, last: [last] }
  }
}

/** What the first of some stored rows turn into, up to as much as one statement writes. */
function some<Stored, Of>(
  stored: Iterable<Stored>,
  mostRows: number,
  made: (row: Stored) => { rows: Of[]; length: number },
): Of[] {
  const all: Of[] = []
  let length = 0
  for (const row of stored) {
    const some = made(row)
    all.push(...some.rows)
    length += some.length
    if (all.length >= mostRows || length >= mostLength) break
  }
  return all
}

/** PostgreSQL's texts cannot hold NUL. Nor do Cairn's, except for what an error may have quoted. */
function withoutNul(row: Row): Row {
  const entries = Object.entries(row)
  if (!entries.some(([, value]) => typeof value === 'string' && value.includes('\0'))) return row
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value,
    ]),
  )
}
