import type { Database } from 'bun:sqlite'
import { checklistCompletedAt, type Tick } from '../core/checklist.ts'
import { personOf } from '../core/event.ts'
import {
  isLoose,
  least,
  makesNoRun,
  mergeRuns,
  ownRunKey,
  personOfRun,
  type RunEvent,
  type RunState,
  runKeyOf,
  runOfEvent,
  versionAt,
} from '../core/run.ts'
import { packSteps, unpackSteps } from './run-rows.ts'

/** An event of a flow that has just been stored (or is read again by a rebuild). */
export interface Fact extends RunEvent {
  orgRow: number
  flowRow: number
  itemRow: number | null
  /** Ticked by a custom event: such a tick makes no run. */
  byCustomEvent: boolean
}

/** The history of a flow's versions, as far as runs and checklists depend on it. */
export interface FlowHistory {
  versions: readonly { version: number; publishedAt: number; itemRows: readonly number[] }[]
}

interface StoredRun {
  id: number
  person: string
  least_user_id: string | null
  least_anonymous_id: string | null
  started_at: number
  last_at: number
  named_version: number | null
  completed_at: number | null
  dismissed_at: number | null
  steps: string
  own_started_at: number | null
  own_completed_at: number | null
}

/** One person in one flow, and the moments at which their runs' order may have changed. */
interface Touched {
  orgRow: number
  flowRow: number
  person: string
  moments: Set<number>
  /** A loose fact was taken away: there is something to do even if none is left. */
  hadLoose: boolean
}

type Touch = (orgRow: number, flowRow: number, person: string, at: number) => Touched

function statements(database: Database) {
  return {
    run: database.query<StoredRun, [number, number, string]>(
      `select id, person, least_user_id, least_anonymous_id, started_at, last_at, named_version,
        completed_at, dismissed_at, steps, own_started_at, own_completed_at
      from runs where org_id = ? and flow_id = ? and run_key = ?`,
    ),
    insertRun: database.query(
      `insert into runs (org_id, flow_id, run_key, person, least_user_id, least_anonymous_id,
        started_at, last_at, named_version, version, completed_at, dismissed_at, steps,
        own_started_at, own_completed_at)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    updateRun: database.query(
      `update runs set person = ?, least_user_id = ?, least_anonymous_id = ?, started_at = ?,
        last_at = ?, named_version = ?, version = ?, completed_at = ?, dismissed_at = ?, steps = ?,
        own_started_at = ?, own_completed_at = ?
      where org_id = ? and flow_id = ? and run_key = ?`,
    ),
    deleteRun: database.query('delete from runs where org_id = ? and flow_id = ? and run_key = ?'),
    insertLoose: database.query(
      `insert into loose_facts (org_id, flow_id, person, at, opens, completes)
      values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
    ),
    deleteLoose: database.query(
      `delete from loose_facts where org_id = ? and flow_id = ? and person = ? and at = ?
        and opens = 0 and completes = 1`,
    ),
    hasLoose: database.query<{ found: number }, [number, number, string]>(
      `select 1 as found from loose_facts where org_id = ? and flow_id = ? and person = ? limit 1`,
    ),
    firstOpening: database.query<{ at: number | null }, [number, number, string]>(
      `select min(at) as at from loose_facts
      where org_id = ? and flow_id = ? and person = ? and opens = 1`,
    ),
    firstStart: database.query<{ at: number | null }, [number, number, string, string]>(
      `select min(started_at) as at from runs
      where org_id = ? and flow_id = ? and person = ? and run_key <> ?`,
    ),
    runsAt: database.query<{ run_key: string }, [number, number, string, number]>(
      `select run_key from runs
      where org_id = ? and flow_id = ? and person = ? and started_at = ?`,
    ),
    runBefore: database.query<{ run_key: string }, [number, number, string, number]>(
      `select run_key from runs
      where org_id = ? and flow_id = ? and person = ? and started_at < ?
      order by started_at desc, run_key desc limit 1`,
    ),
    nextStart: database.query<
      { started_at: number },
      [number, number, string, number, number, string]
    >(
      `select started_at from runs
      where org_id = ? and flow_id = ? and person = ? and started_at >= ?
        and (started_at > ? or run_key > ?)
      order by started_at limit 1`,
    ),
    looseCompletion: database.query<
      { at: number | null },
      [number, number, string, number, number]
    >(
      `select min(at) as at from loose_facts
      where org_id = ? and flow_id = ? and person = ? and completes = 1 and at >= ? and at < ?`,
    ),
    setCompleted: database.query(
      `update runs set completed_at = ? where org_id = ? and flow_id = ? and run_key = ?`,
    ),
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

const forever = Number.MAX_SAFE_INTEGER

/**
 * Keeps the projections of the ledger, inside the transaction that stores the events.
 *
 * Runs are joined from their own events. Completions and ticks without run or session are kept
 * beside them and assigned by time: a run gets the first loose completion between its start and
 * the start of the person's next run, so a change of one run's start touches only its neighbours.
 */
export class Projector {
  private readonly sql: ReturnType<typeof statements>

  constructor(
    database: Database,
    private readonly historyOf: (orgRow: number, flowRow: number) => FlowHistory,
  ) {
    this.sql = statements(database)
  }

  /** Adds facts to the projections. Must run in the transaction that stored them, once for each. */
  project(facts: readonly Fact[]): void {
    const touched = new Map<string, Touched>()
    const touch: Touch = (orgRow, flowRow, person, at) => {
      const key = `${flowRow} ${person}`
      const known = touched.get(key) ?? {
        orgRow,
        flowRow,
        person,
        moments: new Set(),
        hadLoose: false,
      }
      touched.set(key, known)
      known.moments.add(at)
      return known
    }
    const runs = new Map<string, { fact: Fact; key: string; state: RunState }>()
    for (const fact of facts) {
      if (makesNoRun(fact.kind) || fact.byCustomEvent || isLoose(fact)) continue
      const key = runKeyOf(fact)
      const known = runs.get(`${fact.flowRow} ${key}`)
      if (known) known.state = mergeRuns(known.state, runOfEvent(fact))
      else runs.set(`${fact.flowRow} ${key}`, { fact, key, state: runOfEvent(fact) })
    }
    for (const { fact, key, state } of runs.values()) this.joinRun(fact, key, state, touch)
    this.addLooseFacts(facts, touch)
    this.addTicks(facts, touch)
    for (const one of touched.values()) this.assignLooseFacts(one)
  }

  /** Since when each item stands ticked or not, and all that ever happened to a person's items. */
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

  /** When the run that a completion would belong to was first completed; null where it was not. */
  runCompletedAt(
    orgRow: number,
    flowRow: number,
    completion: { person: string; runId: string | null; at: number },
  ): number | null {
    const key =
      completion.runId === null
        ? this.sql.runBefore.get(orgRow, flowRow, completion.person, completion.at + 1)?.run_key
        : `r${completion.runId}`
    return (key && this.sql.run.get(orgRow, flowRow, key)?.completed_at) || null
  }

  private joinRun({ orgRow, flowRow }: Fact, key: string, state: RunState, touch: Touch): void {
    const stored = this.sql.run.get(orgRow, flowRow, key)
    if (!stored) {
      const person = personOfRun(state)
      this.insertRun(orgRow, flowRow, key, person, state, state.startedAt)
      touch(orgRow, flowRow, person, state.startedAt)
      return
    }
    // A run that only loose facts opened has no state of its own yet.
    const joined =
      stored.own_started_at === null
        ? state
        : mergeRuns(state, {
            leastUserId: stored.least_user_id,
            leastAnonymousId: stored.least_anonymous_id,
            startedAt: stored.own_started_at,
            lastAt: stored.last_at,
            namedVersion: stored.named_version,
            completedAt: stored.own_completed_at,
            dismissedAt: stored.dismissed_at,
            steps: unpackSteps(stored.steps),
          })
    const person = personOfRun(joined)
    const moved = person !== stored.person || joined.startedAt !== stored.own_started_at
    const startedAt = moved ? joined.startedAt : stored.started_at
    const completedAt = moved ? joined.completedAt : least(joined.completedAt, stored.completed_at)
    this.sql.updateRun.run(
      person,
      joined.leastUserId,
      joined.leastAnonymousId,
      startedAt,
      joined.lastAt,
      joined.namedVersion,
      this.versionOf(orgRow, flowRow, joined.namedVersion, startedAt),
      completedAt,
      joined.dismissedAt,
      packSteps(joined.steps),
      joined.startedAt,
      joined.completedAt,
      orgRow,
      flowRow,
      key,
    )
    if (!moved) return
    touch(orgRow, flowRow, stored.person, stored.started_at)
    touch(orgRow, flowRow, person, startedAt)
  }

  private insertRun(
    orgRow: number,
    flowRow: number,
    key: string,
    person: string,
    state: RunState,
    ownStartedAt: number | null,
  ): void {
    this.sql.insertRun.run(
      orgRow,
      flowRow,
      key,
      person,
      state.leastUserId,
      state.leastAnonymousId,
      state.startedAt,
      state.lastAt,
      state.namedVersion,
      this.versionOf(orgRow, flowRow, state.namedVersion, state.startedAt),
      state.completedAt,
      state.dismissedAt,
      packSteps(state.steps),
      ownStartedAt,
      state.completedAt,
    )
  }

  private versionOf(orgRow: number, flowRow: number, named: number | null, at: number): number {
    return named ?? versionAt(this.historyOf(orgRow, flowRow).versions, at)
  }

  private addLooseFacts(facts: readonly Fact[], touch: Touch): void {
    for (const fact of facts) {
      const { orgRow, flowRow, occurredAt: at } = fact
      const person = personOf(fact.userId, fact.anonymousId)
      if (fact.kind === 'flow_completed') {
        const known = this.sql.completion.get(orgRow, flowRow, person)
        const reportedAt = least(known?.reported_at ?? null, at)
        if (reportedAt !== known?.reported_at) {
          this.sql.setCompletion.run(
            orgRow,
            flowRow,
            person,
            reportedAt,
            known?.checklist_at ?? null,
          )
        }
      }
      if (!isLoose(fact) || fact.byCustomEvent) continue
      const completes = fact.kind === 'flow_completed' ? 1 : 0
      this.sql.insertLoose.run(orgRow, flowRow, person, at, 1, completes)
      touch(orgRow, flowRow, person, at)
    }
  }

  /**
   * Between two takings back only an item's first tick counts, so no other is kept. (A taking back
   * is always later than all that was stored before it: nothing can split such a stretch later.)
   */
  private addTicks(facts: readonly Fact[], touch: Touch): void {
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
    for (const fact of people.values()) this.completeByChecklist(fact, touch)
  }

  private completeByChecklist(fact: Fact, touch: Touch): void {
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
      this.sql.deleteLoose.run(orgRow, flowRow, person, before)
      touch(orgRow, flowRow, person, before).hadLoose = true
    }
    if (at !== null) {
      this.sql.insertLoose.run(orgRow, flowRow, person, at, 0, 1)
      touch(orgRow, flowRow, person, at)
    }
  }

  private assignLooseFacts({ orgRow, flowRow, person, moments, hadLoose }: Touched): void {
    if (!hadLoose && !this.sql.hasLoose.get(orgRow, flowRow, person)) return
    this.openOwnRun(orgRow, flowRow, person, moments)
    const keys = new Set<string>()
    for (const moment of moments) {
      // All that start at the moment: of equal starts the greatest key comes last, and a new one
      // may have taken that place. The one before has a new end.
      for (const { run_key } of this.sql.runsAt.all(orgRow, flowRow, person, moment)) {
        keys.add(run_key)
      }
      const before = this.sql.runBefore.get(orgRow, flowRow, person, moment)
      if (before) keys.add(before.run_key)
    }
    for (const key of keys) {
      const run = this.sql.run.get(orgRow, flowRow, key)
      if (!run) continue
      const start = run.started_at
      const end = this.sql.nextStart.get(orgRow, flowRow, person, start, start, key)?.started_at
      const loose = this.sql.looseCompletion.get(orgRow, flowRow, person, start, end ?? forever)
      const completedAt = least(run.own_completed_at, loose?.at ?? null)
      if (completedAt !== run.completed_at) {
        this.sql.setCompleted.run(completedAt, orgRow, flowRow, key)
      }
    }
  }

  /**
   * A person's first loose fact makes their own run (or moves its start back) when no run of
   * theirs had started by then, and unmakes it when one turns up.
   */
  private openOwnRun(orgRow: number, flowRow: number, person: string, moments: Set<number>): void {
    const key = ownRunKey(person)
    const run = this.sql.run.get(orgRow, flowRow, key)
    const ownStart = run?.own_started_at ?? null
    const otherStart = this.sql.firstStart.get(orgRow, flowRow, person, key)?.at ?? null
    const opening = this.sql.firstOpening.get(orgRow, flowRow, person)?.at ?? null
    const firstStart = least(ownStart, otherStart)
    const opens = opening !== null && (firstStart === null || opening < firstStart)
    const start = opens ? opening : ownStart
    if (start === (run?.started_at ?? null)) return
    if (run) moments.add(run.started_at)
    if (start === null) {
      this.sql.deleteRun.run(orgRow, flowRow, key)
      return
    }
    moments.add(start)
    if (!run) {
      const isUser = person.startsWith('u')
      const state: RunState = {
        leastUserId: isUser ? person.slice(1) : null,
        leastAnonymousId: isUser ? null : person.slice(1),
        startedAt: start,
        lastAt: start,
        namedVersion: null,
        completedAt: null,
        dismissedAt: null,
        steps: [],
      }
      this.insertRun(orgRow, flowRow, key, person, state, null)
      return
    }
    this.sql.updateRun.run(
      person,
      run.least_user_id,
      run.least_anonymous_id,
      start,
      ownStart === null ? start : run.last_at,
      run.named_version,
      this.versionOf(orgRow, flowRow, run.named_version, start),
      run.completed_at,
      run.dismissed_at,
      run.steps,
      ownStart,
      run.own_completed_at,
      orgRow,
      flowRow,
      key,
    )
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
