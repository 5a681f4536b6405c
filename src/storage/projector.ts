import type { Database } from 'bun:sqlite'
import { needsItem, personOf } from '../core/event.ts'
import { addEvent, isLoose, makesNoRun, type RunState, runKeyOf, runOfEvent } from '../core/run.ts'
import type { Fact, HistoryOf } from './facts.ts'
import { LooseFacts } from './loose-facts.ts'
import { type RunChanges, RunTable } from './run-table.ts'
import { TickTable } from './tick-table.ts'
import { TouchedPeople } from './touched.ts'

const toNobody: RunChanges = { touch() {}, has: () => false }

/**
 * Keeps the projections of the ledger, inside the transaction that stores the events: runs joined
 * from their own events, ticks and completions by person, and loose facts assigned to runs.
 */
export class Projector {
  private readonly runs: RunTable
  private readonly loose: LooseFacts
  readonly ticks: TickTable

  /** @param changes is told of every run that changes, within the transaction */
  constructor(
    database: Database,
    historyOf: HistoryOf,
    private readonly changes: RunChanges = toNobody,
  ) {
    this.runs = new RunTable(database, historyOf, changes)
    this.loose = new LooseFacts(database, this.runs)
    this.ticks = new TickTable(database, historyOf, this.loose)
  }

  /** Another process has written to the projections. */
  othersWrote(): void {
    this.loose.othersWrote()
  }

  /** Adds facts to the projections. Must run in the transaction that stored them, once for each. */
  project(facts: readonly Fact[]): void {
    const touched = new TouchedPeople()
    this.joinRuns(facts, touched)
    for (const fact of facts) {
      if (fact.kind === 'flow_completed') this.ticks.addCompletion(fact)
      if (isLoose(fact) && !fact.byCustomEvent) this.addLoose(fact, touched)
    }
    this.ticks.addTicks(facts, touched)
    for (const person of touched) this.loose.assign(person)
    this.tellOfTicks(facts)
  }

  /**
   * Whether a completion is stored already that says the same: of the same run no later, or, where
   * none is named, of the same person at the very moment. (A run that could get it may yet arrive.)
   */
  isCompletionKnown(
    orgRow: number,
    flowRow: number,
    completion: { person: string; runId: string | null; at: number },
  ): boolean {
    const { person, runId, at } = completion
    if (runId === null) return this.loose.hasCompletion(orgRow, flowRow, person, at)
    const run = this.runs.get(orgRow, flowRow, `r${runId}`)
    const reportedAt = this.ticks.completedAt(orgRow, flowRow, person)
    return (
      reportedAt !== null &&
      reportedAt <= at &&
      run !== null &&
      run.own_completed_at !== null &&
      run.own_completed_at <= at
    )
  }

  /** Joins events by run first, so that a run costs one row however many of them arrive. */
  private joinRuns(facts: readonly Fact[], touched: TouchedPeople): void {
    const runs = new Map<string, { fact: Fact; key: string; state: RunState }>()
    for (const fact of facts) {
      if (makesNoRun(fact.kind) || fact.byCustomEvent || isLoose(fact)) continue
      const key = runKeyOf(fact)
      const name = `${fact.flowRow} ${key}`
      const known = runs.get(name)
      if (known) addEvent(known.state, fact)
      else runs.set(name, { fact, key, state: runOfEvent(fact) })
    }
    for (const { fact, key, state } of runs.values()) {
      this.runs.join(fact.orgRow, fact.flowRow, key, state, touched)
    }
  }

  /** What a person ticks is said of all their runs. */
  private tellOfTicks(facts: readonly Fact[]): void {
    for (const { kind, orgRow, flowRow, userId, anonymousId } of facts) {
      if (!needsItem(kind) || !this.changes.has(orgRow, flowRow)) continue
      for (const at of this.runs.startsOf(orgRow, flowRow, personOf(userId, anonymousId))) {
        this.changes.touch(orgRow, flowRow, at)
      }
    }
  }

  private addLoose(fact: Fact, touched: TouchedPeople): void {
    const { orgRow, flowRow, occurredAt: at } = fact
    const person = personOf(fact.userId, fact.anonymousId)
    const completes = fact.kind === 'flow_completed'
    this.loose.add(orgRow, flowRow, person, { at, opens: true, completes })
    touched.touch(orgRow, flowRow, person, at)
  }
}
