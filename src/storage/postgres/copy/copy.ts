import type { Database } from 'bun:sqlite'
import { asRows, type Postgres, type Queries } from '../database/connection.ts'
import { RowChanges } from '../rows/row-changes.ts'
import { type MovedTable, type Row, type RowChange, RowWriter, writeRows } from '../rows/tables.ts'
import type { Transactions } from '../writer/transactions.ts'
import { copiedTables } from './copied-tables.ts'

/** Rows that are fetched at once. */
const pageRows = 2_000

/** A row of `catalogue_log`. */
interface LoggedRow {
  seq: number
  table_name: string
  key: string
  content: string | null
}

/** What a server counts about itself, which no other node needs to know. */
const isOwnState = ({ table, key }: RowChange) =>
  table.name === 'server_state' && key.name !== 'erasures_changed'

/** The log of changes has a gap, because changes are not kept for ever: the copy has to be filled anew. */
export class CopyIsBehind extends Error {
  override readonly name = 'CopyIsBehind'
}

/** The database is an older one. Answers based on later changes cannot be taken back. */
class DatabaseWentBack extends Error {
  override readonly name = 'DatabaseWentBack'
}

/**
 * A node's copy of what management keeps, in SQLite. So everything that reads or changes it is the same as in a
 * server alone, and a request for flows costs no round trip.
 *
 * PostgreSQL has the truth. Every change is numbered by `catalogue_clock` and recorded in `catalogue_log`. A
 * change by this node is made on the copy first, in a transaction that is committed once PostgreSQL has
 * committed the change.
 */
export class CatalogueCopy {
  /** The last change that it has taken up. */
  change = 0
  /** The last change that this node has made. */
  made = 0
  private readonly tables: ReadonlyMap<string, { table: MovedTable; writer: RowWriter }>
  private readonly changes: RowChanges
  /** Only one thing at a time uses the connection. */
  private turn: Promise<void> = Promise.resolve()
  private waiting: { change: number; resolve(): void }[] = []

  /** @param database in which nothing else writes these tables */
  constructor(
    readonly database: Database,
    private readonly postgres: Postgres,
    private readonly transactions: Transactions,
    private readonly now: () => number,
    private readonly onRefilled = () => {},
  ) {
    const tables = copiedTables(database)
    this.tables = new Map(
      tables.map(table => [table.name, { table, writer: new RowWriter(database, table) }]),
    )
    this.changes = new RowChanges(database, tables)
  }

  /** Copies everything, in place of what the copy holds. */
  fill(): Promise<void> {
    const mode = 'isolation level repeatable read, read only'
    return this.inTurn(() =>
      this.postgres.begin(async snapshot => {
        const clock = await snapshot.get<{ seq: number }>('select seq from catalogue_clock')
        this.database.run('begin immediate')
        try {
          for (const name of [...this.tables.keys()].reverse()) {
            // Its rows are there from the start, and are never deleted.
            if (name !== 'server_state') this.database.run(`delete from ${name}`)
          }
          for (const { table, writer } of this.tables.values()) {
            await snapshot.run(`declare rows no scroll cursor for select * from ${table.name}`)
            for (;;) {
              const page = await snapshot.all<Row>(`fetch ${pageRows} from rows`)
              for (const row of page) writer.put(row)
              if (page.length < pageRows) break
            }
            await snapshot.run('close rows')
          }
          this.changes.forget()
          this.database.run('commit')
        } catch (error) {
          this.database.run('rollback')
          throw error
        }
        this.isNow(clock!.seq)
      }, mode),
    )
  }

  /**
   * Takes up the changes since, or fills the copy anew if changes in between are not kept any more.
   *
   * @returns whether anything has changed
   * @throws DatabaseWentBack
   */
  async follow(): Promise<boolean> {
    try {
      return await this.inTurn(() => this.takeUp(this.postgres))
    } catch (error) {
      if (!(error instanceof CopyIsBehind)) throw error
      await this.fill()
      this.onRefilled()
      return true
    }
  }

  /** Resolves once a change is taken up, in whatever way. */
  async reach(change: number): Promise<void> {
    if (this.change >= change) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.waiting.push({ change, resolve })
    // A change that this node is making may itself wait for the caller, but it takes up everything first.
    await Promise.race([promise, this.follow()])
  }

  /**
   * Changes what management keeps. `work` does so on the copy, within a transaction, and sees everything that
   * others have changed. If it throws, nothing is changed.
   *
   * @param first does something else in the same transaction, and its result is passed to `work`
   */
  async alter<T>(work: () => T): Promise<T>
  async alter<T, First>(
    work: (first: First) => T,
    first: (queries: Queries) => Promise<First>,
  ): Promise<T>
  async alter<T, First>(
    work: (first: First) => T,
    first?: (queries: Queries) => Promise<First>,
  ): Promise<T> {
    let endTurn: (() => void) | null = null
    const giveUp = () => {
      if (this.database.inTransaction) this.database.run('rollback')
      endTurn?.()
      endTurn = null
    }
    let number = 0
    try {
      const result = await this.transactions.run(async transaction => {
        if (endTurn) giveUp()
        // Before the turn is taken, because whoever has the clock may wait for somebody who follows.
        await transaction.get('select seq from catalogue_clock for update')
        endTurn = await this.takeTurn()
        await this.takeUp(transaction)
        const done = (await first?.(transaction)) as First
        this.database.run('begin immediate')
        const made = work(done)
        const written = this.changes.take().filter(change => !isOwnState(change))
        number = written.length > 0 ? this.change + 1 : this.change
        if (written.length > 0) await this.write(transaction, number, written)
        return made
      })
      this.database.run('commit')
      if (number > this.change) this.made = number
      this.isNow(number)
      return result
    } finally {
      if (endTurn) giveUp()
    }
  }

  private async write(queries: Queries, number: number, changes: readonly RowChange[]) {
    const now = this.now()
    const organisations = [...new Set(changes.flatMap(organisationsOf))].sort((a, b) => a - b)
    // Whoever writes an organisation's events goes by this change: they wait for it, or it waits for them.
    await queries.run(
      `insert into ledgers (org_id)
      select value::bigint from json_array_elements_text($1::text::json) on conflict do nothing`,
      JSON.stringify(organisations),
    )
    await queries.run(
      `update ledgers set change = $1
      where org_id in (
        select org_id from ledgers
        where org_id in (select value::bigint from json_array_elements_text($2::text::json))
        order by org_id for update)`,
      number,
      JSON.stringify(organisations),
    )
    const logged = changes.map(({ table, key, content }, place) => ({
      ...{ seq: number, place, table_name: table.name, at: now, key: JSON.stringify(key) },
      content: content && JSON.stringify(content),
    }))
    await Promise.all([
      ...writeRows(queries, changes),
      queries.run(
        `insert into catalogue_log (seq, place, table_name, key, content, at)
        select seq, place, table_name, key, content, at
        from json_populate_recordset(null::catalogue_log, $1::text::json)`,
        asRows(logged),
      ),
      queries.run('update catalogue_clock set seq = $1', number),
    ])
  }

  private async takeUp(queries: Queries): Promise<boolean> {
    const { seq } = (await queries.get<{ seq: number }>('select seq from catalogue_clock'))!
    if (seq < this.change) {
      throw new DatabaseWentBack(`The database is at change ${seq}, and was at ${this.change}`)
    }
    if (seq === this.change) return false
    const rows = await queries.all<LoggedRow>(
      `select seq, table_name, key, content from catalogue_log
      where seq > $1 order by seq, place`,
      this.change,
    )
    if (rows[0]?.seq !== this.change + 1) {
      throw new CopyIsBehind(`The catalogue's changes since ${this.change} are not kept any more`)
    }
    this.database.run('begin immediate')
    try {
      for (const { table_name, key, content } of rows) {
        // A newer release may have tables that this one does not know.
        const writer = this.tables.get(table_name)?.writer
        if (content === null) writer?.delete(JSON.parse(key) as Row)
        else writer?.putKnown(JSON.parse(content) as Row)
      }
      this.changes.forget()
      this.database.run('commit')
    } catch (error) {
      this.database.run('rollback')
      throw error
    }
    this.isNow(rows.at(-1)!.seq)
    return true
  }

  private isNow(change: number): void {
    this.change = change
    const isReached = (one: { change: number }) => one.change <= change
    for (const { resolve } of this.waiting.filter(isReached)) resolve()
    this.waiting = this.waiting.filter(one => !isReached(one))
  }

  /** @returns a function that ends the turn */
  private async takeTurn(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.turn
    this.turn = promise
    await before
    return resolve
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const endTurn = await this.takeTurn()
    try {
      return await work()
    } finally {
      endTurn()
    }
  }
}

/** The organisations whose events may mean something else after a change. */
function organisationsOf({ table, key, content }: RowChange): readonly number[] {
  const row = content ?? key
  if (table.name === 'organisations') return [Number(row.id)]
  if (table.name === 'erasures' || table.name === 'catalogue_changes') return [Number(row.org_id)]
  return []
}
