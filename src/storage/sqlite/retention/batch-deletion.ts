import type { Database } from 'bun:sqlite'
import {
  type FactsRow,
  factsColumns,
  factsOf,
  flowRowsIn,
  lastReceipt,
} from '../engine/event-codec/event-batches.ts'
import { forgetIds } from '../ledger/event-ids.ts'
import type { Arrival, Arrivals } from './arrivals.ts'

function statements(database: Database) {
  return {
    after: database.query<
      { seq: number; org_id: number; received_at: number; later: string },
      [number, number]
    >(
      `select seq, org_id, received_at, later from event_batches
      where seq > ? and seq <= (select value from server_state where name = 'projected')
      order by seq limit ?`,
    ),
    batch: database.query<FactsRow & { flows: string; last_at: number }, [number, number]>(
      `select ${factsColumns}, flows, last_at from event_batches where seq = ? and org_id = ?`,
    ),
    forgetIds: forgetIds(database),
    deleteBatch: database.query('delete from event_batches where seq = ? and org_id = ?'),
    noteDeleted: database.query(
      `insert into deleted_events (org_id, flow_id, last_at) values (?, ?, ?)
      on conflict do update set last_at = max(last_at, excluded.last_at)`,
    ),
    noteRow: database.query(
      `insert into server_state (name, value) values ('ledger_deleted', ?)
      on conflict do update set value = max(value, excluded.value)`,
    ),
  }
}

/**
 * Deletes rows of the ledger, together with the ids of their events, which nobody can send again. What
 * those events made (runs, ticks, completions) stays: `deleted_events` says up to when it has to be taken
 * as it is, at least. `ledger_deleted` is the last deleted row, so that no later row reuses its number or an older
 * one's.
 */
export class BatchDeletion implements Arrivals {
  private readonly sql: ReturnType<typeof statements>
  /** How many events were deleted since the last `note`. */
  private events = 0
  private lastRow = 0

  constructor(database: Database) {
    this.sql = statements(database)
  }

  after(seq: number, most: number): Arrival[] {
    return this.sql.after
      .all(seq, most)
      .map(row => ({ seq: row.seq, orgRow: row.org_id, receivedAt: lastReceipt(row) }))
  }

  /** Within a transaction, which must end with `note`. */
  delete({ seq, orgRow }: Pick<Arrival, 'seq' | 'orgRow'>): void {
    const batch = this.sql.batch.get(seq, orgRow)
    if (!batch) return
    for (const flowRow of flowRowsIn(batch.flows)) {
      this.sql.noteDeleted.run(orgRow, flowRow, batch.last_at)
    }
    const ids = factsOf(batch, orgRow).map(({ id }) => id)
    this.sql.forgetIds(orgRow, seq, ids)
    this.sql.deleteBatch.run(seq, orgRow)
    this.events += batch.events
    this.lastRow = Math.max(this.lastRow, seq)
  }

  /** Notes the last deleted row; returns how many events were deleted. */
  note(): number {
    if (this.lastRow > 0) this.sql.noteRow.run(this.lastRow)
    const { events } = this
    this.forget()
    return events
  }

  /** Forgets what a transaction that was rolled back had deleted. */
  forget(): void {
    this.events = 0
    this.lastRow = 0
  }
}
