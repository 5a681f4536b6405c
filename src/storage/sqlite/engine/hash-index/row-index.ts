import type { Database } from 'bun:sqlite'
import { TransactionParticipant } from '../participant.ts'
import { HashIndex, type HashIndexPolicy, TextHash } from './hash-index.ts'
import { Segments } from './segments.ts'

/** Chunks of 1,024 entries. What is in no segment is read at each start, so that should be little. */
export const defaultRowIndexPolicy: HashIndexPolicy = {
  entriesPerSegment: 32_768,
  segmentBits: 5,
  entriesPerMergeStep: 512,
}

const pageRows = 8_192

interface StoredRow {
  id: number
  flow_id: number
  run_key: string
  last_at: number
}

function statements(database: Database) {
  return {
    after: database.query<StoredRow, [number]>(
      `select id, flow_id, run_key, last_at from runs where id > ? order by id limit ${pageRows}`,
    ),
    state: database.query<{ value: number }, [string]>(
      'select value from server_state where name = ?',
    ),
    setSealed: database.query("update server_state set value = ? where name = 'runs_sealed'"),
  }
}

/**
 * Finds runs by their flow and key, as a B-tree over keys in no order cannot: see `HashIndex`. It also
 * numbers the rows, because their numbers show what has to be read again at a start or after a rebuild: a
 * row's key never changes (whoever changes it writes a new row), and no number up to the last sealed one is
 * given again.
 */
export class RowIndex extends TransactionParticipant<number> {
  private readonly sql: ReturnType<typeof statements> | null
  private readonly hash: TextHash
  private readonly index: HashIndex
  private nextRow = 1
  private knownReplacements = 0

  /** @param database null for an index of a table that is made and dropped with this connection */
  constructor(
    private readonly database: Database | null,
    policy = defaultRowIndexPolicy,
  ) {
    super()
    this.index = new HashIndex(database && new Segments(database, 'runs_by_key', policy), policy)
    this.sql = database && statements(database)
    const [seed1, seed2] = this.sql
      ? [this.state('row_index_seed_1'), this.state('row_index_seed_2')]
      : crypto.getRandomValues(new Uint32Array(2))
    this.hash = new TextHash(seed1!, seed2!)
    this.knownReplacements = this.state('rows_replaced')
    this.recover(() => this.index.isHeaped && this.sealRecovered())
    if (this.index.isFull) this.sealRecovered()
  }

  /**
   * Numbers a row that is about to be stored.
   *
   * @param at when something last happened in the run, epoch milliseconds
   */
  add(flowRow: number, key: string, at: number): number {
    const row = this.nextRow++
    this.enter(row, flowRow, key, at)
    return row
  }

  /**
   * A row whose key may be this one and for which `isIt` holds; 0 if there is none. `isIt` is asked about
   * rows that are gone, too.
   */
  find(flowRow: number, key: string, isIt: (row: number) => boolean): number {
    this.hash.of(flowRow, key)
    return this.index.find(this.hash.high, this.hash.low, isIt)
  }

  override savepoint(): number {
    return this.index.mark
  }

  override rollbackTo(mark: number): void {
    this.index.takeBack(mark)
  }

  /** Seals what is due, and moves merges on. */
  override beforeCommit(): void {
    if (this.index.isFull) this.seal(this.nextRow - 1)
    this.index.merge()
  }

  /** Within a transaction: saves the next start, or an erasure, from reading most rows again. */
  sealIfWorth(): void {
    if (this.index.isWorthSealing) this.seal(this.nextRow - 1)
  }

  override commit(): void {
    this.index.committed()
  }

  override rollback(): void {
    this.index.rolledBack()
  }

  /** A rebuild replaces rows, and the new ones must be known before any row is judged. */
  override externalChange(): void {
    const replacements = this.state('rows_replaced')
    if (replacements === this.knownReplacements) return
    this.index.forgetRecent()
    this.recover(() => {})
    this.knownReplacements = replacements
  }

  /** Forgets all rows, because the table was emptied. */
  clear(): void {
    this.index.forgetRecent()
    this.nextRow = 1
  }

  private enter(row: number, flowRow: number, key: string, at: number): void {
    this.hash.of(flowRow, key)
    this.index.add(this.hash.high, this.hash.low, row, at)
  }

  private state(name: string): number {
    return this.sql?.state.get(name)?.value ?? 0
  }

  private seal(lastRow: number): void {
    this.index.seal()
    this.sql?.setSealed.run(lastRow)
  }

  /** Reads the rows that no segment has: those of the last moments, or all of an older Cairn's table. */
  private recover(onPage: () => unknown): void {
    if (!this.sql) return
    for (let from = this.state('runs_sealed'); ; ) {
      const rows = this.sql.after.all(from)
      for (const { id, flow_id, run_key, last_at } of rows) {
        this.enter(id, flow_id, run_key, last_at)
      }
      from = rows.at(-1)?.id ?? from
      this.nextRow = Math.max(this.nextRow, from + 1)
      onPage()
      if (rows.length < pageRows) break
    }
    this.commit()
  }

  private sealRecovered(): void {
    const sealing = this.database!.transaction(() => {
      // A rebuild may meanwhile have written rows that belong among those that were read already.
      if (this.state('rows_replaced') === this.knownReplacements) this.seal(this.nextRow - 1)
    })
    sealing.immediate()
    this.commit()
  }
}

/**
 * The first number that no run's row ever had, as far as the index can remember. For a process that is not
 * the running server; to be called under the write lock, and `noteReplacedRows` must follow.
 */
export function firstFreeRow(database: Database): number {
  const row = database
    .query<{ id: number }, []>(
      `select max(coalesce((select max(id) from main.runs), 0), value) + 1 as id
      from server_state where name = 'runs_sealed'`,
    )
    .get()
  return row?.id ?? 1
}

/** Within the transaction that replaced rows: makes a running server read again which rows there are. */
export function noteReplacedRows(database: Database): void {
  database.run("update server_state set value = value + 1 where name = 'rows_replaced'")
}
