import type { Database } from 'bun:sqlite'
import { dayMs } from '../../core/time/durations.ts'
import type { EventIds } from '../ledger/event-batches.ts'
import { deadLetterArrivals, fingerprintArrivals, stepReportArrivals } from './arrivals.ts'
import { BatchDeletion } from './batch-deletion.ts'
import { FreePages, type FreePagesPolicy } from './free-pages.ts'
import { OldRefusals } from './old-refusals.ts'
import { RetentionPeriods } from './periods.ts'
import { Sweep } from './sweep.ts'

export interface RetentionPolicy {
  /** How many days raw events are kept, for organisations that have no number of their own. */
  days: number
  freePages?: FreePagesPolicy
}

/** What the retention has done, for the metrics. */
export interface RetentionReport {
  /** Events that were deleted since the last report. */
  deleted: number
  /** When the oldest that is left was received, epoch milliseconds; null where there is none. */
  oldestAt: number | null
}

/** A piece of work, for a transaction of its own: as much as it may, and at least a little. */
export type Piece = (mayGoOn: () => boolean) => void

/**
 * Deletes what was kept long enough, by the time of its receipt: raw events, health reports, fingerprints,
 * dead letters and counts of refusals. Then it gives back the ids of events that nobody can send again,
 * and the pages that are free.
 *
 * Everything else stays: analytics, checklists and completions are made from the projections.
 */
export class Retention {
  private readonly batches: BatchDeletion
  private readonly refusals: OldRefusals
  private readonly freePages: FreePages
  private readonly oldest
  private periods: RetentionPeriods
  private sweeps: readonly Sweep[] = []

  constructor(
    private readonly database: Database,
    private readonly ids: EventIds,
    private readonly now: () => number,
    private readonly policy: RetentionPolicy,
  ) {
    this.batches = new BatchDeletion(database)
    this.refusals = new OldRefusals(database)
    this.freePages = new FreePages(database, policy.freePages)
    this.oldest = database.query<{ seq: number; received_at: number }, []>(
      'select seq, received_at from event_batches order by seq limit 1',
    )
    this.periods = new RetentionPeriods(database, policy.days * dayMs)
    this.startOver()
  }

  /** Takes up another setting of the server. */
  set days(days: number) {
    if (days === this.policy.days) return
    this.policy.days = days
    this.periods = new RetentionPeriods(this.database, days * dayMs)
    this.startOver()
  }

  /** Takes up what organisations have of their own. */
  organisationsChanged(): void {
    if (this.periods.read()) this.startOver()
  }

  /** The next piece of work; null where there is none now. */
  next(): Piece | null {
    const now = this.now()
    const sweep = this.sweeps.find(candidate => candidate.isDue(now))
    if (sweep) return mayGoOn => sweep.run(now, mayGoOn)
    if (this.refusals.isDue(now)) return () => this.refusals.run(now)
    // As long as an event is accepted, and a day more.
    const nobodySendsBefore = now - this.periods.longest - dayMs
    if (this.ids.hasOlder(nobodySendsBefore)) return () => this.ids.giveBackOlder(nobodySendsBefore)
    if (this.freePages.isDue) return mayGoOn => this.freePages.giveBack(mayGoOn)
    return null
  }

  /** The last thing in the transaction of a piece: the events that it has deleted. */
  settle(): number {
    return this.batches.note()
  }

  /** The transaction of a piece is committed. */
  committed(deleted: number): RetentionReport {
    const oldest = this.oldest.get()
    if (oldest) this.ids.deletedBefore(oldest.seq)
    return { deleted, oldestAt: oldest?.received_at ?? null }
  }

  /** A piece was rolled back: what was passed is there again. */
  startOver(): void {
    this.batches.forget()
    const { periods } = this
    const tables = [
      this.batches,
      stepReportArrivals(this.database),
      fingerprintArrivals(this.database),
      deadLetterArrivals(this.database),
    ]
    this.sweeps = periods.all.flatMap(period =>
      tables.map(table => new Sweep(table, period, orgRow => periods.of(orgRow) === period)),
    )
  }
}
