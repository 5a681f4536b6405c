import type { Database } from 'bun:sqlite'
import {
  type BatchRow,
  eventIdsOf,
  flowRowsOf,
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
    batch: database.query<Pick<BatchRow, 'events' | 'body'>, [number, number]>(
      'select events, body from event_batches where seq = ? and org_id = ?',
    ),
    forgetIds: forgetIds(database),
    deleteBatch: database.query('delete from event_batches where seq = ? and org_id = ?'),
    deleteFlow: database.query<{ last_at: number }, [number, number, number]>(
      `delete from event_batch_flows where org_id = ? and flow_id = ? and seq = ?
      returning last_at`,
    ),
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
 * Deletes rows of the ledger, together with the ids of their events, which nobody can send again, and the
 * entries that say which flows these belong to. What
 * those events made (runs, ticks, completions) stays: `deleted_events` says up to when it has to be taken
 * as it is. `ledger_deleted` is the last deleted row, so that no later row reuses its number or an older
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
    for (const flowRow of flowRowsOf(batch)) {
      const span = this.sql.deleteFlow.get(orgRow, flowRow, seq)
      if (span) this.sql.noteDeleted.run(orgRow, flowRow, span.last_at)
    }
    this.sql.forgetIds(orgRow, seq, eventIdsOf(batch))
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
