import type { Database, Statement } from 'bun:sqlite'
import { stateIn } from '../database/server-state.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import { eventsPerBatch } from './event-batches.ts'

/** What becomes of an id that is there already. */
type Conflict = 'ignore' | 'replace'

/** Inserts so many ids of one organisation, whose events have numbers in a row. */
const insertOf = (count: number, conflict: Conflict) =>
  `insert or ${conflict} into event_ids (org_id, id, event)
  values ${Array.from({ length: count }, (_, i) => `(?1, ?${i + 3}, ?2 + ${i})`).join(', ')}`

/** Forgets ids of events of one row of the ledger, but not of a newer event with the same id. */
export function forgetIds(database: Database) {
  const forget = database.query(
    `delete from event_ids
    where org_id = ? and event between ? and ? and id in (select value from json_each(?))`,
  )
  return (orgRow: number, seq: number, ids: readonly string[]) => {
    const first = seq * eventsPerBatch
    forget.run(orgRow, first, first + eventsPerBatch - 1, JSON.stringify(ids))
  }
}

/**
 * The ids of stored events: an organisation's id is stored once, for as long as its event is kept. Also numbers
 * the rows of the ledger.
 */
export class EventIds extends TransactionParticipant {
  private readonly inserts: Record<Conflict, Statement[]> = { ignore: [], replace: [] }
  private readonly takeBack
  /** The row of the ledger that comes next. */
  private nextSeq: number
  /** The last row that is committed. */
  committedSeq: number

  constructor(private readonly database: Database) {
    super()
    this.takeBack = database.query(
      `delete from event_ids
      where org_id = ? and event >= ? and id in (select value from json_each(?))`,
    )
    const { seq } = database
      .query<{ seq: number }, []>('select coalesce(max(seq), 0) as seq from event_batches')
      .get()!
    // A number is given only once, even if its row was deleted, or was never written because all of its
    // events were duplicates: whoever reads on from it, as the follower does, would miss a second row.
    this.committedSeq = Math.max(
      seq,
      stateIn(database, 'ledger_deleted'),
      stateIn(database, 'projected'),
    )
    this.nextSeq = this.committedSeq + 1
  }

  /** The row of the ledger that comes next has at least this number. To be called between rows. */
  startAt(seq: number): void {
    this.nextSeq = seq
  }

  /** The number of a row of the ledger that is begun. */
  newSeq(): number {
    return this.nextSeq++
  }

  /**
   * Takes the ids of events that are stored in a row of the ledger, one after the other.
   *
   * @param first the number of the first of them: see `eventsPerBatch`
   * @returns the places of those that are stored already, among them or before; the others move up
   */
  take(orgRow: number, ids: readonly string[], first: number): number[] {
    if (ids.length === 0) return []
    const { changes } = this.insert(ids.length, 'ignore').run(orgRow, first, ...ids)
    if (changes === ids.length) return []
    if (changes > 0) this.takeBack.run(orgRow, first, JSON.stringify(ids))
    let next = first
    return [...ids.keys()].filter(place => {
      const isNew = this.insert(1, 'ignore').run(orgRow, next, ids[place]!).changes === 1
      if (isNew) next++
      return !isNew
    })
  }

  /**
   * Notes the ids of a row that another machine has stored. That machine may have deleted an older event with
   * one of them already, and this one not yet: the id is the newer one's.
   */
  takeUp(orgRow: number, ids: readonly string[], first: number): void {
    if (ids.length > 0) this.insert(ids.length, 'replace').run(orgRow, first, ...ids)
  }

  override commit(): void {
    this.committedSeq = this.nextSeq - 1
  }

  override rollback(): void {
    this.nextSeq = this.committedSeq + 1
  }

  override rollbackTo(): void {
    // A number that was given since then is not given again.
  }

  private insert(count: number, conflict: Conflict): Statement {
    const statements = this.inserts[conflict]
    statements[count] ??= this.database.query(insertOf(count, conflict))
    return statements[count]
  }
}
