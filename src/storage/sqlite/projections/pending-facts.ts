import type { Database } from 'bun:sqlite'
import { type EventKind, needsItem } from '../../../core/event/event.ts'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import { isUnattributed } from '../../../core/run/run.ts'
import type { LagBoard, ProgressBoard } from '../../shared/boards.ts'
import type { PersonInFlow } from '../checklists/checklist-progress.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import type { Caused } from '../people/caused-events.ts'
import type { Fact, LedgerFact } from './facts.ts'
import { JoinedFacts, type JoinedRun, namedIn, pairOfFact, personOfFact } from './joined-facts.ts'
import type { Projector } from './projector.ts'

/** The boards that show what is behind, and whose progress has changed. */
export interface FollowerBoards {
  /** Epoch milliseconds. */
  now: () => number
  lag: LagBoard
  progress: ProgressBoard
}

/** What has been waiting since a moment, epoch milliseconds. */
interface Window {
  number: number
  since: number
  facts: JoinedFacts
  caused: Caused[]
  /** For somebody in a flow: the people whom runs in here name together with them. */
  linked: Map<string, ReadonlySet<string>>
  /** Whether it has facts of which nobody has found out whom they concern. */
  isMuch: boolean
  /** Whether everybody counts as behind. */
  isOfAll: boolean
}

const none: ReadonlySet<string> = new Set()

/** Twice as many people as may count together, so that the last change to such a group is told too. */
const mostTogether = 34

const isOfOnly = (run: JoinedRun, person: string) =>
  run.person === person && run.others === null && run.pairs === null

/**
 * What is committed and waits to be projected: the window that is being filled, and the one that was taken
 * to be projected. It tells readers for whom something is behind, including people who count together.
 */
export class PendingFacts {
  private gathering: Window
  private taken: Window | null = null
  /** Whether the transaction adds so much that it is not found out whom each fact concerns. */
  private addsMuch = false

  constructor(
    private readonly boards: FollowerBoards,
    private readonly projector: Pick<Projector, 'ownerOf' | 'partyOf'>,
  ) {
    this.gathering = this.newWindow()
  }

  /** How many events are in the window that is being filled. */
  get count(): number {
    return this.gathering.facts.count + this.gathering.caused.length
  }

  /** The number of the window that is being filled. */
  get number(): number {
    return this.gathering.number
  }

  /** The facts in the window that is being filled. */
  get facts(): JoinedFacts {
    return this.gathering.facts
  }

  /** Whether a window and all before it are projected. */
  isDone(number: number): boolean {
    return this.boards.lag.lastDone >= number
  }

  /** Whether something about somebody waits, or about people who count together with them. */
  isPersonBehind(orgRow: number, ids: PersonIds): boolean {
    return this.boards.lag.isPersonBehind(orgRow, ids)
  }

  /** Takes what waits, and begins another window. */
  take(): Pick<Window, 'facts' | 'caused'> {
    this.taken = this.gathering
    this.gathering = this.newWindow()
    return this.taken
  }

  /** To be called once what was taken is projected. */
  done(): void {
    this.boards.lag.done(this.taken!.number)
    this.taken = null
    this.tell()
  }

  /**
   * To be called before something of a transaction is added: if nothing waits yet, the waiting starts now.
   *
   * @param addsMuch whether everybody is to count as behind, which costs less than to find out who is
   */
  begin(addsMuch: boolean): void {
    const { gathering, taken, boards } = this
    if (this.count === 0) gathering.since = boards.now()
    this.addsMuch = addsMuch
    gathering.isMuch ||= addsMuch
    // Whoever is named together with somebody in such a window is not known until it is projected.
    if (gathering.isOfAll || !(gathering.isMuch || taken?.isMuch)) return
    gathering.isOfAll = true
    boards.lag.markEverybody()
    boards.progress.changedForAll()
  }

  add(fact: Fact): void {
    const { flowRow, orgRow } = fact
    const { lag, progress } = this.boards
    const { facts, linked } = this.gathering
    if (!facts.has(flowRow)) lag.markFlow(flowRow)
    const { run, isNews } = facts.add(fact)
    if (!isNews || this.addsMuch) return
    const person = personOfFact(fact)
    lag.markPerson(orgRow, person)
    if (fact.userId !== null && fact.anonymousId !== null) {
      lag.markPerson(orgRow, `a${fact.anonymousId}`)
    }
    const together = this.togetherWith(fact, run)
    // In a run that names more people, each counts alone.
    const isShared = together !== null && together.size <= mostTogether
    if (isShared) {
      for (const one of together) {
        const name = `${flowRow} ${one}`
        linked.set(name, together.union(linked.get(name) ?? none))
      }
    }
    if (!isShared && !needsItem(fact.kind) && fact.kind !== 'flow_completed') return
    // What one of them does is told to all who count together with them, as far as is known by now.
    const name = `${flowRow} ${person}`
    const concerned = new Set(linked.get(name))
    for (const one of this.taken?.linked.get(name) ?? none) concerned.add(one)
    for (const one of isShared ? together : [person]) {
      for (const other of this.projector.partyOf(orgRow, flowRow, one)) concerned.add(other)
    }
    for (const one of concerned) {
      lag.markPerson(orgRow, one)
      progress.changed(orgRow, one)
    }
  }

  addCaused(caused: Caused): void {
    const { lag } = this.boards
    this.gathering.caused.push(caused)
    if (!this.addsMuch) lag.markPerson(caused.fact.orgRow, personOfFact(caused.fact))
    for (const flowRow of caused.asked.goalOf) lag.markFlow(flowRow)
  }

  /** Tells that the progress of some people has changed in the tables. */
  tellProgress(people: readonly PersonInFlow[]): void {
    for (const { orgRow, person } of people) this.boards.progress.changed(orgRow, person)
  }

  /** Tells how much waits, and since when. */
  tell(): void {
    const { gathering, taken } = this
    const events = this.count + (taken ? taken.facts.count + taken.caused.length : 0)
    this.boards.lag.tell(events, (taken ?? gathering).since)
  }

  /**
   * Everybody who is known to be named together with the person of an event that is being added; null if that is
   * one person alone.
   */
  private togetherWith(fact: Fact, run: JoinedRun | null): Set<string> | null {
    // A key that is not a run's id contains the person, so only pairs name somebody else.
    if (run) {
      const mayBeShared = fact.runId !== null || run.pairs !== null
      return mayBeShared ? this.peopleOf(run, fact.kind, personOfFact(fact)) : null
    }
    const pair = isUnattributed(fact) && !fact.byCustomEvent ? pairOfFact(fact) : null
    return pair && new Set(pair)
  }

  /**
   * Everybody who is known to be named by a run, projected or not; null if that is one person alone.
   *
   * @param kind the kind of the event that is being added, which names the person
   */
  private peopleOf(run: JoinedRun, kind: EventKind, person: string): Set<string> | null {
    const { orgRow, flowRow, key } = run
    // A run that is being started belongs to nobody yet.
    const owner =
      kind === 'flow_started'
        ? person
        : (this.projector.ownerOf(orgRow, flowRow, key, person) ?? person)
    const earlier = this.taken?.facts.runOf(flowRow, key) ?? run
    if (owner === person && isOfOnly(run, person) && isOfOnly(earlier, person)) return null
    return new Set([person, owner]).union(namedIn(run)).union(namedIn(earlier))
  }

  private newWindow(): Window {
    const { lag, now } = this.boards
    const number = lag.nextWindow() + 1
    return {
      ...{ number, since: now(), facts: new JoinedFacts(), caused: [], linked: new Map() },
      ...{ isMuch: false, isOfAll: false },
    }
  }
}

/** Events of a flow in a row of the ledger, and when they occurred, epoch milliseconds. */
export interface FlowSpan {
  readonly orgRow: number
  readonly flowRow: number
  readonly seq: number
  firstAt: number
  lastAt: number
}

/** What a transaction has noted, and how much of it is written in the same transaction. */
interface Mark {
  noted: number
  written: number
}

/** In the order of the table's key. */
const inOrder = (a: FlowSpan, b: FlowSpan) =>
  a.orgRow - b.orgRow || a.flowRow - b.flowRow || a.seq - b.seq

/**
 * Says which rows of the ledger hold events of a flow (`event_batch_flows`).
 *
 * The entries of a flow stand together, so a commit with events of twenty flows would write a page for each
 * of them. An answer does not wait for that: entries are written with the projections, many at a time. Whoever
 * reads a flow's events also looks through the rows that are not projected yet (see `flowRows`).
 */
export class BatchFlows extends TransactionParticipant<Mark> {
  private readonly insert
  /** Noted in the transaction under way. */
  private noted: FlowSpan[] = []
  private written = 0
  /** Committed and not written yet. */
  private waiting: FlowSpan[] = []

  constructor(database: Database) {
    super()
    // After a crash there may be entries of rows that did not count as projected yet.
    this.insert = database.query(
      `insert into event_batch_flows (org_id, flow_id, seq, first_at, last_at) values (?, ?, ?, ?, ?)
      on conflict do nothing`,
    )
  }

  /** Notes events that are in a row of the ledger. Those of one row are noted one after the other. */
  note(seq: number, facts: readonly LedgerFact[]): void {
    for (const { orgRow, flowRow, occurredAt } of facts) {
      if (flowRow !== null) this.add(seq, orgRow, flowRow, occurredAt)
    }
  }

  /** Writes what the transaction under way has noted. */
  writeOwn(): void {
    this.write(this.noted.slice(this.written))
    this.written = this.noted.length
  }

  /** Takes what is committed and not written, in the order in which it is best written. */
  take(): FlowSpan[] {
    const { waiting } = this
    this.waiting = []
    return waiting.sort(inOrder)
  }

  /** Writes entries that were taken. */
  write(spans: readonly FlowSpan[]): void {
    for (const { orgRow, flowRow, seq, firstAt, lastAt } of spans) {
      this.insert.run(orgRow, flowRow, seq, firstAt, lastAt)
    }
  }

  override savepoint(): Mark {
    return { noted: this.noted.length, written: this.written }
  }

  override rollbackTo({ noted, written }: Mark): void {
    this.noted.length = noted
    this.written = written
  }

  override rollback(): void {
    this.noted = []
    this.written = 0
  }

  override commit(): void {
    for (const span of this.noted.slice(this.written)) this.waiting.push(span)
    this.rollback()
  }

  private add(seq: number, orgRow: number, flowRow: number, at: number): void {
    const { noted } = this
    // From the end, where the row's entries are.
    for (let i = noted.length - 1; i >= this.written && noted[i]!.seq === seq; i--) {
      const span = noted[i]!
      if (span.flowRow !== flowRow) continue
      if (at < span.firstAt) span.firstAt = at
      else if (at > span.lastAt) span.lastAt = at
      return
    }
    noted.push({ orgRow, flowRow, seq, firstAt: at, lastAt: at })
  }
}
