import type { Database } from 'bun:sqlite'
import { hourMs } from '../../../core/time/durations.ts'
import type { Log, Member } from '../../log/log.ts'

/**
 * Retention on several machines: one of them says which rows are old, and deletes those that all share and those of
 * the log. Each deletes the same rows of the ledger from its own database.
 */
export class LogRetention {
  private readonly marks
  private doneAt = Number.NEGATIVE_INFINITY

  constructor(
    database: Database,
    private readonly log: Log,
    private readonly member: Member | null,
    private readonly now: () => number,
  ) {
    this.marks = database.query<{ org_id: number; public_id: string; seq: number }, []>(
      `select org_id, public_id, seq from retained join organisations on organisations.id = org_id`,
    )
  }

  /** Whether this machine has that job for now. */
  async leads(): Promise<boolean> {
    return (await this.member?.holds('retention')) ?? false
  }

  /** Deletes from the log what all machines delete, once an hour: to be called by the machine that leads. */
  async deleteFromLog(): Promise<void> {
    if (Math.abs(this.now() - this.doneAt) < hourMs) return
    const marks = this.marks.all()
    await this.log.retain(new Map(marks.map(({ org_id, seq }) => [org_id, seq])))
    await this.log.events.retain(new Map(marks.map(({ public_id, seq }) => [public_id, seq])))
    this.doneAt = this.now()
  }
}
