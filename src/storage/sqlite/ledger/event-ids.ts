import type { Database, Statement } from 'bun:sqlite'
import { stateIn } from '../database/server-state.ts'
import { TransactionParticipant } from '../engine/participant.ts'

/** Inserts so many ids of one organisation, whose events have numbers in a row. */
const insertOf = (count: number) =>
  `insert or ignore into event_ids (org_id, id, event)
  values ${Array.from({ length: count }, (_, i) => `(?1, ?${i + 3}, ?2 + ${i})`).join(', ')}`

/**
 * The ids of stored events: an organisation's id is stored once, for as long as its event is kept. Also numbers
 * the rows of the ledger.
 */
export class EventIds extends TransactionParticipant {
  private readonly inserts: Statement[] = []
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
    const { changes } = this.insert(ids.length).run(orgRow, first, ...ids)
    if (changes === ids.length) return []
    if (changes > 0) this.takeBack.run(orgRow, first, JSON.stringify(ids))
    let next = first
    return [...ids.keys()].filter(place => {
      const isNew = this.insert(1).run(orgRow, next, ids[place]!).changes === 1
      if (isNew) next++
      return !isNew
    })
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

  private insert(count: number): Statement {
    this.inserts[count] ??= this.database.query(insertOf(count))
    return this.inserts[count]
  }
}
