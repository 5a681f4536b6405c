import type { Database } from 'bun:sqlite'
import {
  type BatchRow,
  eventIdsOf,
  flowRowsOf,
  lastReceipt,
} from '../engine/event-codec/event-batches.ts'
import { forgetIds } from '../ledger/event-ids.ts'
import type { Arrivals } from './retention.ts'

/**
 * Deletes rows of the ledger, together with the ids of their events, which nobody can send again, and the
 * entries that say which flows these belong to. What
 * those events made (runs, ticks, completions) stays: `deleted_events` says up to when it has to be taken
 * as it is. `ledger_deleted` is the last deleted row, so that no later row reuses its number or an older
 * one's.
 */
export function batchArrivals(database: Database): Arrivals {
  const after = database.query<
    { seq: number; org_id: number; received_at: number; later: string },
    [number, number]
  >(
    `select seq, org_id, received_at, later from event_batches
    where seq > ? and seq <= (select value from server_state where name = 'projected')
    order by seq limit ?`,
  )
  const batchOf = database.query<Pick<BatchRow, 'events' | 'body'>, [number, number]>(
    'select events, body from event_batches where seq = ? and org_id = ?',
  )
  const forget = forgetIds(database)
  const deleteBatch = database.query('delete from event_batches where seq = ? and org_id = ?')
  const deleteFlow = database.query<{ last_at: number }, [number, number, number]>(
    `delete from event_batch_flows where org_id = ? and flow_id = ? and seq = ?
    returning last_at`,
  )
  const noteDeleted = database.query(
    `insert into deleted_events (org_id, flow_id, last_at) values (?, ?, ?)
    on conflict do update set last_at = max(last_at, excluded.last_at)`,
  )
  const noteRow = database.query(
    `insert into server_state (name, value) values ('ledger_deleted', ?)
    on conflict do update set value = max(value, excluded.value)`,
  )
  return {
    after: (seq, most) =>
      after
        .all(seq, most)
        .map(row => ({ seq: row.seq, orgRow: row.org_id, receivedAt: lastReceipt(row) })),
    delete({ seq, orgRow }) {
      const batch = batchOf.get(seq, orgRow)
      if (!batch) return 0
      for (const flowRow of flowRowsOf(batch)) {
        const span = deleteFlow.get(orgRow, flowRow, seq)
        if (span) noteDeleted.run(orgRow, flowRow, span.last_at)
      }
      forget(orgRow, seq, eventIdsOf(batch))
      deleteBatch.run(seq, orgRow)
      noteRow.run(seq)
      return batch.events
    },
  }
}
