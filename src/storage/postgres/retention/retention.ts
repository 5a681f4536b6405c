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

/** How many organisations are looked at together. */
const organisationsAtOnce = 256

/** Deletes one kind of data that some organisations have kept long enough: a part of it, or all at once. */
export type DeleteOld = (
  queries: Queries,
  organisations: readonly KeptSince[],
  now: number,
) => Promise<void>

export interface RetentionDeps {
  postgres: Postgres
  /** This node's copy of what management keeps, which says how long organisations keep their events. */
  copy: Database
  clock: Clock
  /** Asked every so often on every node, whichever one deletes: otherwise a long wait passes for a set clock. */
  clockWatch: ClockWatch
  /** Other data that expires: reports of steps, fingerprints and counts. */
  others?: readonly DeleteOld[]
}

export interface PassReport extends RetentionReport {
  /** Whether the pass goes on. If not, the next one may wait for some minutes. */
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
 * Deletes what was kept long enough since its receipt, and creates the tables for what comes next. One node
 * does so at a time. A pass is made of pieces, so that writers are never kept waiting for long.
 *
 * Events are deleted by whole days, so up to a day after their time. The table of a day that nobody keeps any
 * more is dropped. In other tables, the rows are deleted one organisation after the other. What follows from
 * the events stays. Ids are remembered for longer than an event is accepted.
 */
export class Retention {
  private readonly sql: ReturnType<typeof statements>
  private pass: { days: number; pieces: AsyncGenerator<number> } | null = null
  private oldestAt: number | null = null
  /** Up to which day the tables were searched for an organisation's events. */
  private readonly lookedTo = new Map<number, number>()
  /** When work that is not worth doing in every pass was last done. */
  private readonly doneAt = new Map<string, number>()

  constructor(private readonly deps: RetentionDeps) {
    this.sql = statements(deps.copy)
  }

  /**
   * Does the next piece of a pass, or the first of a new one.
   *
   * @param days how long events are kept by organisations that have no retention of their own
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

  /** The pieces of a pass: how many events each has deleted. Each piece reads the time and the periods again. */
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
      // Whoever holds this table may hold all of them, and each try makes writers wait.
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

  /** Old events of some organisations, in tables that are not dropped as a whole. */
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
    // The other organisations keep events the longest: their days are dropped as a whole.
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

  /** Deletes what belongs to no organisation, or is kept for the same time by all. */
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
      // The longest that an event may be kept, which is a day beyond its time, and one more day.
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

  /** The shortest and the longest of all organisations, in days. */
  private periods(days: number): { shortest: number; longest: number } {
    const { least, most } = this.sql.spread.get()!
    return { shortest: Math.min(days, least ?? days), longest: Math.max(days, most ?? days) }
  }

  /** The first day that is kept if events are kept for so many days. */
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
