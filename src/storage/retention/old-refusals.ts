import type { Database } from 'bun:sqlite'
import { dayMs, hourMs } from '../../core/time/durations.ts'

/** Who reads them reads those of the last 24 hours. */
const keptMs = 2 * dayMs

/** Organisations that are looked at before others may go first. */
const organisationsAtOnce = 64

/** Deletes counts of refusals and of user hashes, organisation by organisation, once an hour. */
export class OldRefusals {
  private readonly next
  private readonly deletes
  private orgRow = 0
  private doneAt = Number.NEGATIVE_INFINITY

  constructor(database: Database) {
    this.next = database.query<{ id: number }, [number]>(
      `select id from organisations where id > ? order by id limit ${organisationsAtOnce}`,
    )
    this.deletes = ['refusals', 'identity_counts'].map(table =>
      database.query(`delete from ${table} where org_id = ? and hour < ?`),
    )
  }

  isDue(now: number): boolean {
    return now - this.doneAt >= hourMs || now < this.doneAt
  }

  /** Within a transaction. */
  run(now: number): void {
    const organisations = this.next.all(this.orgRow)
    const before = Math.floor((now - keptMs) / hourMs)
    for (const { id } of organisations) {
      for (const remove of this.deletes) remove.run(id, before)
    }
    const isLast = organisations.length < organisationsAtOnce
    this.orgRow = isLast ? 0 : organisations.at(-1)!.id
    if (isLast) this.doneAt = now
  }
}
