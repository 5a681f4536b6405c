import type { Database } from 'bun:sqlite'
import { type BatchRow, batchColumns, factsOf, flowRowsIn } from '../ledger/event-batches.ts'
import { forgetIds } from '../ledger/event-ids.ts'
import { PeopleTable } from '../people/people-table.ts'

/** Rows that are looked at together. */
const pageRows = 64

/** Up to which row of the ledger an organisation's events are to be deleted, and when that was received. */
interface Mark {
  seq: number
  at: number
}

type DueRow = BatchRow & { flows: string; last_at: number }

/**
 * Deletes an organisation's rows of the ledger, oldest first, together with the ids of their events, which nobody
 * can send again. What those events made (runs, ticks, completions) stays: `deleted_events` says up to when it has to
 * be taken as it is, at least. `ledger_deleted` is the last deleted row, so that no later row reuses its number or an
 * older one's.
 *
 * Which rows are to be deleted is noted first (`retained`), because several machines do it by one clock.
 */
export class BatchDeletion {
  private readonly sql
  private readonly forget
  private readonly people

  constructor(database: Database) {
    this.sql = {
      mark: database.query<Mark, [number]>('select seq, at from retained where org_id = ?'),
      setMark: database.query(
        `insert into retained (org_id, seq, at) values (?, ?, ?)
        on conflict do update set seq = max(seq, excluded.seq), at = max(at, excluded.at)`,
      ),
      after: database.query<{ seq: number; received_at: number }, [number, number]>(
        `select seq, received_at from event_batches where org_id = ? and seq > ?
        order by seq limit ${pageRows}`,
      ),
      due: database.query<DueRow, [number, number]>(
        `select ${batchColumns}, flows, last_at from event_batches where org_id = ? and seq <= ?
          and seq <= (select value from server_state where name = 'projected')
        order by seq limit 1`,
      ),
      delete: database.query('delete from event_batches where seq = ? and org_id = ?'),
      noteDeleted: database.query(
        `insert into deleted_events (org_id, flow_id, last_at) values (?, ?, ?)
        on conflict do update set last_at = max(last_at, excluded.last_at)`,
      ),
      noteRow: database.query(
        `insert into server_state (name, value) values ('ledger_deleted', ?)
        on conflict do update set value = max(value, excluded.value)`,
      ),
    }
    this.forget = forgetIds(database)
    this.people = new PeopleTable(database)
  }

  private markOf(orgRow: number): Mark {
    return this.sql.mark.get(orgRow) ?? { seq: 0, at: 0 }
  }

  /**
   * The last of an organisation's next rows that was received before a moment, with all before it, whatever time a
   * wrong clock has given those; null if there is none.
   */
  lastBefore(orgRow: number, before: number): Mark | null {
    const rows = this.sql.after.all(orgRow, this.markOf(orgRow).seq)
    const last = rows.findLast(row => row.received_at < before)
    return last ? { seq: last.seq, at: last.received_at } : null
  }

  /** Notes that all rows up to one are to be deleted. */
  mark(orgRow: number, { seq, at }: Mark): void {
    this.sql.setMark.run(orgRow, seq, at)
  }

  private nextOf(orgRow: number): DueRow | null {
    const { seq } = this.markOf(orgRow)
    return seq === 0 ? null : this.sql.due.get(orgRow, seq)
  }

  isDue(orgRow: number): boolean {
    return this.nextOf(orgRow) !== null
  }

  /** Deletes one or more of the rows that are to be deleted. @returns how many events that were */
  delete(orgRow: number, mayGoOn: () => boolean): number {
    let events = 0
    do {
      const batch = this.nextOf(orgRow)
      if (batch === null) break
      for (const flowRow of flowRowsIn(batch.flows)) {
        this.sql.noteDeleted.run(orgRow, flowRow, batch.last_at)
      }
      const facts = factsOf(batch, orgRow)
      this.forget(
        orgRow,
        batch.seq,
        facts.map(({ id }) => id),
      )
      this.people.forget(orgRow, facts, this.markOf(orgRow).at)
      this.sql.delete.run(batch.seq, orgRow)
      this.sql.noteRow.run(batch.seq)
      events += batch.events
    } while (mayGoOn())
    return events
  }
}
