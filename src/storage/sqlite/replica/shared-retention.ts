import type { Database } from 'bun:sqlite'
import { dayMs, hourMs } from '../../../core/time/durations.ts'
import type { Log, Member, Position } from '../../log/log.ts'
import { stateIn } from '../database/server-state.ts'
import { type OwnDays, ownDaysIn, Retention, type RetentionPolicy } from '../retention/retention.ts'

/** How long this machine goes on without asking whether it still has the job, milliseconds. */
const askAgainMs = 5_000

/** How long one transaction deletes, milliseconds. */
const pieceMs = 2

interface RetentionState {
  id: number
  at: number
  days: number
  ownDays: string
  since: number
}

const parsed = (ownDays: string): OwnDays =>
  new Map(Object.entries<number>(JSON.parse(ownDays)).map(([id, days]) => [Number(id), days]))

type Periods = Pick<RetentionState, 'days' | 'ownDays'>

/** Whether anybody keeps events for longer than before. */
function isLonger(before: Periods, after: Periods): boolean {
  const [was, is] = [parsed(before.ownDays), parsed(after.ownDays)]
  const organisations = [...was.keys(), ...is.keys()]
  return (
    after.days > before.days ||
    organisations.some(id => (is.get(id) ?? after.days) > (was.get(id) ?? before.days))
  )
}

function statements(database: Database) {
  return {
    states: database.query<RetentionState, [number]>(
      'select id, at, days, own_days as ownDays, since from retention_state where id >= ? order by id',
    ),
    setState: database.query(
      `insert into retention_state (id, at, days, own_days, since) values (?, ?, ?, ?, ?)
      on conflict do update set at = excluded.at, days = excluded.days, own_days = excluded.own_days`,
    ),
    /** Batches that nobody may delete yet. */
    unprojected: database.query<{ rows: number }, [number]>(
      `select count(*) as rows from event_batches
      where seq > (select value from server_state where name = 'projected') and seq <= ?`,
    ),
    setReached: database.query(
      `insert into server_state (name, value) values ('retained', ?)
      on conflict do update set value = excluded.value`,
    ),
    organisations: database.query<{ id: number; public_id: string }, []>(
      'select id, public_id from organisations',
    ),
  }
}

interface RetentionParts {
  database: Database
  /** By the machine's clock. */
  now: () => number
  /** How far this machine has taken up the log. */
  position: () => Position
  policy: RetentionPolicy
  log: Log
  member: Member | null
  change: <T>(work: () => T, isInPassing?: boolean) => Promise<T>
  /** Changes what is about this machine alone. */
  here: <T>(work: () => T) => Promise<T>
}

/**
 * Retention on several machines: one of them says by which time rows are old, and deletes those that all share and
 * those of the log. Each deletes the rest from its own database by the same times, one after the other, so that all
 * have the same rows in the end.
 */
export class SharedRetention {
  /** What each machine deletes for itself. */
  readonly own: Retention
  private readonly shared: Retention
  private readonly sql: ReturnType<typeof statements>
  private readonly ownDaysNow: () => OwnDays
  /** The one that this machine goes by, and those after it. */
  private states: readonly RetentionState[] = []
  /** As organisations have it now; null if that is not known. */
  private wanted: string | null = null
  private askedAt = Number.NEGATIVE_INFINITY
  private leads = false

  constructor(private readonly parts: RetentionParts) {
    const { database, now, position, policy } = parts
    this.sql = statements(database)
    this.ownDaysNow = ownDaysIn(database)
    const atOf = () => this.states[0]?.at ?? 0
    // What another machine has received is not of the future because the clock here is behind.
    const machineNow = () => Math.max(now(), position().at)
    const ownDays = () => parsed(this.states[0]?.ownDays ?? '{}')
    this.own = new Retention(database, atOf, { ...policy, tables: 'own' }, machineNow, ownDays)
    this.shared = new Retention(database, now, { ...policy, tables: 'shared' })
  }

  set days(days: number) {
    this.parts.policy.days = days
    this.shared.days = days
  }

  organisationsChanged(): void {
    this.wanted = null
    this.shared.organisationsChanged()
  }

  /** Goes by what the log says. */
  takeUp(): void {
    this.states = this.sql.states.all(stateIn(this.parts.database, 'retained'))
    const [state] = this.states
    if (!state) return
    this.own.days = state.days
    this.own.organisationsChanged()
  }

  /** Goes by what comes next, if everything is deleted that was to be deleted before. @returns whether it does */
  async moveOn(): Promise<boolean> {
    const next = this.states[1]
    if (!next || this.own.nextSweep() !== null) return false
    const { here, position } = this.parts
    // What is not here yet, or not projected, may have to be deleted first.
    if (position().seq < next.since || this.sql.unprojected.get(next.since)!.rows > 0) return false
    await here(() => this.sql.setReached.run(next.id))
    this.takeUp()
    return true
  }

  /** Deletes from the database of this machine what is due there. */
  async finishOwn(): Promise<void> {
    do await this.finishState()
    while (await this.moveOn())
  }

  private async finishState(): Promise<void> {
    const { own } = this
    for (let piece = own.nextSweep(); piece !== null; piece = own.nextSweep()) {
      const sweep = piece
      const startedAt = performance.now()
      try {
        await this.parts.here(() => sweep(() => performance.now() - startedAt < pieceMs))
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
    this.wanted ??= JSON.stringify(Object.fromEntries(this.ownDaysNow()))
    const wanted = { days: policy.days, ownDays: this.wanted }
    const newest = this.states.at(-1)
    const isDue =
      newest?.days !== wanted.days ||
      newest.ownDays !== wanted.ownDays ||
      now() - newest.at >= hourMs
    if (isDue) {
      await change(() => this.set(wanted), true)
      this.takeUp()
      await this.retainLog()
    }
    const piece = this.shared.next()
    if (!piece) return false
    try {
      await change(() => piece(mayGoOn), true)
      return true
    } catch (error) {
      this.shared.startOver()
      throw error
    }
  }

  /** Within a change. */
  private set({ days, ownDays }: Periods): void {
    const { now, position } = this.parts
    const newest = this.sql.states.all(0).at(-1)
    const isAdded = !newest || isLonger(newest, { days, ownDays })
    const id = (newest?.id ?? 0) + Number(isAdded)
    this.sql.setState.run(id, Math.max(now(), newest?.at ?? 0), days, ownDays, position().seq)
  }

  private async retainLog(): Promise<void> {
    const { at, days, ownDays } = this.states.at(-1)!
    const { log } = this.parts
    const own = parsed(ownDays)
    const before = (ofOrganisation = days) => at - ofOrganisation * dayMs
    await log.retain(before(), new Map([...own].map(([id, days]) => [id, before(days)])))
    if (!(await log.events.exists())) return
    for (const { id, public_id } of this.sql.organisations.all()) {
      await log.events.retain(public_id, before(own.get(id)))
    }
  }

  /** Whether this machine has the job. The answer holds for a while. */
  private async isLeading(): Promise<boolean> {
    const { member } = this.parts
    if (member === null) return false
    if (performance.now() - this.askedAt < askAgainMs) return this.leads
    this.askedAt = performance.now()
    this.leads = await member.holds('retention')
    return this.leads
  }
}
