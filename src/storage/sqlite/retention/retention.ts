import type { Database } from 'bun:sqlite'
import { sessionIdleMs } from '../../../core/organisation/dashboard-session.ts'
import { dayMs, hourMs } from '../../../core/time/durations.ts'
import { countsKeptMs } from '../../shared/refusals.ts'
import { deleteEnded } from '../organisations/dashboard-sessions.ts'
import {
  type Arrival,
  type Arrivals,
  deadLetterArrivals,
  fingerprintArrivals,
  stepReportArrivals,
} from './arrivals.ts'
import { BatchDeletion } from './batch-deletion.ts'
import { FreePages, type FreePagesPolicy } from './free-pages.ts'

/** How many days organisations keep what arrives that have a number of their own. */
export type OwnDays = ReadonlyMap<number, number>

/** Reads them as they are set. */
export function ownDaysIn(database: Database): () => OwnDays {
  const query = database.query<{ id: number; days: number }, []>(
    'select id, retention_days as days from organisations where retention_days is not null order by id',
  )
  return () => new Map(query.all().map(({ id, days }) => [id, days]))
}

/** How long each organisation keeps what arrives, milliseconds. */
class RetentionPeriods {
  private own = new Map<number, number>()

  /**
   * @param serverMs the period of organisations without one of their own
   * @param ownDays reads the others' days, by organisation
   */
  constructor(
    private readonly serverMs: number,
    private readonly ownDays: () => OwnDays,
  ) {
    this.read()
  }

  /** Reads the organisations' own periods again; returns whether any has changed. */
  read(): boolean {
    const before = this.own
    this.own = new Map([...this.ownDays()].map(([orgRow, days]) => [orgRow, days * dayMs]))
    return !Bun.deepEquals(before, this.own)
  }

  of(orgRow: number): number {
    return this.own.get(orgRow) ?? this.serverMs
  }

  /** All periods that organisations have, each once. */
  get all(): readonly number[] {
    return [...new Set([this.serverMs, ...this.own.values()])]
  }
}

/** The time by which rows are old, and that of this machine, which may be later. Epoch milliseconds. */
interface RetentionTime {
  now: number
  machineNow: number
}

/** Rows that are looked at together. */
const pageRows = 64

/**
 * Deletes from a table what organisations with the same period have kept long enough. It goes through the
 * table once, in order of arrival, so that finding what is due next costs reading one row.
 */
class Sweep {
  /** The last row that was passed. */
  private seq = 0

  constructor(
    private readonly table: Arrivals,
    private readonly periodMs: number,
    private readonly isConcerned: (orgRow: number) => boolean,
  ) {}

  /** Whether the next row can be passed; it may be another organisation's. */
  isDue(at: RetentionTime): boolean {
    const [next] = this.table.after(this.seq, 1)
    return next !== undefined && !this.isYoung(next, at)
  }

  /** Deletes what is due, within a transaction and for as long as `mayGoOn` allows. */
  run(at: RetentionTime, mayGoOn: () => boolean): void {
    for (;;) {
      const rows = this.table.after(this.seq, pageRows)
      for (const row of rows) {
        if (this.isYoung(row, at)) return
        if (row.receivedAt < at.now && this.isConcerned(row.orgRow)) this.table.delete(row)
        this.seq = row.seq
        if (!mayGoOn()) return
      }
      if (rows.length === 0) return
    }
  }

  /**
   * Rows that a clock running ahead has dated into the future do not stop the sweep: they are skipped, and
   * wait for another start.
   */
  private isYoung({ receivedAt }: Arrival, { now, machineNow }: RetentionTime): boolean {
    return receivedAt >= now - this.periodMs && receivedAt <= machineNow
  }
}

/** Organisations that are handled before other work gets its turn. */
const organisationsAtOnce = 64

/**
 * Deletes old counts of refusals and of user hashes, and ended dashboard sessions, organisation by
 * organisation, once an hour.
 */
class OldRefusals {
  private readonly next
  private readonly deletes
  private readonly deleteEnded
  private orgRow = 0
  private doneAt = Number.NEGATIVE_INFINITY

  constructor(database: Database) {
    this.next = database.query<{ id: number }, [number]>(
      `select id from organisations where id > ? order by id limit ${organisationsAtOnce}`,
    )
    this.deletes = ['refusals', 'identity_counts'].map(table =>
      database.query(`delete from ${table} where org_id = ? and hour < ?`),
    )
    this.deleteEnded = deleteEnded(database, sessionIdleMs)
  }

  isDue(now: number): boolean {
    return now - this.doneAt >= hourMs || now < this.doneAt
  }

  /** Within a transaction. */
  run(now: number): void {
    const organisations = this.next.all(this.orgRow)
    const before = Math.floor((now - countsKeptMs) / hourMs)
    for (const { id } of organisations) {
      for (const remove of this.deletes) remove.run(id, before)
      this.deleteEnded(id, now)
    }
    const isLast = organisations.length < organisationsAtOnce
    this.orgRow = isLast ? 0 : organisations.at(-1)!.id
    if (isLast) this.doneAt = now
  }
}

export interface RetentionPolicy {
  /** How many days raw events are kept, for organisations that have no number of their own. */
  days: number
  freePages?: FreePagesPolicy
  /** The tables that it is about: those that each machine has for itself, or those that all share. */
  tables?: 'own' | 'shared' | 'all'
}

/** What the retention has done, for the metrics. */
export interface RetentionReport {
  /** Events that were deleted since the last report. */
  deleted: number
  /** When the oldest remaining one was received, epoch milliseconds; null if there is none. */
  oldestAt: number | null
}

/** A piece of work for a transaction of its own: it does as much as it may, and at least a little. */
type Piece = (mayGoOn: () => boolean) => void

/**
 * Deletes what was kept long enough since its receipt: raw events, health reports, fingerprints, dead
 * letters and counts of refusals. Then it gives back free pages.
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
    private readonly now: () => number,
    private readonly policy: RetentionPolicy,
    private readonly machineNow = now,
    private readonly ownDays = ownDaysIn(database),
  ) {
    this.batches = new BatchDeletion(database)
    this.refusals = new OldRefusals(database)
    this.freePages = new FreePages(database, policy.freePages)
    this.oldest = database.query<{ seq: number; received_at: number }, []>(
      'select seq, received_at from event_batches order by seq limit 1',
    )
    this.periods = new RetentionPeriods(policy.days * dayMs, ownDays)
    this.startOver()
  }

  /** Applies a new setting of the server. */
  set days(days: number) {
    if (days === this.policy.days) return
    this.policy.days = days
    this.periods = new RetentionPeriods(days * dayMs, this.ownDays)
    this.startOver()
  }

  /** Applies changes of the organisations' own periods. */
  organisationsChanged(): void {
    if (this.periods.read()) this.startOver()
  }

  /** The next piece of work that deletes rows for their age; null where there is none now. */
  nextSweep(): Piece | null {
    const at = { now: this.now(), machineNow: this.machineNow() }
    const sweep = this.sweeps.find(candidate => candidate.isDue(at))
    return sweep ? mayGoOn => sweep.run(at, mayGoOn) : null
  }

  /** The next piece of work; null where there is none now. */
  next(): Piece | null {
    const sweep = this.nextSweep()
    if (sweep) return sweep
    const now = this.now()
    const { tables = 'all' } = this.policy
    if (tables !== 'own' && this.refusals.isDue(now)) return () => this.refusals.run(now)
    if (tables === 'shared') return null
    if (this.freePages.isDue) return mayGoOn => this.freePages.giveBack(mayGoOn)
    return null
  }

  /** Must come last in the transaction of a piece; returns how many events the piece deleted. */
  settle(): number {
    return this.batches.note()
  }

  /** To be called once the transaction of a piece is committed. */
  committed(deleted: number): RetentionReport {
    const oldest = this.oldest.get()
    return { deleted, oldestAt: oldest?.received_at ?? null }
  }

  /** To be called after a piece was rolled back, because the rows that it passed are there again. */
  startOver(): void {
    this.batches.forget()
    const { periods, policy } = this
    const shared = [
      stepReportArrivals(this.database),
      fingerprintArrivals(this.database),
      deadLetterArrivals(this.database),
    ]
    const tables = [
      ...(policy.tables === 'shared' ? [] : [this.batches]),
      ...(policy.tables === 'own' ? [] : shared),
    ]
    this.sweeps = periods.all.flatMap(period =>
      tables.map(table => new Sweep(table, period, orgRow => periods.of(orgRow) === period)),
    )
  }
}
