import type { Database } from 'bun:sqlite'
import { namesOf, needsItem, personOf } from '../../../core/event/event.ts'
import { isUnattributed, least, versionAt } from '../../../core/run/run.ts'
import { ChecklistProgress, type PersonInFlow } from '../checklists/checklist-progress.ts'
import { CompletionTable } from '../checklists/completion-table.ts'
import { ChecklistCompletions } from '../checklists/completions.ts'
import { pairKeyOf, RunPeople } from '../runs/run-people.ts'
import { type RunChanges, RunTable } from '../runs/run-table.ts'
import { ownStateOf, type StoredRun } from '../runs/stored-run.ts'
import { TouchedPeople } from '../runs/touched-people.ts'
import type { Fact, HistoryOf } from './facts.ts'
import { JoinedFacts, type JoinedRun, namedIn, pairOfFact, personOfFact } from './joined-facts.ts'
import { UnattributedEvents } from './unattributed-events.ts'

/**
 * Keeps the projections of the ledger: runs joined from their own events, ticks and completions by person,
 * and what is assigned to runs: unattributed events, and checklists that ticks have completed. A fact that
 * is projected twice counts once, and the order makes no difference.
 */
export class Projector {
  private readonly runs: RunTable
  private readonly completions: CompletionTable
  private readonly unattributed: UnattributedEvents
  private readonly people: RunPeople
  private readonly hold
  private readonly byChecklist: ChecklistCompletions
  readonly progress: ChecklistProgress

  /**
   * @param changes called with every run that changes, within the transaction
   */
  constructor(
    database: Database,
    private readonly historyOf: HistoryOf,
    private readonly changes: RunChanges,
  ) {
    this.runs = new RunTable(database, historyOf, changes)
    this.completions = new CompletionTable(database)
    this.unattributed = new UnattributedEvents(database, this.runs)
    this.people = new RunPeople(database)
    this.hold = database.query(
      `insert into held_out (org_id, flow_id, person, version, at) values (?, ?, ?, ?, ?)
      on conflict do update set at = min(at, excluded.at)`,
    )
    const { partyOf } = this.people
    this.byChecklist = new ChecklistCompletions(database, this.runs, this.unattributed, partyOf)
    this.progress = new ChecklistProgress(database, historyOf, partyOf, this.byChecklist)
  }

  /** Adds facts to the projections, within a transaction. */
  project(facts: readonly Fact[]): void {
    const joined = new JoinedFacts()
    for (const fact of facts) joined.add(fact)
    for (const { runs, others } of joined.parts(Number.POSITIVE_INFINITY)) {
      this.projectJoined(runs, others)
    }
  }

  /**
   * Adds joined facts to the projections, within a transaction.
   *
   * @returns everybody whose progress may have changed
   */
  projectJoined(runs: readonly JoinedRun[], others: readonly Fact[]): PersonInFlow[] {
    const touched = new TouchedPeople()
    const concerned = new TouchedPeople()
    for (const run of runs) this.joinRun(run, touched, concerned)
    for (const fact of others) {
      if (fact.kind === 'flow_completed') this.addCompletion(fact)
      if (fact.kind === 'flow_held_out') this.addHeldOut(fact)
      if (isUnattributed(fact) && !fact.byCustomEvent) {
        this.addUnattributed(fact, touched, concerned)
      }
    }
    const ticks = others.filter(({ kind }) => needsItem(kind))
    for (const { orgRow, flowRow, person } of ticks.length > 0 ? this.progress.add(ticks) : []) {
      concerned.touchAll(orgRow, flowRow, this.people.partyOf(orgRow, flowRow, person))
    }
    this.assign(touched, concerned)
    const completions = others.filter(({ kind }) => kind === 'flow_completed')
    const completers = completions.map(fact => ({
      orgRow: fact.orgRow,
      flowRow: fact.flowRow,
      person: personOfFact(fact),
    }))
    return [...concerned, ...completers]
  }

  /** Takes over what the runs' own events report; what is assigned to them is assigned anew. */
  keepRuns(runs: readonly StoredRun[]): void {
    const touched = new TouchedPeople()
    for (const run of runs) {
      this.runs.join(run.org_id, run.flow_id, run.run_key, ownStateOf(run), touched)
    }
    this.assign(touched, new TouchedPeople())
  }

  /** Assigns what was taken over for people who may have no run: unattributed events, and ticks. */
  assignKept(
    orgRow: number,
    flowRow: number,
    moments: readonly { person: string; at: number }[],
    tickers: readonly string[],
  ): void {
    const touched = new TouchedPeople()
    for (const { person, at } of moments) touched.touch(orgRow, flowRow, person, at)
    const concerned = new TouchedPeople()
    for (const person of tickers) {
      concerned.touchAll(orgRow, flowRow, this.people.partyOf(orgRow, flowRow, person))
    }
    this.assign(touched, concerned)
  }

  /** When a person first completed a flow, by a report or by the checklist. */
  completedAt(orgRow: number, flowRow: number, person: string): number | null {
    return least(
      this.completions.firstAt(orgRow, flowRow, person),
      this.progress.checklistAt(orgRow, flowRow, person),
    )
  }

  /**
   * Whether a completion that says the same is stored already: one of the same run that is no later or, if
   * no run is named, one of the same person at the very same moment. (A run that could get it may yet
   * arrive.)
   */
  isCompletionKnown(
    orgRow: number,
    flowRow: number,
    completion: { person: string; runId: string | null; at: number },
  ): boolean {
    const { person, runId, at } = completion
    if (runId === null) return this.unattributed.hasCompletion(orgRow, flowRow, person, at)
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

  /** Whether a flow ever had a checklist, whose ticks may complete its runs. */
  private hasChecklist({ orgRow, flowRow }: Pick<PersonInFlow, 'orgRow' | 'flowRow'>): boolean {
    return this.historyOf(orgRow, flowRow).versions.some(({ itemRefs }) => itemRefs.length > 0)
  }

  /**
   * Assigns to runs what their own events do not say.
   *
   * @param touched people whose runs have changed
   * @param concerned people whose ticks, or whose party, have changed
   */
  private assign(touched: TouchedPeople, concerned: TouchedPeople): void {
    const withTicks = [...concerned].filter(person => this.progress.tell(person))
    for (const person of touched) this.unattributed.assign(person)
    const ofChecklists = [...touched, ...concerned].filter(person => this.hasChecklist(person))
    for (const { orgRow, flowRow, person } of ofChecklists) {
      this.byChecklist.reassign(orgRow, flowRow, person)
    }
    if (ofChecklists.length > 0) this.byChecklist.settle()
    for (const person of withTicks) this.tellOfTicks(person)
  }

  private joinRun(run: JoinedRun, touched: TouchedPeople, concerned: TouchedPeople): void {
    const { orgRow, flowRow, key, person, state, others, pairs } = run
    const before = this.runs.join(orgRow, flowRow, key, state, touched)
    if (others === null && pairs === null && before.person === person) return
    for (const [pairKey, pair] of pairs ?? []) {
      this.joinPeople(orgRow, flowRow, pairKey, new Set(pair), concerned)
    }
    const people = new Set([person, before.person, ...(others ?? [])])
    const idsBefore = { userId: before.least_user_id, anonymousId: before.least_anonymous_id }
    const named = namedIn(run)
      .union(people)
      .union(new Set(namesOf(idsBefore)))
    // A run of one person, and of one id beside them, says no more than its pairs.
    const isShared = people.size > 1 || named.size > 2 || this.people.has(orgRow, flowRow, key)
    if (isShared) this.joinPeople(orgRow, flowRow, key, named, concerned)
  }

  /** Notes whom a run or an event names. */
  private joinPeople(
    orgRow: number,
    flowRow: number,
    key: string,
    people: ReadonlySet<string>,
    concerned: TouchedPeople,
  ): void {
    const mayMatter = () => this.progress.hasAny(orgRow, flowRow)
    concerned.touchAll(orgRow, flowRow, this.people.add(orgRow, flowRow, key, people, mayMatter))
  }

  private addCompletion({ orgRow, flowRow, userId, anonymousId, occurredAt }: Fact): void {
    this.completions.add(orgRow, flowRow, personOf(userId, anonymousId), occurredAt)
  }

  /** For the version that the event names, otherwise for the one that was published then. */
  private addHeldOut(fact: Fact): void {
    const { orgRow, flowRow, flowVersion, occurredAt: at } = fact
    const version = flowVersion ?? versionAt(this.historyOf(orgRow, flowRow).versions, at)
    this.hold.run(orgRow, flowRow, personOfFact(fact), version, at)
  }

  /** Reports all of a person's runs as changed, because each of them shows what the person ticks. */
  private tellOfTicks({ orgRow, flowRow, person }: PersonInFlow): void {
    if (!this.changes.has(orgRow, flowRow)) return
    for (const at of this.runs.startsOf(orgRow, flowRow, person)) {
      this.changes.touch(orgRow, flowRow, at)
    }
  }

  private addUnattributed(fact: Fact, touched: TouchedPeople, concerned: TouchedPeople): void {
    const { orgRow, flowRow, occurredAt: at } = fact
    const person = personOfFact(fact)
    const completes = fact.kind === 'flow_completed'
    this.unattributed.add(orgRow, flowRow, person, { at, completes, version: fact.flowVersion })
    touched.touch(orgRow, flowRow, person, at)
    const pair = pairOfFact(fact)
    if (pair) this.joinPeople(orgRow, flowRow, pairKeyOf(pair), new Set(pair), concerned)
  }
}
