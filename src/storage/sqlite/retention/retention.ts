import type { Database } from 'bun:sqlite'
import { sessionIdleMs } from '../../../core/organisation/dashboard-session.ts'
import { dayMs, hourMs } from '../../../core/time/durations.ts'
import { countsKeptMs } from '../../shared/refusals.ts'
import { deleteEnded } from '../organisations/dashboard-sessions.ts'
import { batchArrivals } from './batch-deletion.ts'
import { FreePages, type FreePagesPolicy } from './free-pages.ts'

/** A row of a table that stores what arrives, in order of arrival. */
interface Arrival {
  seq: number
  orgRow: number
  /** Epoch milliseconds. */
  receivedAt: number
}

/** A table of such rows. */
export interface Arrivals {
  /** Rows after one. */
  after(seq: number, most: number): readonly Arrival[]
  /** Within a transaction. @returns how many events that were */
  delete(row: Arrival): number
}

/** @param deletions what is deleted with a row, by its number and organisation, and the row itself last */
function arrivalsIn(database: Database, table: string, deletions: readonly string[]): Arrivals {
  const page = database.query<Arrival, [number, number]>(
    `select seq, org_id as orgRow, at as receivedAt from ${table}
    where seq > ? order by seq limit ?`,
  )
  const deletes = deletions.map(sql => database.query(sql))
  return {
    after: (seq, most) => page.all(seq, most),
    delete({ seq, orgRow }) {
      for (const one of deletes) one.run(seq, orgRow)
      return 0
    },
  }
}

const deletionIn = (table: string) => `delete from ${table} where seq = ? and org_id = ?`

/** A person's latest outcome is deleted with the health report that it was made from. */
const latestDeletion = `delete from step_health
  where (org_id, step_id, version, person, at) in (
    select org_id, step_id, version, person, at from step_reports where seq = ? and org_id = ?
  )`

/** Health reports, fingerprints that were judged (baselines stay), and what the database refused. */
const sharedArrivals = (database: Database): Arrivals[] => [
  arrivalsIn(database, 'step_reports', [latestDeletion, deletionIn('step_reports')]),
  ...['step_fingerprints', 'dead_letters'].map(table =>
    arrivalsIn(database, table, [deletionIn(table)]),
  ),
]

/** How many days organisations keep what arrives that have a number of their own. */
export type OwnDays = ReadonlyMap<number, number>

/** Reads them as they are set. */
export function ownDaysIn(database: Database): () => OwnDays {
  const query = database.query<{ id: number; days: number }, []>(
    'select id, retention_days as days from organisations where retention_days is not null order by id',
  )
  return () => new Map(query.all().map(({ id, days }) => [id, days]))
}

/** Rows that are looked at together. */
const pageRows = 64

/**
 * Goes through a table once, in order of arrival, for the organisations that keep what arrives for so many days,
 * so that finding what is due next costs reading one row.
 */
interface Sweep {
  table: Arrivals
  days: number
  /** The last row that was passed. */
  seq: number
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

/**
 * A piece of work for a transaction of its own: it does as much as it may, and at least a little.
 *
 * @returns how many events it deleted
 */
type Piece = (mayGoOn: () => boolean) => number

/**
 * Deletes what was kept long enough since its receipt: raw events, health reports, fingerprints, dead
 * letters and counts of refusals. Then it gives back free pages.
 *
 * Everything else stays: analytics, checklists and completions are made from the projections.
 */
export class Retention {
  private readonly tables: readonly Arrivals[]
  private readonly freePages: FreePages
  private readonly oldest
  private readonly nextOrganisation
  private readonly deleteCounts
  private readonly deleteEnded
  private own: OwnDays
  private sweeps: readonly Sweep[] = []
  /** The organisation whose counts were looked at last, and when all had been; milliseconds. */
  private countsOf = 0
  private countsDoneAt = Number.NEGATIVE_INFINITY

  /**
   * @param now the time by which rows are old
   * @param machineNow that of this machine, which may be later
   */
  constructor(
    database: Database,
    private readonly now: () => number,
    private readonly policy: RetentionPolicy,
    private readonly machineNow = now,
    private readonly ownDays = ownDaysIn(database),
  ) {
    this.tables = [
      ...(policy.tables === 'shared' ? [] : [batchArrivals(database)]),
      ...(policy.tables === 'own' ? [] : sharedArrivals(database)),
    ]
    this.freePages = new FreePages(database, policy.freePages)
    this.oldest = database.query<{ received_at: number }, []>(
      'select received_at from event_batches order by seq limit 1',
    )
    this.nextOrganisation = database.query<{ id: number }, [number]>(
      'select id from organisations where id > ? order by id limit 1',
    )
    this.deleteCounts = ['refusals', 'identity_counts'].map(table =>
      database.query(`delete from ${table} where org_id = ? and hour < ?`),
    )
    this.deleteEnded = deleteEnded(database, sessionIdleMs)
    this.own = ownDays()
    this.startOver()
  }

  /** Applies a new setting of the server. */
  set days(days: number) {
    if (days === this.policy.days) return
    this.policy.days = days
    this.startOver()
  }

  /** Applies changes of the organisations' own periods. */
  organisationsChanged(): void {
    const own = this.ownDays()
    if (Bun.deepEquals(own, this.own)) return
    this.own = own
    this.startOver()
  }

  /** The next piece of work that deletes rows for their age; null where there is none now. */
  nextSweep(): Piece | null {
    const due = this.sweeps.find(({ table, seq, days }) => {
      const [next] = table.after(seq, 1)
      return next !== undefined && !this.isYoung(next, days)
    })
    return due ? mayGoOn => this.sweep(due, mayGoOn) : null
  }

  /** The next piece of work; null where there is none now. */
  next(): Piece | null {
    const sweep = this.nextSweep()
    if (sweep) return sweep
    const now = this.now()
    const { tables = 'all' } = this.policy
    const areCountsDue = now - this.countsDoneAt >= hourMs || now < this.countsDoneAt
    if (tables !== 'own' && areCountsDue) return mayGoOn => this.deleteOldCounts(now, mayGoOn)
    if (tables === 'shared' || !this.freePages.isDue) return null
    return mayGoOn => this.freePages.giveBack(mayGoOn)
  }

  /** To be called once the transaction of a piece is committed. */
  reportOf(deleted: number): RetentionReport {
    return { deleted, oldestAt: this.oldest.get()?.received_at ?? null }
  }

  /** To be called after a piece was rolled back, because the rows that it passed are there again. */
  startOver(): void {
    const periods = new Set([this.policy.days, ...this.own.values()])
    this.sweeps = [...periods].flatMap(days => this.tables.map(table => ({ table, days, seq: 0 })))
  }

  private daysOf(orgRow: number): number {
    return this.own.get(orgRow) ?? this.policy.days
  }

  private sweep(sweep: Sweep, mayGoOn: () => boolean): number {
    const { table, days } = sweep
    const now = this.now()
    for (let events = 0; ; ) {
      const rows = table.after(sweep.seq, pageRows)
      for (const row of rows) {
        if (this.isYoung(row, days)) return events
        if (row.receivedAt < now && this.daysOf(row.orgRow) === days) events += table.delete(row)
        sweep.seq = row.seq
        if (!mayGoOn()) return events
      }
      if (rows.length === 0) return events
    }
  }

  /**
   * Rows that a clock running ahead has dated into the future do not stop a sweep: they are skipped, and
   * wait for another start.
   */
  private isYoung({ receivedAt }: Arrival, days: number): boolean {
    return receivedAt >= this.now() - days * dayMs && receivedAt <= this.machineNow()
  }

  /** Deletes old counts of refusals and of user hashes, and ended dashboard sessions, once an hour. */
  private deleteOldCounts(now: number, mayGoOn: () => boolean): number {
    const before = Math.floor((now - countsKeptMs) / hourMs)
    do {
      const organisation = this.nextOrganisation.get(this.countsOf)
      this.countsOf = organisation?.id ?? 0
      if (organisation === null) {
        this.countsDoneAt = now
        return 0
      }
      for (const statement of this.deleteCounts) statement.run(organisation.id, before)
      this.deleteEnded(organisation.id, now)
    } while (mayGoOn())
    return 0
  }
}
