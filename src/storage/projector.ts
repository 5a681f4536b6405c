import type { Database } from 'bun:sqlite'
import { personOf } from '../core/event.ts'
import {
  addEvent,
  isLoose,
  least,
  makesNoRun,
  type RunState,
  runKeyOf,
  runOfEvent,
} from '../core/run.ts'
import { CompletionTable } from './completion-table.ts'
import type { Fact, HistoryOf } from './facts.ts'
import type { RowIndex } from './hash-index/row-index.ts'
import { LooseFacts } from './loose-facts.ts'
import { ownStateOf, type RunChanges, RunTable, type StoredRun, toNobody } from './run-table.ts'
import { type PersonInFlow, TickTable } from './tick-table.ts'
import { TouchedPeople } from './touched.ts'

/**
 * Keeps the projections of the ledger, inside the transaction that stores the events: runs joined
 * from their own events, ticks and completions by person, and loose facts assigned to runs.
 */
export class Projector {
  private readonly runs: RunTable
  private readonly completions: CompletionTable
  private readonly loose: LooseFacts
  readonly ticks: TickTable
  private readonly indexes: readonly RowIndex[]

  /**
   * @param changes is told of every run that changes, within the transaction
   * @param indexes those of the database where none are given
   */
  constructor(
    database: Database,
    historyOf: HistoryOf,
    private readonly changes: RunChanges = toNobody,
    indexes?: { runs: RowIndex; completions: RowIndex },
  ) {
    this.runs = new RunTable(database, historyOf, changes, indexes?.runs)
    this.completions = new CompletionTable(database, indexes?.completions)
    this.loose = new LooseFacts(database, this.runs)
    this.ticks = new TickTable(database, historyOf, this.loose)
    this.indexes = [this.runs.index, this.completions.index]
  }

  /** Another process has written: maybe to the projections. */
  othersWrote(): void {
    this.loose.forget()
    for (const index of this.indexes) index.othersWrote()
  }

  /** The last thing in a transaction. */
  beforeCommit(): void {
    for (const index of this.indexes) index.beforeCommit()
  }

  /** In the last transaction. */
  beforeStop(): void {
    for (const index of this.indexes) index.beforeStop()
  }

  committed(): void {
    for (const index of this.indexes) index.committed()
  }

  /** Where a savepoint stands, for `rolledBackTo`. */
  get mark(): readonly number[] {
    return this.indexes.map(index => index.mark)
  }

  rolledBackTo(mark: readonly number[]): void {
    this.loose.forget()
    for (const [i, index] of this.indexes.entries()) index.takeBack(mark[i]!)
  }

  rolledBack(): void {
    this.loose.forget()
    for (const index of this.indexes) index.rolledBack()
  }

  /** Adds facts to the projections. Must run in the transaction that stored them, once for each. */
  project(facts: readonly Fact[]): void {
    const touched = new TouchedPeople()
    this.joinRuns(facts, touched)
    for (const fact of facts) {
      if (fact.kind === 'flow_completed') this.addCompletion(fact)
      if (isLoose(fact) && !fact.byCustomEvent) this.addLoose(fact, touched)
    }
    const tickers = this.ticks.addTicks(facts, touched)
    for (const person of touched) this.loose.assign(person)
    for (const ticker of tickers) this.tellOfTicks(ticker)
  }

  /** Takes over that a person has completed a flow, from elsewhere than the ledger. */
  keepCompletion(orgRow: number, flowRow: number, person: string, at: number): void {
    this.completions.add(orgRow, flowRow, person, at)
  }

  /** Takes over what runs' own events said; loose facts are assigned to them anew. */
  keepRuns(runs: readonly StoredRun[]): void {
    // Loose facts may have been taken over behind its back.
    this.loose.forget()
    const touched = new TouchedPeople()
    for (const run of runs) {
      this.runs.join(run.org_id, run.flow_id, run.run_key, ownStateOf(run), touched)
    }
    for (const person of touched) this.loose.assign(person)
  }

  /** Assigns loose facts that were taken over, of people of whom there may be nothing else. */
  assignLoose(
    orgRow: number,
    flowRow: number,
    moments: readonly { person: string; at: number }[],
  ): void {
    this.loose.forget()
    const touched = new TouchedPeople()
    for (const { person, at } of moments) touched.touch(orgRow, flowRow, person, at)
    for (const person of touched) this.loose.assign(person)
  }

  /** When a person first completed a flow, by a report or by the checklist. */
  completedAt(orgRow: number, flowRow: number, person: string): number | null {
    return least(
      this.completions.firstAt(orgRow, flowRow, person),
      this.ticks.checklistAt(orgRow, flowRow, person),
    )
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
    const reportedAt = this.completedAt(orgRow, flowRow, person)
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

  private addCompletion({ orgRow, flowRow, userId, anonymousId, occurredAt }: Fact): void {
    this.completions.add(orgRow, flowRow, personOf(userId, anonymousId), occurredAt)
  }

  /** What a person ticks is said of all their runs. */
  private tellOfTicks({ orgRow, flowRow, person }: PersonInFlow): void {
    if (!this.changes.has(orgRow, flowRow)) return
    for (const at of this.runs.startsOf(orgRow, flowRow, person)) {
      this.changes.touch(orgRow, flowRow, at)
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
