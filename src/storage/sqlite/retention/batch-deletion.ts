import type { Database } from 'bun:sqlite'
import { type BatchRow, batchColumns, factsOf, flowRowsIn } from '../ledger/event-batches.ts'
import { forgetIds } from '../ledger/event-ids.ts'
import type { Arrivals } from './retention.ts'

/**
 * Deletes rows of the ledger, together with the ids of their events, which nobody can send again. What
 * those events made (runs, ticks, completions) stays: `deleted_events` says up to when it has to be taken
 * as it is, at least. `ledger_deleted` is the last deleted row, so that no later row reuses its number or an older
 * one's.
 */
export function batchArrivals(database: Database): Arrivals {
  const after = database.query<
    { seq: number; org_id: number; received_at: number },
    [number, number]
  >(
    `select seq, org_id, received_at from event_batches
    where seq > ? and seq <= (select value from server_state where name = 'projected')
    order by seq limit ?`,
  )
  const batchOf = database.query<BatchRow & { flows: string; last_at: number }, [number, number]>(
    `select ${batchColumns}, flows, last_at from event_batches where seq = ? and org_id = ?`,
  )
  const forget = forgetIds(database)
  const deleteBatch = database.query('delete from event_batches where seq = ? and org_id = ?')
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
        .map(row => ({ seq: row.seq, orgRow: row.org_id, receivedAt: row.received_at })),
    delete({ seq, orgRow }) {
      const batch = batchOf.get(seq, orgRow)
      if (!batch) return 0
      for (const flowRow of flowRowsIn(batch.flows)) {
        noteDeleted.run(orgRow, flowRow, batch.last_at)
      }
      const ids = factsOf(batch, orgRow).map(({ id }) => id)
      forget(orgRow, seq, ids)
      deleteBatch.run(seq, orgRow)
      noteRow.run(seq)
      return batch.events
    },
  }
}
