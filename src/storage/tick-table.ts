import type { Database } from 'bun:sqlite'
import { checklistCompletedAt, type Tick } from '../core/checklist.ts'
import { needsItem, personOf } from '../core/event.ts'
import { versionAt } from '../core/run.ts'
import type { Fact, HistoryOf } from './facts.ts'
import type { LooseFacts } from './loose-facts.ts'
import type { TouchedPeople } from './touched.ts'

export interface PersonInFlow {
  orgRow: number
  flowRow: number
  person: string
}

interface ProgressRow {
  checklist_at: number | null
  last_tick_at: number | null
}

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
    progress: database.query<ProgressRow, [number, number, string]>(
      `select checklist_at, last_tick_at from progress
      where org_id = ? and flow_id = ? and person = ?`,
    ),
    setProgress: database.query(
      `insert into progress (org_id, flow_id, person, checklist_at, last_tick_at)
      values (?, ?, ?, ?, ?)
      on conflict do update set checklist_at = excluded.checklist_at,
        last_tick_at = excluded.last_tick_at`,
    ),
    latestOf: database.query<{ ticked: number }, [number, number, string, number, number]>(
      `select ticked from ticks
      where org_id = ? and flow_id = ? and person = ? and item_id = ? and at <= ?
      order by at desc, ticked limit 1`,
    ),
  }
}

/** Who has ticked what, and when that first completed a flow for them. */
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

  /** Whether an item stood ticked at a moment, so that ticking it then again says nothing. */
  isTicked(orgRow: number, flowRow: number, person: string, itemRow: number, at: number): boolean {
    return this.sql.latestOf.get(orgRow, flowRow, person, itemRow, at)?.ticked === 1
  }

  /** The latest tick or taking back of any item; null where there is none. */
  lastTickAt(orgRow: number, flowRow: number, person: string): number | null {
    return this.progressOf(orgRow, flowRow, person).last_tick_at
  }

  /** When the ticks first completed a flow for a person. */
  checklistAt(orgRow: number, flowRow: number, person: string): number | null {
    return this.progressOf(orgRow, flowRow, person).checklist_at
  }

  /**
   * Between two takings back only an item's first tick counts, so no other is kept. (A taking back
   * is always later than all that was stored before it: nothing can split such a stretch later.)
   *
   * @returns people of whom analytics say something else now: an item that they had never ticked, or
   *   whether they ever completed the checklist
   */
  addTicks(facts: readonly Fact[], touched: TouchedPeople): PersonInFlow[] {
    const people = Map.groupBy(
      facts.filter(({ kind }) => needsItem(kind)),
      fact => `${fact.flowRow} ${personOf(fact.userId, fact.anonymousId)}`,
    )
    return [...people.values()].flatMap(ofPerson => this.addTicksOfPerson(ofPerson, touched) ?? [])
  }

  private addTicksOfPerson(facts: readonly Fact[], touched: TouchedPeople): PersonInFlow | null {
    const [{ orgRow, flowRow, userId, anonymousId }] = facts as [Fact]
    const person = personOf(userId, anonymousId)
    let ticks = this.ticksOf(orgRow, flowRow, person)
    const itemsBefore = itemsIn(ticks)
    for (const { kind, itemRow, occurredAt: at } of facts) {
      const itemId = itemRow as number
      if (kind === 'item_reopened') {
        this.sql.insertTick.run(orgRow, flowRow, person, itemId, at, 0)
        ticks.push({ itemId, at, ticked: false })
        continue
      }
      const { after, until } = stretchOf(ticks, itemId, at)
      const isInStretch = (tick: Tick) =>
        tick.itemId === itemId && tick.ticked && tick.at > after && tick.at <= until
      const inStretch = ticks.filter(isInStretch)
      if (inStretch.some(tick => tick.at <= at)) continue
      for (const later of inStretch) {
        this.sql.deleteTick.run(orgRow, flowRow, person, itemId, later.at)
      }
      this.sql.insertTick.run(orgRow, flowRow, person, itemId, at, 1)
      ticks = [...ticks.filter(tick => !isInStretch(tick)), { itemId, at, ticked: true }]
    }
    const known = this.progressOf(orgRow, flowRow, person)
    const lastTickAt = Math.max(known.last_tick_at ?? 0, ...facts.map(fact => fact.occurredAt))
    const checklistAt = this.checklistCompletedAt(orgRow, flowRow, ticks)
    this.sql.setProgress.run(orgRow, flowRow, person, checklistAt, lastTickAt)
    this.moveChecklistCompletion(
      { orgRow, flowRow, person, before: known.checklist_at, now: checklistAt },
      touched,
    )
    const isSaidAnew =
      itemsIn(ticks) > itemsBefore || (known.checklist_at === null) !== (checklistAt === null)
    return isSaidAnew ? { orgRow, flowRow, person } : null
  }

  private checklistCompletedAt(orgRow: number, flowRow: number, ticks: Tick[]): number | null {
    const { versions } = this.historyOf(orgRow, flowRow)
    return checklistCompletedAt(ticks, when => {
      const current = versionAt(versions, when)
      return versions.find(({ version }) => version === current)?.itemRows ?? []
    })
  }

  /**
   * An earlier tick that arrives late can move the moment either way, or take it away: a first
   * tick may fall under a version with other items.
   */
  private moveChecklistCompletion(
    move: {
      orgRow: number
      flowRow: number
      person: string
      before: number | null
      now: number | null
    },
    touched: TouchedPeople,
  ): void {
    const { orgRow, flowRow, person, before, now } = move
    if (now === before) return
    if (before !== null) {
      this.loose.removeChecklistCompletion(orgRow, flowRow, person, before)
      touched.touch(orgRow, flowRow, person, before)
    }
    if (now !== null) {
      this.loose.add(orgRow, flowRow, person, { at: now, opens: false, completes: true })
      touched.touch(orgRow, flowRow, person, now)
    }
  }

  private progressOf(orgRow: number, flowRow: number, person: string): ProgressRow {
    return (
      this.sql.progress.get(orgRow, flowRow, person) ?? { checklist_at: null, last_tick_at: null }
    )
  }
}

/** How many items were ever ticked. */
const itemsIn = (ticks: readonly Tick[]): number =>
  new Set(ticks.filter(({ ticked }) => ticked).map(({ itemId }) => itemId)).size

/** The stretch between two takings back of an item that a tick falls into: (after, until]. */
function stretchOf(
  ticks: readonly Tick[],
  itemId: number,
  at: number,
): { after: number; until: number } {
  let after = Number.NEGATIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  for (const tick of ticks) {
    if (tick.ticked || tick.itemId !== itemId) continue
    if (tick.at < at) after = Math.max(after, tick.at)
    else until = Math.min(until, tick.at)
  }
  return { after, until }
}
