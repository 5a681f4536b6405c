import { Database } from 'bun:sqlite'
import { migrate } from '../../sqlite/database/migrate.ts'
import { TransactionParticipant } from '../../sqlite/engine/participant.ts'
import { CausedEvents } from '../../sqlite/people/caused-events.ts'
import type { HistoryOf } from '../../sqlite/projections/facts.ts'
import { Projector } from '../../sqlite/projections/projector.ts'
import { type RunIndex, toNobody } from '../../sqlite/runs/run-table.ts'
import { RowChanges } from '../rows/row-changes.ts'
import { type MovedTable, type RowChange, RowWriter } from '../rows/tables.ts'
import { type State, stateTables } from './state.ts'

/** Gives numbers to new runs. */
export interface RunNumbers {
  next(): number
}

/** A scratch has few runs, so SQLite finds them by their keys. */
class ScratchIndex extends TransactionParticipant implements RunIndex {
  private readonly byKey

  constructor(
    database: Database,
    private readonly numbers: RunNumbers,
  ) {
    super()
    // On all columns of the key, so that no look-up goes through all runs of a flow by another index.
    database.run('create unique index runs_by_key on runs (flow_id, run_key, org_id)')
    this.byKey = database.query<{ id: number }, [number, string]>(
      'select id from runs where flow_id = ? and run_key = ?',
    )
  }

  add(): number {
    return this.numbers.next()
  }

  find(flowRow: number, key: string, isIt: (row: number) => boolean): number {
    return this.byKey.all(flowRow, key).find(({ id }) => isIt(id))?.id ?? 0
  }
}

/**
 * A database in memory, where the same projector as in a server alone works on the part of the projections that
 * some reports concern. Its content is loaded from PostgreSQL, and its changes are written there.
 */
export class Scratch {
  readonly database: Database
  readonly projector: Projector
  readonly caused: CausedEvents
  /** By their names. */
  readonly tables: ReadonlyMap<string, MovedTable>
  private readonly changes: RowChanges
  private readonly writers: ReadonlyMap<string, RowWriter>

  constructor(
    readonly historyOf: HistoryOf,
    readonly numbers: RunNumbers,
  ) {
    this.database = new Database(':memory:', { strict: true })
    this.database.run('pragma temp_store = memory')
    migrate(this.database, 0)
    this.projector = new Projector(
      this.database,
      historyOf,
      toNobody,
      new ScratchIndex(this.database, numbers),
    )
    this.caused = new CausedEvents(this.database)
    const tables = stateTables(this.database)
    this.tables = new Map(tables.map(table => [table.name, table]))
    this.changes = new RowChanges(this.database, tables)
    this.writers = new Map(tables.map(table => [table.name, new RowWriter(this.database, table)]))
  }

  /**
   * Runs work on loaded rows, and forgets all of them again.
   *
   * @returns the rows that it has changed
   */
  work(states: readonly State[], work: () => void): readonly RowChange[] {
    this.database.run('begin')
    try {
      for (const state of states) {
        for (const [name, rows] of state) {
          const writer = this.writers.get(name)!
          for (const row of rows) writer.put(row)
        }
      }
      this.changes.forget()
      this.projector.forget()
      work()
      return this.changes.take()
    } finally {
      this.projector.participants.rollback()
      this.database.run('rollback')
    }
  }
}
