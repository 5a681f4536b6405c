import type { Database } from 'bun:sqlite'
import { TransactionParticipant } from '../engine/participant.ts'
import { HashIndex, type HashIndexPolicy, TextHash } from './hash-index.ts'
import { type IndexName, Segments } from './segments.ts'

/** A table whose rows belong to flows, and its columns whose texts lead to rows. */
export interface IndexedTable {
  name: 'runs' | 'completions'
  /** Of each indexed column, the index that it has. */
  columns: Readonly<Record<string, IndexName>>
  /** The column that says when a row happened. */
  time: string
}

/** Chunks of 1,024 entries. What is in no segment is read at each start: that should be little. */
export const defaultRowIndexPolicy: HashIndexPolicy = {
  entriesPerSegment: 32_768,
  segmentBits: 5,
  entriesPerMergeStep: 512,
}

const pageRows = 8_192

type StoredRow = [row: number, flowRow: number, time: number, ...texts: string[]]

function statements(database: Database, { name, columns, time }: IndexedTable) {
  const texts = Object.keys(columns).join(', ')
  return {
    after: database.query<never, [number]>(
      `select id, flow_id, ${time}, ${texts} from ${name} where id > ? order by id limit ${pageRows}`,
    ),
    state: database.query<{ value: number }, [string]>(
      'select value from server_state where name = ?',
    ),
    setSealed: database.query(`update server_state set value = ? where name = '${name}_sealed'`),
  }
}

/**
 * Finds rows of a table by a flow and a text of theirs, as a B-tree over texts in no order cannot: see
 * `HashIndex`. It numbers the rows, because what it reads again at a start or after a rebuild is told
 * by the number: a row's texts never change (who changes them writes the row anew), and no number up
 * to the last sealed one is given again.
 */
export class RowIndex extends TransactionParticipant<number> {
  private readonly sql: ReturnType<typeof statements> | null
  private readonly hash: TextHash
  private readonly indexes: readonly HashIndex[]
  private readonly sealedName: string
  private nextRow = 1
  private knownReplacements = 0

  /** @param database null for an index of a table that is made and dropped with this connection */
  constructor(
    private readonly database: Database | null,
    table: IndexedTable,
    policy = defaultRowIndexPolicy,
  ) {
    super()
    this.indexes = Object.values(table.columns).map(
      name => new HashIndex(database && new Segments(database, name, policy), policy),
    )
    this.sql = database && statements(database, table)
    this.sealedName = `${table.name}_sealed`
    const [seed1, seed2] = this.sql
      ? [this.state('row_index_seed_1'), this.state('row_index_seed_2')]
      : crypto.getRandomValues(new Uint32Array(2))
    this.hash = new TextHash(seed1!, seed2!)
    this.knownReplacements = this.state('rows_replaced')
    this.recover(() => this.indexes[0]!.isHeaped && this.sealRecovered())
    if (this.indexes[0]!.isFull) this.sealRecovered()
  }

  /**
   * Numbers a row that is about to be stored.
   *
   * @param texts of the indexed columns, in their order
   * @param at when it happened, epoch milliseconds
   */
  add(flowRow: number, texts: readonly string[], at: number): number {
    const row = this.nextRow++
    this.enter(row, flowRow, at, texts)
    return row
  }

  /**
   * A row whose text in a column may be this one, and of which `isIt` says so; 0 where there is none.
   * A row that is gone is asked for too.
   *
   * @param column of the indexed columns, by their order
   */
  find(column: number, flowRow: number, text: string, isIt: (row: number) => boolean): number {
    this.hash.of(flowRow, text)
    return this.indexes[column]!.find(this.hash.high, this.hash.low, isIt)
  }

  /** Every row that a text may lead to, each once. */
  all(column: number, flowRow: number, text: string): Set<number> {
    const rows = new Set<number>()
    this.find(column, flowRow, text, row => {
      rows.add(row)
      return false
    })
    return rows
  }

  override savepoint(): number {
    return this.indexes[0]!.mark
  }

  override rollbackTo(mark: number): void {
    for (const index of this.indexes) index.takeBack(mark)
  }

  /** Seals what is due, and moves merges on. */
  override beforeCommit(): void {
    // A row has an entry in each, so all of them are full at once.
    if (this.indexes[0]!.isFull) this.seal(this.nextRow - 1)
    for (const index of this.indexes) index.merge()
  }

  /** In a transaction: spares the next start, or an erasure, reading most rows again. */
  sealIfWorth(): void {
    if (this.indexes[0]!.isWorthSealing) this.seal(this.nextRow - 1)
  }

  override commit(): void {
    for (const index of this.indexes) index.committed()
  }

  override rollback(): void {
    for (const index of this.indexes) index.rolledBack()
  }

  /** A rebuild replaces rows, which must be known before any is judged. */
  override externalChange(): void {
    const replacements = this.state('rows_replaced')
    if (replacements === this.knownReplacements) return
    for (const index of this.indexes) index.forgetRecent()
    this.recover(() => {})
    this.knownReplacements = replacements
  }

  /** Forgets all rows, of a table that was emptied. */
  clear(): void {
    for (const index of this.indexes) index.forgetRecent()
    this.nextRow = 1
  }

  private enter(row: number, flowRow: number, at: number, texts: readonly string[]): void {
    for (let i = 0; i < this.indexes.length; i++) {
      this.hash.of(flowRow, texts[i]!)
      this.indexes[i]!.add(this.hash.high, this.hash.low, row, at)
    }
  }

  private state(name: string): number {
    return this.sql?.state.get(name)?.value ?? 0
  }

  private seal(lastRow: number): void {
    for (const index of this.indexes) index.seal()
    this.sql?.setSealed.run(lastRow)
  }

  /** Reads the rows that no segment has: those of the last moments, or all of an older Cairn's table. */
  private recover(onPage: () => unknown): void {
    if (!this.sql) return
    const sealed = this.state(this.sealedName)
    for (let from = sealed; ; ) {
      const rows = this.sql.after.values(from) as StoredRow[]
      for (const [row, flowRow, at, ...texts] of rows) this.enter(row, flowRow, at, texts)
      from = rows.at(-1)?.[0] ?? from
      this.nextRow = Math.max(this.nextRow, from + 1)
      onPage()
      if (rows.length < pageRows) break
    }
    this.commit()
  }

  private sealRecovered(): void {
    const sealing = this.database!.transaction(() => {
      // What a rebuild has written meanwhile may stand among the rows that were read already.
      if (this.state('rows_replaced') === this.knownReplacements) this.seal(this.nextRow - 1)
    })
    sealing.immediate()
    this.commit()
  }
}

/**
 * The first number that no row of a table ever had as far as its index can remember, for a process
 * that is not the running server. Within the write lock; `noteReplacedRows` must follow.
 */
export function firstFreeRow(database: Database, table: IndexedTable['name']): number {
  const row = database
    .query<{ id: number }, [string]>(
      `select max(coalesce((select max(id) from main.${table}), 0), value) + 1 as id
      from server_state where name = ?`,
    )
    .get(`${table}_sealed`)
  return row?.id ?? 1
}

/** Has a running server read anew which rows there are. Within the transaction that replaced some. */
export function noteReplacedRows(database: Database): void {
  database.run("update server_state set value = value + 1 where name = 'rows_replaced'")
}
