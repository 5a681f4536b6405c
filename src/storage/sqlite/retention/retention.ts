import type { Database } from 'bun:sqlite'
import { dayMs, hourMs } from '../../../core/time/durations.ts'
import { countsKeptMs } from '../../shared/refusals.ts'
import { deleteEnded } from '../organisations/dashboard-sessions.ts'
import { BatchDeletion } from './batch-deletion.ts'
import { FreePages, type FreePagesPolicy } from './free-pages.ts'

export interface RetentionPolicy {
  /** How many days raw events are kept, for organisations that have no number of their own. */
  days: number
  freePages?: FreePagesPolicy
}

/** What the retention has done, for the metrics. */
export interface RetentionReport {
  /** Events that were deleted since the last report. */
  deleted: number
  /** When the oldest remaining one was received, epoch milliseconds; null if there is none. */
  oldestAt: number | null
}

/** A piece of work for a transaction of its own: it does as much as it may, and at least a little. */
export interface RetentionPiece {
  /** Whether it changes what several machines share, and not the files of this one alone. */
  isShared: boolean
  /** @returns how many events it deleted */
  do(mayGoOn: () => boolean): number
}

/** A row of a table that stores what arrives, in order of arrival. */
interface Arrival {
  seq: number
  orgRow: number
  /** Epoch milliseconds. */
  at: number
}

/** Rows that are looked at, or deleted, together. */
const pageRows = 64

/** A person's latest outcome is deleted with the health report that it was made from. */
const latestDeletion = `delete from step_health
  where (org_id, step_id, version, person, at) in (
    select org_id, step_id, version, person, at from step_reports where seq = ? and org_id = ?
  )`

/**
 * Deletes what was kept long enough since its receipt: raw events, health reports, fingerprints that were judged
 * (baselines stay), what the database refused, counts of refusals, and ended dashboard sessions. Then it gives back
 * free pages. Everything else stays: analytics, checklists and completions are made from the projections.
 */
export class Retention {
  private readonly batches: BatchDeletion
  private readonly freePages: FreePages
  private readonly arrivals
  private readonly organisation
  private readonly ownDays
  private readonly oldest
  private readonly deleteCounts
  private readonly deleteEnded
  private countsDoneAt = Number.NEGATIVE_INFINITY

  constructor(
    database: Database,
    private readonly now: () => number,
    readonly policy: RetentionPolicy,
  ) {
    this.batches = new BatchDeletion(database)
    this.freePages = new FreePages(database, policy.freePages)
    this.arrivals = ['step_reports', 'step_fingerprints', 'dead_letters'].map(table => ({
      page: database.query<Arrival, [number]>(
        `select seq, org_id as orgRow, at from ${table} where seq > ? order by seq limit ${pageRows}`,
      ),
      deletions: [
        ...(table === 'step_reports' ? [latestDeletion] : []),
        `delete from ${table} where seq = ? and org_id = ?`,
      ].map(sql => database.query(sql)),
    }))
    this.organisation = database.query<{ id: number }, [number]>(
      'select id from organisations where id > ? order by id limit 1',
    )
    this.ownDays = database.query<{ id: number; days: number }, []>(
      'select id, retention_days as days from organisations where retention_days is not null',
    )
    this.oldest = database.query<{ received_at: number }, []>(
      'select received_at from event_batches order by seq limit 1',
    )
    this.deleteCounts = ['refusals', 'identity_counts'].map(table =>
      database.query(`delete from ${table} where org_id = ? and hour < ?`),
    )
    this.deleteEnded = deleteEnded(database)
  }

  /**
   * Goes once through everything. Each piece is to be done before the next is requested; null lets others have their
   * turn.
   *
   * @param leads whether this machine says which rows are old, by its clock
   */
  *walk(leads: boolean): Generator<RetentionPiece | null> {
    const now = this.now()
    const own = new Map(this.ownDays.all().map(({ id, days }) => [id, days]))
    const before = (orgRow: number) => now - (own.get(orgRow) ?? this.policy.days) * dayMs
    const areCountsDue = now - this.countsDoneAt >= hourMs || now < this.countsDoneAt
    for (let id = 0; ; ) {
      const next = this.organisation.get(id)
      if (next === null) break
      id = next.id
      if (leads) yield* this.marks(id, before(id))
      yield* this.deletions(id)
      if (leads && areCountsDue) yield shared(() => this.deleteOldCounts(id, now))
      yield null
    }
    if (leads) {
      this.countsDoneAt = areCountsDue ? now : this.countsDoneAt
      const shortest = Math.min(this.policy.days, ...own.values())
      yield* this.oldArrivals(before, now - shortest * dayMs, now)
    }
    while (this.freePages.isDue) yield here(mayGoOn => this.freePages.giveBack(mayGoOn))
  }

  /** What is to be deleted from this machine's ledger. */
  *dueHere(): Generator<RetentionPiece> {
    for (let id = 0; ; ) {
      const next = this.organisation.get(id)
      if (next === null) return
      id = next.id
      yield* this.deletions(id)
    }
  }

  /** To be called once the transaction of a piece is committed. */
  reportOf(deleted: number): RetentionReport {
    return { deleted, oldestAt: this.oldest.get()?.received_at ?? null }
  }

  private *marks(orgRow: number, before: number): Generator<RetentionPiece> {
    for (;;) {
      const last = this.batches.lastBefore(orgRow, before)
      if (last === null) return
      yield shared(() => this.batches.mark(orgRow, last))
    }
  }

  private *deletions(orgRow: number): Generator<RetentionPiece> {
    while (this.batches.isDue(orgRow)) yield here(may => this.batches.delete(orgRow, may))
  }

  /** Rows of other tables. @param shortest nothing younger than this is old */
  private *oldArrivals(
    before: (orgRow: number) => number,
    shortest: number,
    now: number,
  ): Generator<RetentionPiece | null> {
    for (const { page, deletions } of this.arrivals) {
      for (let seq = 0; ; ) {
        const rows = page.all(seq)
        const last = rows.at(-1)
        if (!last) break
        seq = last.seq
        const old = rows.filter(({ orgRow, at }) => at < before(orgRow))
        yield old.length === 0
          ? null
          : shared(() => {
              for (const { seq, orgRow } of old) for (const sql of deletions) sql.run(seq, orgRow)
            })
        // A clock that ran ahead may have dated rows into the future.
        if (last.at >= shortest && last.at <= now) break
      }
    }
  }

  private deleteOldCounts(orgRow: number, now: number): void {
    const before = Math.floor((now - countsKeptMs) / hourMs)
    for (const statement of this.deleteCounts) statement.run(orgRow, before)
    this.deleteEnded(orgRow, now)
  }
}

const here = (work: RetentionPiece['do']): RetentionPiece => ({ isShared: false, do: work })

const shared = (work: () => void): RetentionPiece => ({
  isShared: true,
  do() {
    work()
    return 0
  },
})
