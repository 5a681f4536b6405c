import type { Database } from 'bun:sqlite'
import { dayMs, hourMs } from '../../../core/time/durations.ts'
import type { Log, Member } from '../../log/log.ts'
import { Retention, type RetentionPolicy } from '../retention/retention.ts'

/** How long this machine goes on without asking whether it still has the job, milliseconds. */
const askAgainMs = 5_000

/** How long one transaction deletes, milliseconds. */
const pieceMs = 2

interface RetentionState {
  at: number
  days: number
}

interface RetentionParts {
  database: Database
  /** By the machine's clock. */
  now: () => number
  /** The latest time that the log has. */
  latest: () => number
  policy: RetentionPolicy
  log: Log
  member: Member | null
  change: <T>(work: () => T, isInPassing?: boolean) => Promise<T>
  /** Changes what is about this machine alone. */
  here: <T>(work: () => T) => Promise<T>
}

/**
 * Retention on several machines: one of them says by which time rows are old, and deletes those that all share and
 * those of the log. Each deletes the rest from its own database by the same time, so that all have the same rows in
 * the end.
 */
export class SharedRetention {
  /** What each machine deletes for itself. */
  readonly own: Retention
  private readonly shared: Retention
  private readonly state
  private readonly setState
  private readonly organisations
  private known: RetentionState | null = null
  private askedAt = Number.NEGATIVE_INFINITY
  private leads = false

  constructor(private readonly parts: RetentionParts) {
    const { database, now, latest, policy } = parts
    this.state = database.query<RetentionState, []>('select at, days from retention_state')
    this.setState = database.query(
      `insert into retention_state (only_one, at, days) values (1, ?, ?)
      on conflict do update set at = excluded.at, days = excluded.days`,
    )
    this.organisations = database.query<
      { id: number; public_id: string; retention_days: number | null },
      []
    >('select id, public_id, retention_days from organisations')
    const atOf = () => this.known?.at ?? 0
    // What another machine has received is not of the future because the clock here is behind.
    const machineNow = () => Math.max(now(), latest())
    this.own = new Retention(database, atOf, { ...policy, tables: 'own' }, machineNow)
    this.shared = new Retention(database, now, { ...policy, tables: 'shared' })
  }

  set days(days: number) {
    this.parts.policy.days = days
    this.shared.days = days
  }

  organisationsChanged(): void {
    this.own.organisationsChanged()
    this.shared.organisationsChanged()
  }

  /** Goes by the time that the log has. */
  takeUp(): void {
    this.known = this.state.get()
    if (this.known) this.own.days = this.known.days
  }

  /** Deletes from the database of this machine what is due there. */
  async finishOwn(): Promise<void> {
    const { own } = this
    for (let piece = own.nextSweep(); piece !== null; piece = own.nextSweep()) {
      const sweep = piece
      const startedAt = performance.now()
      try {
        const deleted = await this.parts.here(() => {
          sweep(() => performance.now() - startedAt < pieceMs)
          return own.settle()
        })
        own.committed(deleted)
      } catch (error) {
        own.startOver()
        throw error
      }
      await Bun.sleep(0)
    }
  }

  /**
   * Does the part of the machine that has this job: to be called every so often.
   *
   * @returns whether something is left to do
   */
  async lead(mayGoOn: () => boolean): Promise<boolean> {
    const { now, policy, change } = this.parts
    if (!(await this.isLeading())) return false
    const { known } = this
    const isDue = known === null || known.days !== policy.days || now() - known.at >= hourMs
    if (isDue) {
      await change(() => this.setState.run(now(), policy.days), true)
      this.takeUp()
      await this.retainLog()
    }
    const piece = this.shared.next()
    if (!piece) return false
    try {
      await change(() => {
        piece(mayGoOn)
        this.shared.settle()
      }, true)
      return true
    } catch (error) {
      this.shared.startOver()
      throw error
    }
  }

  private async retainLog(): Promise<void> {
    const { at, days } = this.known!
    const { log } = this.parts
    const all = this.organisations.all()
    const before = (own: number | null) => at - (own ?? days) * dayMs
    const own = all.filter(({ retention_days }) => retention_days !== null)
    await log.retain(
      before(null),
      new Map(own.map(({ id, retention_days }) => [id, before(retention_days)])),
    )
    if (!(await log.events.exists())) return
    for (const { public_id, retention_days } of all) {
      await log.events.retain(public_id, before(retention_days))
    }
  }

  /** Whether this machine has the job. The answer holds for a while. */
  private async isLeading(): Promise<boolean> {
    const { member } = this.parts
    if (member === null) return false
    if (performance.now() - this.askedAt < askAgainMs) return this.leads
    this.askedAt = performance.now()
    this.leads = (await member.holds('retention')) !== null
    return this.leads
  }
}
