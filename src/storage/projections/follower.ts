import type { Database } from 'bun:sqlite'
import { type EventSource, eventSources, needsItem } from '../../core/event/event.ts'
import { runKeyOf } from '../../core/run/run.ts'
import { failpoint } from '../../failpoints.ts'
import type { StoredCatalogue } from '../catalogue/catalogue.ts'
import type { PersonInFlow } from '../checklists/checklist-progress.ts'
import { Participants, TransactionParticipant } from '../engine/participant.ts'
import { inSavepoint } from '../engine/savepoint.ts'
import type { StoredEvent } from '../in-rows.ts'
import { letterText } from '../ledger/dead-letters.ts'
import { type BatchRow, type EventIds, storedText, textIn } from '../ledger/event-batches.ts'
import { decodeEvents, decodeFacts, encodeEvents, isOfFlow } from '../ledger/event-text.ts'
import { type Caused, CausedEvents } from '../people/caused-events.ts'
import type { RunChanges } from '../runs/run-table.ts'
import type { LagBoard, ProgressBoard } from '../shared.ts'
import type { Fact, LedgerFact } from './facts.ts'
import { isInRun, JoinedFacts, type JoinedRun, type Part, personOfFact } from './joined-facts.ts'
import { Projector } from './projector.ts'

/** Whom the follower tells what is behind, and whose progress is another now. */
export interface FollowerBoards {
  /** Epoch milliseconds. */
  now: () => number
  lag: LagBoard
  progress: ProgressBoard
}

/** Runs or facts that one transaction projects: some ten milliseconds' work, and a sync. */
const partSize = 2_000

/** Rows of the ledger that a statement reads at a start. */
const pageBatches = 256

/** What a transaction stored, and what of it is projected within the transaction already. */
interface Mark {
  facts: number
  caused: number
  causedProjected: number
  progressed: number
  projectedOf: ReadonlyMap<number, number>
  caughtUp: ReadonlySet<number>
}

/** What waits since a moment, epoch milliseconds. */
interface Window {
  number: number
  since: number
  facts: JoinedFacts
  caused: Caused[]
  /** Of somebody in a flow: whom runs in here name together with them. */
  linked: Map<string, ReadonlySet<string>>
}

const none: ReadonlySet<string> = new Set()

/** As many people as may count together, and as many again, so that the last change of it is told. */
const mostTogether = 34

const newWindow = (number: number, since: number): Window => ({
  number,
  since,
  facts: new JoinedFacts(),
  caused: [],
  linked: new Map(),
})

/** What is being projected, and up to which row of the ledger all is projected then. */
interface Draining {
  window: Window & { upTo: number }
  /** What is left of it. */
  parts: readonly Part[]
}

function statements(database: Database) {
  return {
    projected: database.query<{ value: number }, []>(
      "select value from server_state where name = 'projected'",
    ),
    setProjected: database.query("update server_state set value = ? where name = 'projected'"),
    after: database.query<
      Pick<BatchRow, 'seq' | 'source' | 'events' | 'facts'> & { org_id: number },
      [number]
    >(
      `select seq, org_id, source, events, facts from event_batches
      where seq > ? order by seq limit ${pageBatches}`,
    ),
    ofFlow: database.query<BatchRow, [number, number, number]>(
      `select seq, received_at, later, source, events, facts, details
      from event_batch_flows cross join event_batches using (seq)
      where event_batch_flows.org_id = ? and flow_id = ? and seq > ? order by seq`,
    ),
    bury: database.query(
      `insert into dead_letters (org_id, at, error, event)
      select $orgRow, $at, $error, $letter
      where not exists (select 1 from dead_letters where org_id = $orgRow and event = $letter)`,
    ),
  }
}

/**
 * Follows the ledger with the projections. What an answer waits for is the ledger alone; what its events
 * mean is kept in memory, joined by run, and written a moment later, in larger transactions: a run whose
 * events come in many batches is written once.
 *
 * `projected` in `server_state` says up to which row of the ledger all is projected. What comes after is
 * read again at a start. Some of it may be projected twice then, which changes nothing.
 */
export class Follower extends TransactionParticipant<Mark> {
  readonly projector: Projector
  /** All that is written by projecting. */
  readonly participants: TransactionParticipant
  private readonly sql: ReturnType<typeof statements>
  private readonly causedEvents: CausedEvents
  /** Of the transaction under way. */
  private facts: Fact[] = []
  private caused: Caused[] = []
  private progressed: PersonInFlow[] = []
  /** Of flows of which something is projected within the transaction: how many of its facts that covers. */
  private projectedOf = new Map<number, number>()
  /** Flows of which all that waited is projected within the transaction. */
  private caughtUp = new Set<number>()
  private causedProjected = 0
  /** What is committed and is taken up next. */
  private gathering: Window
  private draining: Draining | null = null
  /** The row of the ledger up to which all is projected. */
  private upTo: number

  constructor(
    private readonly database: Database,
    private readonly catalogue: StoredCatalogue,
    changes: RunChanges & TransactionParticipant,
    private readonly ids: Pick<EventIds, 'committedSeq'>,
    private readonly boards: FollowerBoards,
  ) {
    super()
    const historyOf = (orgRow: number, flowRow: number) => {
      const flow = catalogue.flowByRow(orgRow, flowRow)
      if (!flow) throw new Error(`No flow has row ${flowRow}`)
      return flow
    }
    this.sql = statements(database)
    this.projector = new Projector(database, historyOf, changes)
    this.causedEvents = new CausedEvents(database)
    this.participants = new Participants([this.projector.participants, changes, this])
    this.upTo = this.sql.projected.get()!.value
    this.gathering = newWindow(boards.lag.nextWindow() + 1, boards.now())
    this.readRest()
  }

  /** An event was stored in the transaction under way. */
  note(fact: LedgerFact): void {
    if (isOfFlow(fact)) this.facts.push(fact)
  }

  /** A custom event was stored that published flows ask for. */
  noteCaused(caused: Caused): void {
    this.caused.push(caused)
  }

  /** How many committed events wait. */
  get waiting(): number {
    return this.gathering.facts.count + this.gathering.caused.length
  }

  /** The number of what is committed from now on. */
  get current(): number {
    return this.gathering.number
  }

  /** Whether what was committed under a number, and all before it, is projected. */
  isDone(number: number): boolean {
    const isEmpty = this.gathering.number === number && !this.isBehind
    return isEmpty || this.boards.lag.lastDone >= number
  }

  /** Whether rows of the ledger are committed that are not projected whole. */
  get isBehind(): boolean {
    return this.draining !== null || this.ids.committedSeq > this.upTo
  }

  /** Whether ticks of a flow are stored that the tables do not tell of. */
  hasTicksBehind(flowRow: number): boolean {
    return (
      this.gathering.facts.hasTicks(flowRow) ||
      (this.draining?.parts.some(part => part.flowRow === flowRow) ?? false)
    )
  }

  /** Projects within the transaction all that is stored of a flow, that of the transaction too. */
  projectFlow(flowRow: number): void {
    if (!this.caughtUp.has(flowRow)) {
      const isOfFlow = (part: Part) => part.flowRow === flowRow
      const waiting = [
        ...(this.draining?.parts.filter(isOfFlow) ?? []),
        ...this.gathering.facts.partsOf(flowRow, Number.POSITIVE_INFINITY),
      ]
      // What the database does not take is no fault of who asks: it waits, and is taken apart later.
      if (waiting.length === 0 || this.attempt(() => waiting.map(part => this.projectPart(part)))) {
        this.caughtUp.add(flowRow)
      }
    }
    const own = this.facts.slice(this.projectedOf.get(flowRow) ?? 0)
    if (own.some(fact => fact.flowRow === flowRow)) this.attempt(() => this.projectOwnOf(flowRow))
  }

  /** Projects within the transaction all that was stored in it, and leaves nothing for later. */
  projectOwn(): void {
    const caused = this.caused.slice(this.causedProjected)
    if (caused.length > 0) this.causedEvents.note(caused)
    this.causedProjected = this.caused.length
    for (const flowRow of new Set(this.facts.map(fact => fact.flowRow))) this.projectOwnOf(flowRow)
  }

  private projectOwnOf(flowRow: number): void {
    const own = new JoinedFacts()
    for (const fact of this.facts.slice(this.projectedOf.get(flowRow) ?? 0)) {
      if (fact.flowRow === flowRow) own.add(fact)
    }
    for (const part of own.parts(Number.POSITIVE_INFINITY)) this.projectPart(part)
    this.projectedOf.set(flowRow, this.facts.length)
  }

  /** Takes up all that waits, unless it has something left. @returns whether there is anything to do */
  begin(): boolean {
    if (this.draining === null && this.isBehind) {
      failpoint('before_projection')
      const window = { ...this.gathering, upTo: this.ids.committedSeq }
      this.gathering = newWindow(this.boards.lag.nextWindow() + 1, this.boards.now())
      this.draining = { window, parts: this.partsOf(window.facts) }
    }
    return this.draining !== null
  }

  /**
   * Projects a piece of what was taken up, within a transaction of its own.
   *
   * @returns to be called once that is committed
   */
  step(): () => void {
    const parts = this.nextParts()
    for (const part of parts) this.projectPart(part)
    return this.endStep(parts.length)
  }

  /** The next parts, of however many flows, that make a transaction; one at least, where any is left. */
  private nextParts(): readonly Part[] {
    const { parts } = this.draining!
    let end = 0
    for (let size = 0; end < parts.length; end++) {
      size += parts[end]!.runs.length + parts[end]!.others.length
      if (end > 0 && size > partSize) break
    }
    return parts.slice(0, end)
  }

  private endStep(partsDone: number): () => void {
    const { window, parts } = this.draining!
    const isLast = partsDone === parts.length
    if (isLast) {
      if (window.caused.length > 0) this.causedEvents.note(window.caused)
      this.sql.setProjected.run(window.upTo)
    }
    failpoint('during_projection')
    return () => {
      if (!isLast) {
        this.draining = { window, parts: parts.slice(partsDone) }
        return
      }
      this.draining = null
      this.upTo = window.upTo
      this.boards.lag.done(window.number)
      this.tellOfLag()
    }
  }

  /**
   * As `step`, each run and each fact by itself: what the database does not take goes to the dead letters,
   * and stays in the ledger.
   */
  stepApart(): () => void {
    const parts = this.nextParts()
    for (const part of parts) {
      for (const run of part.runs) {
        const isOfRun = (fact: Fact) => isInRun(fact) && runKeyOf(fact) === run.key
        this.projectOrBury({ ...part, runs: [run], others: [] }, isOfRun)
      }
      for (const fact of part.others) {
        this.projectOrBury({ ...part, runs: [], others: [fact] }, ({ id }) => id === fact.id)
      }
    }
    return this.endStep(parts.length)
  }

  /** Projects a part; where the database does not take it, each event of the ledger that it is made of. */
  private projectOrBury(part: Part, isOne: (fact: Fact) => boolean): void {
    if (this.attempt(() => this.projectPart(part))) return
    for (const row of this.sql.ofFlow.all(part.orgRow, part.flowRow, this.upTo)) {
      const text = storedText(row)
      const facts = decodeFacts(text, part.orgRow, text.source)
      for (const [place, fact] of facts.entries()) {
        if (!isOfFlow(fact) || fact.flowRow !== part.flowRow || !isOne(fact)) continue
        const project = () => this.projector.project([fact])
        const fault = inSavepoint(this.database, this.participants, project)
        if (fault) this.bury(part.orgRow, decodeEvents(text)[place]!, fault)
      }
    }
  }

  /** @returns whether it is kept; nothing of it is where the database does not take it */
  private attempt(work: () => unknown): boolean {
    return inSavepoint(this.database, this.participants, work) === null
  }

  /** Once, however often it is found. */
  private bury(orgRow: number, event: StoredEvent, fault: Error): void {
    const letter = letterText({ ...event, isStored: true })
    this.sql.bury.run({ orgRow, at: event.receivedAt, error: String(fault), letter })
  }

  /** Projects an event of the ledger once more, within a transaction. */
  projectAgain(orgRow: number, { source, ...event }: StoredEvent): void {
    const [fact] = decodeFacts(encodeEvents([event]), orgRow, source)
    if (fact && isOfFlow(fact)) this.projector.project([fact])
  }

  override savepoint(): Mark {
    return {
      facts: this.facts.length,
      caused: this.caused.length,
      causedProjected: this.causedProjected,
      progressed: this.progressed.length,
      projectedOf: new Map(this.projectedOf),
      caughtUp: new Set(this.caughtUp),
    }
  }

  override rollbackTo(mark: Mark): void {
    this.facts.length = mark.facts
    this.caused.length = mark.caused
    this.causedProjected = mark.causedProjected
    this.progressed.length = mark.progressed
    this.projectedOf = new Map(mark.projectedOf)
    this.caughtUp = new Set(mark.caughtUp)
  }

  override rollback(): void {
    this.facts = []
    this.caused = []
    this.causedProjected = 0
    this.progressed = []
    this.projectedOf = new Map()
    this.caughtUp = new Set()
  }

  override commit(): void {
    const { facts, caused, causedProjected, projectedOf, caughtUp, progressed } = this
    this.rollback()
    if (this.waiting === 0) this.gathering.since = this.boards.now()
    for (const flowRow of caughtUp) {
      this.gathering.facts.delete(flowRow)
      if (!this.draining) continue
      const parts = this.draining.parts.filter(part => part.flowRow !== flowRow)
      this.draining = { ...this.draining, parts }
    }
    for (const [i, fact] of facts.entries()) {
      if (i >= (projectedOf.get(fact.flowRow) ?? 0)) this.gather(fact)
    }
    for (const one of caused.slice(causedProjected)) this.gatherCaused(one)
    for (const { orgRow, person } of progressed) this.boards.progress.changed(orgRow, person)
    this.tellOfLag()
  }

  /** In the order of the runs' rows, so that rows of one page are written together. */
  private partsOf(facts: JoinedFacts): Part[] {
    const rowOf = ({ orgRow, flowRow, key }: JoinedRun) =>
      this.projector.knownRowOf(orgRow, flowRow, key) ?? Number.MAX_SAFE_INTEGER
    return [...facts.parts(partSize, rowOf)]
  }

  private tellOfLag(): void {
    const { gathering, draining } = this
    const { window } = draining ?? {}
    const events = this.waiting + (window ? window.facts.count + window.caused.length : 0)
    this.boards.lag.tell(events, (window ?? gathering).since)
  }

  private projectPart({ runs, others }: Part): void {
    this.progressed.push(...this.projector.projectJoined(runs, others))
  }

  private gather(fact: Fact): void {
    const { flowRow, orgRow } = fact
    if (!this.gathering.facts.has(flowRow)) this.boards.lag.markFlow(flowRow)
    if (!this.gathering.facts.add(fact)) return
    const person = personOfFact(fact)
    this.boards.lag.markPerson(orgRow, person)
    if (fact.userId !== null && fact.anonymousId !== null) {
      this.boards.lag.markPerson(orgRow, `a${fact.anonymousId}`)
    }
    const together = this.peopleOfRun(fact)
    // Of a run that names more people each counts alone.
    const isShared = together.size > 1 && together.size <= mostTogether
    const { linked } = this.gathering
    if (isShared) {
      for (const one of together) {
        const name = `${flowRow} ${one}`
        linked.set(name, together.union(linked.get(name) ?? none))
      }
    }
    if (!isShared && !needsItem(fact.kind) && fact.kind !== 'flow_completed') return
    // What one of them does is told to all who count together, as far as is known by now.
    const name = `${flowRow} ${person}`
    const concerned = new Set(linked.get(name))
    for (const one of this.draining?.window.linked.get(name) ?? none) concerned.add(one)
    for (const one of isShared ? together : [person]) {
      for (const other of this.projector.partyOf(orgRow, flowRow, one)) concerned.add(other)
    }
    for (const one of concerned) {
      this.boards.lag.markPerson(orgRow, one)
      this.boards.progress.changed(orgRow, one)
    }
  }

  /** Whoever is known to be named by an event's run, projected or not. */
  private peopleOfRun(fact: Fact): Set<string> {
    const people = new Set([personOfFact(fact)])
    if (fact.runId === null) return people
    const { orgRow, flowRow } = fact
    const key = runKeyOf(fact)
    // What starts is of nobody yet.
    const isStart = fact.kind === 'flow_started'
    const owner = isStart ? null : this.projector.ownerOf(orgRow, flowRow, key)
    if (owner !== null) people.add(owner)
    for (const waiting of [this.gathering.facts, this.draining?.window.facts]) {
      const run = waiting?.runOf(flowRow, key)
      if (run) for (const person of [run.person, ...(run.others ?? [])]) people.add(person)
    }
    return people
  }

  private gatherCaused(caused: Caused): void {
    const { lag } = this.boards
    this.gathering.caused.push(caused)
    lag.markPerson(caused.fact.orgRow, personOfFact(caused.fact))
    for (const flowRow of caused.asked.goalOf) lag.markFlow(flowRow)
  }

  /** Takes up what the ledger has behind the last row that is projected whole. */
  private readRest(): void {
    for (let after = this.upTo; ; ) {
      const rows = this.sql.after.all(after)
      for (const { seq, org_id, source, events, facts } of rows) {
        failpoint('during_replay')
        const text = { count: events, facts: textIn(facts) }
        for (const fact of decodeFacts(text, org_id, eventSources[source] as EventSource)) {
          if (isOfFlow(fact)) this.gather(fact)
          else this.gatherAsked(fact)
        }
        after = seq
      }
      if (rows.length < pageBatches) break
    }
    this.tellOfLag()
  }

  private gatherAsked(fact: LedgerFact): void {
    if (fact.name === null) return
    const organisation = this.catalogue.organisationByRow(fact.orgRow)
    const asked = this.catalogue.asked(organisation, fact.name)
    if (asked) this.gatherCaused({ fact, asked })
  }
}
