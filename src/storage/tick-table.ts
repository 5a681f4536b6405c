import type { Database } from 'bun:sqlite'
import { checklistCompletedAt, type Tick } from '../core/checklist.ts'
import { personOf } from '../core/event.ts'
import { least, versionAt } from '../core/run.ts'
import type { Fact, HistoryOf } from './facts.ts'
import type { LooseFacts } from './loose-facts.ts'
import type { TouchedPeople } from './touched.ts'

function statements(database: Database) {
  return {
    ticks: database.query<
      { item_id: number; at: number; ticked: number },
      [number, number, string]
    >('select item_id, at, ticked from ticks where org_id = ? and flow_id = ? and person = ?'),
    insertTick: database.query(
      `insert into ticks (org_id, flow_id, person, item_id, at, ticked)
      values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
    ),
    deleteTick: database.query(
      `delete from ticks where org_id = ? and flow_id = ? and person = ? and item_id = ? and at = ?
        and ticked = 1`,
    ),
    completion: database.query<
      { reported_at: number | null; checklist_at: number | null },
      [number, number, string]
    >(
      `select reported_at, checklist_at from completions
      where org_id = ? and flow_id = ? and person = ?`,
    ),
    deleteCompletion: database.query(
      'delete from completions where org_id = ? and flow_id = ? and person = ?',
    ),
    setCompletion: database.query(
      `insert into completions (org_id, flow_id, person, reported_at, checklist_at)
      values (?, ?, ?, ?, ?)
      on conflict do update set reported_at = excluded.reported_at,
        checklist_at = excluded.checklist_at`,
    ),
  }
}

/** Who has ticked what, and when that (or a report) first completed a flow for them. */
export class TickTable {
  private readonly sql: ReturnType<typeof statements>

  constructor(
    database: Database,
    private readonly historyOf: HistoryOf,
    private readonly loose: LooseFacts,
  ) {
    this.sql = statements(database)
  }

  /** All that ever happened to a person's items and still counts. */
  ticksOf(orgRow: number, flowRow: number, person: string): Tick[] {
    return this.sql.ticks
      .all(orgRow, flowRow, person)
      .map(({ item_id, at, ticked }) => ({ itemId: item_id, at, ticked: ticked === 1 }))
  }

  /** When a person first completed a flow, by a report or by the checklist. */
  completedAt(orgRow: number, flowRow: number, person: string): number | null {
    const row = this.sql.completion.get(orgRow, flowRow, person)
    return row ? least(row.reported_at, row.checklist_at) : null
  }

  /** Notes a reported completion; the earliest stands. */
  addCompletion({ orgRow, flowRow, occurredAt, ...ids }: Fact): void {
    const person = personOf(ids.userId, ids.anonymousId)
    const known = this.sql.completion.get(orgRow, flowRow, person)
    const reportedAt = least(known?.reported_at ?? null, occurredAt)
    if (reportedAt === known?.reported_at) return
    this.sql.setCompletion.run(orgRow, flowRow, person, reportedAt, known?.checklist_at ?? null)
  }

  /**
   * Between two takings back only an item's first tick counts, so no other is kept. (A taking back
   * is always later than all that was stored before it: nothing can split such a stretch later.)
   */
  addTicks(facts: readonly Fact[], touched: TouchedPeople): void {
    const people = new Map<string, Fact>()
    for (const fact of facts) {
      const { orgRow, flowRow, itemRow, occurredAt: at } = fact
      if (itemRow === null) continue
      const person = personOf(fact.userId, fact.anonymousId)
      if (fact.kind === 'item_reopened') {
        this.sql.insertTick.run(orgRow, flowRow, person, itemRow, at, 0)
        continue
      }
      if (fact.kind !== 'item_completed') continue
      const known = this.ticksOf(orgRow, flowRow, person).filter(tick => tick.itemId === itemRow)
      const { after, until } = stretchOf(known, at)
      const inStretch = known.filter(tick => tick.ticked && tick.at > after && tick.at <= until)
      if (inStretch.some(tick => tick.at <= at)) continue
      for (const later of inStretch) {
        this.sql.deleteTick.run(orgRow, flowRow, person, itemRow, later.at)
      }
      this.sql.insertTick.run(orgRow, flowRow, person, itemRow, at, 1)
      people.set(`${flowRow} ${person}`, fact)
    }
    for (const fact of people.values()) this.completeByChecklist(fact, touched)
  }

  private completeByChecklist(fact: Fact, touched: TouchedPeople): void {
    const { orgRow, flowRow } = fact
    const person = personOf(fact.userId, fact.anonymousId)
    const { versions } = this.historyOf(orgRow, flowRow)
    const at = checklistCompletedAt(this.ticksOf(orgRow, flowRow, person), when => {
      const current = versionAt(versions, when)
      return versions.find(version => version.version === current)?.itemRows ?? []
    })
    const known = this.sql.completion.get(orgRow, flowRow, person)
    const before = known?.checklist_at ?? null
    if (at === before) return
    // An earlier tick that arrives late can move the moment either way, or take it away: a first
    // tick may fall under a version with other items.
    const reportedAt = known?.reported_at ?? null
    if (at === null && reportedAt === null) {
      this.sql.deleteCompletion.run(orgRow, flowRow, person)
    } else {
      this.sql.setCompletion.run(orgRow, flowRow, person, reportedAt, at)
    }
    if (before !== null) {
      this.loose.removeChecklistCompletion(orgRow, flowRow, person, before)
      touched.touch(orgRow, flowRow, person, before).hadLoose = true
    }
    if (at !== null) {
      this.loose.add(orgRow, flowRow, person, { at, opens: false, completes: true })
      touched.touch(orgRow, flowRow, person, at)
    }
  }
}

/** The stretch between two takings back that a tick falls into: (after, until]. */
function stretchOf(ticks: readonly Tick[], at: number): { after: number; until: number } {
  let after = Number.NEGATIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  for (const tick of ticks) {
    if (tick.ticked) continue
    if (tick.at < at) after = Math.max(after, tick.at)
    else until = Math.min(until, tick.at)
  }
  return { after, until }
}
