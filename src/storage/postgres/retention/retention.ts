import type { Database } from 'bun:sqlite'
import type { Clock } from '../../../core/time/clock.ts'
import { dayMs, hourMs, weekMs } from '../../../core/time/durations.ts'
import type { ClockWatch } from '../../sqlite/retention/clock-watch.ts'
import type { RetentionReport } from '../../sqlite/retention/retention.ts'
import type { Postgres, Queries } from '../database/connection.ts'
import { dayOf } from '../events/event-rows.ts'
import { liveNodes } from '../nodes/nodes.ts'
import {
  daysWithTable,
  defaultTable,
  dropDay,
  dropWeek,
  emptyDays,
  makePartitions,
  oldestReceipt,
  weeksWithTable,
} from './partitions.ts'
import {
  deleteByPages,
  deleteChanges,
  deleteEvents,
  deleteOldLetters,
  type KeptSince,
  type OldEventsIn,
  oldEventsInDays,
  oldEventsInDefault,
  rowsAtOnce,
} from './slices.ts'

/** Organisations that are looked at together. */
const organisationsAtOnce = 256

/** Deletes what some organisations have kept long enough of something: a little, or all in one go. */
export type DeleteOld = (
  queries: Queries,
  organisations: readonly KeptSince[],
  now: number,
) => Promise<void>

export interface RetentionDeps {
  postgres: Postgres
  /** This node's copy of what management keeps: it says how long organisations keep their events. */
  copy: Database
  clock: Clock
  /** One that is asked on every node every so often, whoever deletes: else it takes waiting for a setting. */
  clockWatch: ClockWatch
  /** What else grows old: reports of steps, fingerprints and counts. */
  others?: readonly DeleteOld[]
}

export interface PassReport extends RetentionReport {
  /** Whether the pass goes on. Where not, the next one may wait for some minutes. */
  isMoreLeft: boolean
}

interface Organisation {
  id: number
  retention_days: number | null
}

const daysOf = (organisation: Organisation, days: number) => organisation.retention_days ?? days

function statements(copy: Database) {
  return {
    page: copy.query<Organisation, [number]>(
      `select id, retention_days from organisations
      where id > ? order by id limit ${organisationsAtOnce}`,
    ),
    one: copy.query<Organisation, [number]>(
      'select id, retention_days from organisations where id = ?',
    ),
    spread: copy.query<{ least: number | null; most: number | null }, []>(
      'select min(retention_days) as least, max(retention_days) as most from organisations',
    ),
  }
}

/**
 * Deletes what was kept long enough, by the time of its receipt, and makes the tables of what comes next.
 * One node does so at a time; a pass is made of pieces, so that writers are never kept waiting for long.
 *
 * Events go by whole days, so up to a day after their time: the table of a day that nobody keeps any more is
 * dropped; of others, the rows of one organisation after the other are deleted. What follows from the events
 * stays. Ids are remembered for longer than an event is accepted.
 */
export class Retention {
  private readonly sql: ReturnType<typeof statements>
  private pass: { days: number; pieces: AsyncGenerator<number> } | null = null
  private oldestAt: number | null = null
  /** Up to which day tables were looked through for an organisation's events. */
  private readonly lookedTo = new Map<number, number>()
  /** When work was done last that is not worth doing in every pass. */
  private readonly doneAt = new Map<string, number>()

  constructor(private readonly deps: RetentionDeps) {
    this.sql = statements(deps.copy)
  }

  /**
   * Does the next piece of a pass, or the first of a new one.
   *
   * @param days how long events are kept by organisations that have no number of their own
   */
  async retain(days: number): Promise<PassReport> {
    const { oldestAt } = this
    if (!this.deps.clockWatch.isSteady) return { deleted: 0, oldestAt, isMoreLeft: false }
    if (this.pass?.days !== days) this.pass = { days, pieces: this.work(days) }
    try {
      const piece = await this.pass.pieces.next()
      if (!piece.done) return { deleted: piece.value, oldestAt, isMoreLeft: true }
      this.pass = null
      this.oldestAt = await oldestReceipt(this.deps.postgres)
      return { deleted: 0, oldestAt: this.oldestAt, isMoreLeft: false }
    } catch (error) {
      this.pass = null
      throw error
    }
  }

  /** The pieces of a pass: how many events each has deleted. Times and periods are those of each piece. */
  private async *work(days: number): AsyncGenerator<number> {
    await makePartitions(this.deps.postgres, this.now)
    yield* this.dropDays(days)
    yield* this.deleteOfOrganisations(days)
    for await (const _ of this.deleteOfAll(days)) yield 0
  }

  private async *dropDays(days: number): AsyncGenerator<number> {
    const { postgres } = this.deps
    const { shortest } = this.periods(days)
    const tables = (await daysWithTable(postgres)).filter(day => day < this.keptFrom(shortest))
    const empty = await emptyDays(postgres, tables)
    yield 0
    for (const day of tables) {
      const isOld = day < this.keptFrom(this.periods(days).longest)
      if (!isOld && !empty.has(day)) continue
      const deleted = await dropDay(postgres, day, !isOld)
      // Who holds it may hold all of them, and each try has writers wait.
      if (deleted === null) return
      yield deleted
    }
  }

  private async *deleteOfOrganisations(days: number): AsyncGenerator<number> {
    const { postgres, others = [] } = this.deps
    let last = 0
    for (;;) {
      const page = this.sql.page.all(last)
      if (page.length === 0) return
      last = page.at(-1)!.id
      const { old, lookedTo } = await this.oldOf(page, days)
      yield 0
      for (const events of old) yield* this.deleteOld(events, days)
      for (const [orgRow, day] of lookedTo) this.lookedTo.set(orgRow, day)
      const kept = page.map(organisation => ({
        orgRow: organisation.id,
        since: this.now - daysOf(organisation, days) * dayMs,
      }))
      for (const deleteOld of [deleteOldLetters, ...others]) {
        await deleteOld(postgres, kept, this.now)
        yield 0
      }
    }
  }

  /** Events that are old of some organisations and lie in tables that are not dropped as a whole. */
  private async oldOf(
    page: readonly Organisation[],
    days: number,
  ): Promise<{ old: OldEventsIn[]; lookedTo: Map<number, number> }> {
    const { postgres } = this.deps
    const droppedTo = this.keptFrom(this.periods(days).longest)
    const all = page.map(organisation => ({
      orgRow: organisation.id,
      keptFrom: this.keptFrom(daysOf(organisation, days)),
      lookFrom: this.lookedTo.get(organisation.id) ?? 0,
    }))
    // Nobody keeps events for longer than the others: their days go as a whole.
    const shorter = all.filter(of => of.keptFrom > droppedTo && of.lookFrom < of.keptFrom)
    const inDays = await oldEventsInDays(postgres, shorter, await daysWithTable(postgres))
    const isAnyUnforeseen = await postgres.get(`select 1 from ${defaultTable} limit 1`)
    const inDefault = isAnyUnforeseen ? await oldEventsInDefault(postgres, all) : []
    const lookedTo = new Map(shorter.map(({ orgRow, keptFrom }) => [orgRow, keptFrom]))
    return { old: [...inDays, ...inDefault], lookedTo }
  }

  private async *deleteOld(old: OldEventsIn, days: number): AsyncGenerator<number> {
    let deleted: number
    do {
      const organisation = this.sql.one.get(old.orgRow)
      if (!organisation) return
      const keptFrom = this.keptFrom(daysOf(organisation, days))
      deleted = await deleteEvents(this.deps.postgres, { ...old, keptFrom })
      yield deleted
    } while (deleted === rowsAtOnce)
  }

  /** What is no organisation's own, or is kept for the same time by all. */
  private async *deleteOfAll(days: number): AsyncGenerator<void> {
    const { postgres } = this.deps
    await liveNodes(postgres)
    yield
    if (this.isDue('log', hourMs)) {
      yield* deleteChanges(postgres, this.now - dayMs)
      const old = "at < now() - interval '1 day'"
      yield* deleteByPages(postgres, 'receipts', old)
      this.doneAt.set('log', this.now)
    }
    if (this.isDue('ids', dayMs)) {
      // As long as an event may be kept, which is a day beyond its time, and a day more.
      const nobodySendsBefore = this.now - (this.periods(days).longest + 2) * dayMs
      for (const week of await weeksWithTable(postgres)) {
        if ((week + 1) * weekMs > nobodySendsBefore) continue
        await dropWeek(postgres, week, nobodySendsBefore)
        yield
      }
      for (const table of ['event_ids_timeless', 'event_ids_default']) {
        yield* deleteByPages(postgres, table, 'received_at < $1', nobodySendsBefore)
      }
      this.doneAt.set('ids', this.now)
    }
  }

  /** Of all organisations, in days. */
  private periods(days: number): { shortest: number; longest: number } {
    const { least, most } = this.sql.spread.get()!
    return { shortest: Math.min(days, least ?? days), longest: Math.max(days, most ?? days) }
  }

  /** The first day that is kept where events are kept for so many days. */
  private keptFrom(days: number): number {
    return dayOf(this.now) - days
  }

  private get now(): number {
    return this.deps.clock.now()
  }

  private isDue(work: string, everyMs: number): boolean {
    const doneAt = this.doneAt.get(work) ?? Number.NEGATIVE_INFINITY
    return this.now - doneAt >= everyMs || this.now < doneAt
  }
}
