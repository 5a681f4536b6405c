import type { Database } from 'bun:sqlite'
import { personOf } from '../../../core/event/event.ts'
import { checklistHistory, type Tick } from '../../../core/run/checklist.ts'
import { runKeyOf, versionAt } from '../../../core/run/run.ts'
import type { Fact, HistoryOf } from '../projections/facts.ts'
import type { PartyOf } from '../runs/run-people.ts'
import type { ChecklistCompletions } from './completions.ts'

export interface PersonInFlow {
  orgRow: number
  flowRow: number
  person: string
}

interface ProgressRow {
  checklist_at: number | null
  last_tick_at: number | null
  items: string
}

const noProgress: ProgressRow = { checklist_at: null, last_tick_at: null, items: '' }

function statements(database: Database) {
  const ofPerson = 'org_id = ? and flow_id = ? and person = ?'
  return {
    hasAny: database.query<{ found: number }, [number, number]>(
      'select 1 as found from ticks where org_id = ? and flow_id = ? limit 1',
    ),
    putTick: database.query(
      `insert into ticks (org_id, flow_id, person, item_id, at, ticked, run_key)
      values (?, ?, ?, ?, ?, ?, ?) on conflict do update set run_key = excluded.run_key`,
    ),
    deleteTick: database.query(`delete from ticks where ${ofPerson} and item_id = ? and at = ?
      and ticked = 1`),
    progress: database.query<ProgressRow, [number, number, string]>(
      `select checklist_at, last_tick_at, items from progress where ${ofPerson}`,
    ),
    setProgress: database.query(
      `insert into progress (org_id, flow_id, person, checklist_at, last_tick_at, items)
      values (?, ?, ?, ?, ?, ?)
      on conflict do update set checklist_at = excluded.checklist_at,
        last_tick_at = excluded.last_tick_at, items = excluded.items`,
    ),
    deleteProgress: database.query(`delete from progress where ${ofPerson}`),
    latestOf: database.query<{ ticked: number }, [number, number, string, number, number]>(
      `select ticked from ticks
      where ${ofPerson} and item_id = ? and at <= ? order by at desc, ticked limit 1`,
    ),
  }
}

/** The ticks and takings back of one person alone, as far as they still count. */
export function ticksReader(database: Database) {
  const query = database.query<
    { item_id: number; at: number; ticked: number; run_key: string },
    [number, number, string]
  >(
    `select item_id, at, ticked, run_key from ticks
    where org_id = ? and flow_id = ? and person = ?`,
  )
  return (orgRow: number, flowRow: number, person: string): Tick[] =>
    query.all(orgRow, flowRow, person).map(({ item_id, at, ticked, run_key }) => ({
      person,
      itemId: item_id,
      at,
      ticked: ticked === 1,
      runKey: run_key,
    }))
}

/** Who ticked what, and what follows for them and for everybody whose ticks count together with theirs. */
export class ChecklistProgress {
  private readonly sql: ReturnType<typeof statements>
  private readonly ticksOf

  constructor(
    database: Database,
    private readonly historyOf: HistoryOf,
    private readonly partyOf: PartyOf,
    private readonly completions: ChecklistCompletions,
  ) {
    this.sql = statements(database)
    this.ticksOf = ticksReader(database)
  }

  /** Whether a person's item was ticked at a moment, so that ticking it again at that moment changes nothing. */
  isTicked(orgRow: number, flowRow: number, person: string, itemRow: number, at: number): boolean {
    return this.sql.latestOf.get(orgRow, flowRow, person, itemRow, at)?.ticked === 1
  }

  /** The items that are ticked for a person, and whose ticks those are. */
  standing(orgRow: number, flowRow: number, person: string): Map<number, string[]> {
    const standing = new Map<number, string[]>()
    for (const other of this.partyOf(orgRow, flowRow, person)) {
      const { states } = checklistHistory(this.ticksOf(orgRow, flowRow, other), () => [])
      for (const item of states.keys()) standing.set(item, [...(standing.get(item) ?? []), other])
    }
    return standing
  }

  /** The time of the latest tick or taking back that counts for a person; 0 if there is none. */
  lastTickAt(orgRow: number, flowRow: number, person: string): number {
    const last = this.partyOf(orgRow, flowRow, person).map(
      other => this.progressOf(orgRow, flowRow, other).last_tick_at ?? 0,
    )
    return Math.max(...last)
  }

  /** When the ticks first completed a flow for a person. */
  checklistAt(orgRow: number, flowRow: number, person: string): number | null {
    return this.progressOf(orgRow, flowRow, person).checklist_at
  }

  /** Whether a flow has any ticks; otherwise nothing depends on whose ticks count together. */
  hasAny(orgRow: number, flowRow: number): boolean {
    return this.sql.hasAny.get(orgRow, flowRow) !== null
  }

  /**
   * Stores ticks and takings back. Between two takings back only an item's first tick counts, so no
   * other is kept. (A taking back is always later than everything stored before it, so that nothing can
   * split such a stretch later.)
   *
   * @returns who has ticked
   */
  add(facts: readonly Fact[]): PersonInFlow[] {
    const people = Map.groupBy(
      facts,
      fact => `${fact.flowRow} ${personOf(fact.userId, fact.anonymousId)}`,
    )
    return [...people.values()].map(ofPerson => this.addOfPerson(ofPerson))
  }

  private addOfPerson(facts: readonly Fact[]): PersonInFlow {
    const [{ orgRow, flowRow, userId, anonymousId }] = facts as [Fact]
    const person = personOf(userId, anonymousId)
    let ticks = this.ticksOf(orgRow, flowRow, person)
    for (const fact of facts) {
      const { kind, itemRow, occurredAt: at } = fact
      const itemId = itemRow as number
      if (kind === 'item_reopened') {
        this.sql.putTick.run(orgRow, flowRow, person, itemId, at, 0, '')
        ticks.push({ person, itemId, at, ticked: false, runKey: '' })
        continue
      }
      const tick = { person, itemId, at, ticked: true, runKey: namedRun(fact) }
      const { after, until } = stretchOf(ticks, itemId, at)
      const isInStretch = (other: Tick) =>
        other.itemId === itemId && other.ticked && other.at > after && other.at <= until
      const inStretch = ticks.filter(isInStretch)
      // Of ticks at the same moment, the one with the greatest run key counts.
      if (
        inStretch.some(other => other.at < at || (other.at === at && other.runKey >= tick.runKey))
      )
        continue
      for (const other of inStretch) {
        this.sql.deleteTick.run(orgRow, flowRow, person, itemId, other.at)
      }
      this.sql.putTick.run(orgRow, flowRow, person, itemId, at, 1, tick.runKey)
      ticks = [...ticks.filter(other => !isInStretch(other)), tick]
    }
    const known = this.progressOf(orgRow, flowRow, person)
    const lastTickAt = Math.max(known.last_tick_at ?? 0, ...facts.map(fact => fact.occurredAt))
    if (lastTickAt !== known.last_tick_at) {
      this.setProgress({ orgRow, flowRow, person }, { ...known, last_tick_at: lastTickAt })
    }
    return { orgRow, flowRow, person }
  }

  /**
   * Works out what is ticked for a person, and which passes of the list are theirs.
   *
   * @returns whether analytics now say something different of them: which items were ever ticked, or
   *   whether the list was ever whole
   */
  tell({ orgRow, flowRow, person }: PersonInFlow): boolean {
    const party = this.partyOf(orgRow, flowRow, person)
    const ticks = party.flatMap(other => this.ticksOf(orgRow, flowRow, other))
    const known = this.progressOf(orgRow, flowRow, person)
    if (ticks.length === 0 && known.items === '') return false
    const { versions } = this.historyOf(orgRow, flowRow)
    const { ever, passes } = checklistHistory(ticks, at => {
      const current = versionAt(versions, at)
      return versions.find(({ version }) => version === current)?.itemRefs ?? []
    })
    const now: ProgressRow = {
      checklist_at: passes[0]?.at ?? null,
      last_tick_at: known.last_tick_at,
      items: [...ever].sort((a, b) => a - b).join(),
    }
    const isChanged = now.items !== known.items || now.checklist_at !== known.checklist_at
    if (isChanged) this.setProgress({ orgRow, flowRow, person }, now)
    this.completions.set(
      orgRow,
      flowRow,
      person,
      passes.flatMap(({ at, ticks }) => {
        const own = ticks.filter(tick => tick.person === person).map(({ runKey }) => runKey)
        return own.length === 0 ? [] : { at, named: own.reduce((a, b) => (b > a ? b : a)) }
      }),
    )
    const isWhole = (row: ProgressRow) => row.checklist_at !== null
    return now.items !== known.items || isWhole(now) !== isWhole(known)
  }

  private progressOf(orgRow: number, flowRow: number, person: string): ProgressRow {
    return this.sql.progress.get(orgRow, flowRow, person) ?? noProgress
  }

  private setProgress({ orgRow, flowRow, person }: PersonInFlow, row: ProgressRow): void {
    const { checklist_at, last_tick_at, items } = row
    if (last_tick_at === null && items === '') {
      this.sql.deleteProgress.run(orgRow, flowRow, person)
    } else {
      this.sql.setProgress.run(orgRow, flowRow, person, checklist_at, last_tick_at, items)
    }
  }
}

/** The key of the run that a tick names, as it is stored: empty if it names none. */
const namedRun = (fact: Fact): string =>
  fact.byCustomEvent || (fact.runId === null && fact.sessionId === null) ? '' : runKeyOf(fact)

/** The stretch between two takings back of an item into which a tick falls: (after, until]. */
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
