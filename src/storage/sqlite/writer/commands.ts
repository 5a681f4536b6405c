import type { Database } from 'bun:sqlite'
import { type EventSource, idsOf, personOf, type RejectionCode } from '../../../core/event/event.ts'
import type { AppendOutcome, PersonIds } from '../../../core/event/stored-event.ts'
import { newEventId } from '../../../core/organisation/ids.ts'
import { hourMs } from '../../../core/time/durations.ts'
import { failing } from '../../../failpoints.ts'
import type { FingerprintVerdict } from '../../../modules/steps/port.ts'
import type {
  CompletionReport,
  FingerprintReport,
  HealthReport,
  NewEvent,
  TickReport,
} from '../../shared/in-rows.ts'
import type { StoredCatalogue } from '../catalogue/catalogue.ts'
import type { ColumnSegments } from '../engine/column-segments/column-segments.ts'
import { EventBatches, EventIds, eventsPerBatch } from '../engine/event-codec/event-batches.ts'
import {
  decodeEvents,
  decodeFacts,
  type EncodedBatch,
  type EventText,
  encodeEvents,
  noEvent,
} from '../engine/event-codec/event-text.ts'
import { Participants, TransactionParticipant } from '../engine/participant.ts'
import { letterText } from '../ledger/dead-letters.ts'
import type { PresenceTable } from '../organisations/presence-table.ts'
import type { LedgerFact } from '../projections/facts.ts'
import { Follower } from '../projections/follower.ts'
import type { FollowerBoards } from '../projections/pending-facts.ts'
import { StepTable } from '../steps/step-table.ts'

/** Everything that the storage thread is asked to write, one type a verb. `messages.ts` says how it travels. */
export type StorageCommand =
  | ({ type: 'append' } & EncodedBatch)
  | ({ type: 'complete' } & CompletionReport)
  | ({ type: 'tick' } & TickReport)
  | ({ type: 'health' } & HealthReport)
  | ({ type: 'fingerprint' } & FingerprintReport)
  | { type: 'snippet_version'; orgRow: number; version: string; at: number }
  | { type: 'refusal'; orgRow: number; code: string; at: number }

export type CommandResult =
  | AppendOutcome
  | { completedAt: number; alreadyCompleted: boolean }
  | FingerprintVerdict
  | null

interface StoreOutcome {
  stored: readonly LedgerFact[]
  /** Places in the text of what is stored already. */
  duplicates: readonly number[]
}

/** What the writer asks of whoever executes its commands. */
export type Executor = Pick<
  CommandExecutor,
  'execute' | 'settle' | 'participants' | 'bury' | 'buryCommand'
>

/** How far pages' clocks were off, told once their events are committed. */
class Skews extends TransactionParticipant<number> {
  private noted: [orgRow: number, skewMs: number][] = []

  constructor(private readonly presence: PresenceTable) {
    super()
  }

  note(orgRow: number, skewMs: number): void {
    this.noted.push([orgRow, skewMs])
  }

  override savepoint(): number {
    return this.noted.length
  }

  override rollbackTo(mark: number): void {
    this.noted.length = mark
  }

  override rollback(): void {
    this.noted = []
  }

  override commit(): void {
    for (const [orgRow, skewMs] of this.noted) this.presence.addSkew(orgRow, skewMs)
    this.noted = []
  }
}

/** Ticks by custom events in the transaction under way, of which the tables do not tell yet. */
class WaitingTicks extends TransactionParticipant {
  private readonly since = new Map<string, number>()
  readonly flows = new Set<number>()

  isTicked(itemRow: number, person: string, at: number): boolean {
    return (this.since.get(`${itemRow} ${person}`) ?? Number.POSITIVE_INFINITY) <= at
  }

  note(item: { ref: number; flow: { ref: number } }, person: string, at: number): void {
    this.since.set(`${item.ref} ${person}`, at)
    this.flows.add(item.flow.ref)
  }

  override rollback(): void {
    this.since.clear()
    this.flows.clear()
  }

  override commit(): void {
    this.rollback()
  }
}

/**
 * Executes commands within the transaction that the writer has begun: stores events and what is said with
 * them. What events mean follows later (`Follower`), but for the flow of a command whose answer needs it.
 */
export class CommandExecutor {
  readonly ids: EventIds
  readonly follower: Follower
  /** All that is in memory beside the database. */
  readonly participants: TransactionParticipant
  private readonly steps: StepTable
  private readonly batches: EventBatches
  private readonly closeBatches: () => void
  private readonly skews: Skews
  private readonly addRefusals
  private readonly insertDeadLetter
  private readonly waitingTicks = new WaitingTicks()

  constructor(
    database: Database,
    private readonly catalogue: StoredCatalogue,
    private readonly presence: PresenceTable,
    segments: ColumnSegments,
    boards: FollowerBoards,
  ) {
    this.steps = new StepTable(database)
    this.ids = new EventIds(database)
    this.batches = new EventBatches(database)
    this.closeBatches = failing('between_rows', () => this.ids.closeBatches())
    this.skews = new Skews(presence)
    this.follower = new Follower(database, catalogue, segments, this.ids, boards)
    this.participants = new Participants([
      this.ids,
      this.batches,
      this.follower.participants,
      this.skews,
      this.waitingTicks,
    ])
    this.addRefusals = database.query(
      `insert into refusals (org_id, hour, code, count) values (?, ?, ?, ?)
      on conflict do update set count = count + excluded.count`,
    )
    this.insertDeadLetter = database.query(
      'insert into dead_letters (org_id, at, error, event) values (?, ?, ?, ?)',
    )
  }

  execute(command: StorageCommand): CommandResult {
    switch (command.type) {
      case 'append':
        return this.append(command)
      case 'complete':
        return this.complete(command)
      case 'tick':
        return this.tick(command)
      case 'health':
        this.steps.recordHealth(command)
        return null
      case 'fingerprint':
        return this.steps.recordFingerprint(command)
      case 'snippet_version':
        this.presence.recordSnippetVersion(command.orgRow, command.version)
        return null
      case 'refusal':
        this.refuse(command.orgRow, command.at, { [command.code]: 1 })
        return null
    }
  }

  /** Writes what the commands so far have stored. Before the commit, or nothing of it is kept. */
  settle(): void {
    this.batches.flush()
    this.closeBatches()
  }

  /** What is sealed, so that little has to be read again. */
  get indexes(): readonly { sealIfWorth(): void }[] {
    return [this.ids, this.follower.projector.index]
  }

  /** Has the tables tell of all that is stored of somebody in a flow, and of every tick by events. */
  private project(orgRow: number, flowRow: number, person: PersonIds): void {
    for (const ticked of this.waitingTicks.flows) this.follower.projectFlow(ticked)
    this.waitingTicks.rollback()
    this.follower.projectPerson(orgRow, flowRow, person)
  }

  /** Keeps an event that the database would not take, with the reason. */
  bury(orgRow: number, event: NewEvent, at: number, error: unknown): void {
    this.insertDeadLetter.run(orgRow, at, String(error), letterText(event))
    this.refuse(orgRow, at, { storage: 1 })
  }

  /**
   * Keeps a report that the database would not take, as the command that it is. What only counts is
   * not worth it.
   */
  buryCommand(command: Exclude<StorageCommand, { type: 'append' }>, error: unknown): void {
    const { type } = command
    if (type === 'refusal' || type === 'snippet_version') return
    const at = type === 'complete' || type === 'tick' ? command.receivedAt : command.at
    this.insertDeadLetter.run(command.orgRow, at, String(error), JSON.stringify(command))
    this.refuse(command.orgRow, at, { storage: 1 })
  }

  private append(batch: EncodedBatch): AppendOutcome {
    const { orgRow, receivedAt, refusals, skewMs, text } = batch
    const { stored, duplicates } = this.store(orgRow, receivedAt, 'events', text)
    const ticks: NewEvent[] = []
    for (const fact of stored) if (fact.kind === 'custom') ticks.push(...this.ticksBy(fact))
    if (ticks.length > 0) this.storeOwn(orgRow, receivedAt, 'custom_event', ticks)
    this.refuse(orgRow, receivedAt, refusals)
    if (skewMs !== null) this.skews.note(orgRow, skewMs)
    return { duplicates, deadLetters: [], erased: [] }
  }

  /** Stores events in as many rows as they need: in one, but for some that Cairn itself makes. */
  private store(
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    text: EventText,
  ): StoreOutcome {
    if (text.count <= eventsPerBatch) return this.storeBatch(orgRow, receivedAt, source, text)
    const events = decodeEvents({ ...text, receivedAts: [receivedAt], source })
    const stored: LedgerFact[] = []
    const duplicates: number[] = []
    for (let from = 0; from < events.length; from += eventsPerBatch) {
      const part = encodeEvents(events.slice(from, from + eventsPerBatch))
      const outcome = this.storeBatch(orgRow, receivedAt, source, part)
      stored.push(...outcome.stored)
      duplicates.push(...outcome.duplicates.map(place => from + place))
    }
    return { stored, duplicates }
  }

  /**
   * Stores the events of a text whose ids are new in one row, and gathers what follows from them. A
   * text without duplicates, as nearly all are, is stored as it came.
   */
  private storeBatch(
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    text: EventText,
  ): StoreOutcome {
    const facts = decodeFacts(text, orgRow, source)
    const newSeq = () => this.ids.openBatch(orgRow)
    const batch = this.batches.withRoom(orgRow, source, text.count, newSeq)
    const duplicates: number[] = []
    for (let i = 0; i < facts.length; i++) {
      if (!this.ids.take(batch.seq, facts[i]!.id, receivedAt)) duplicates.push(i)
    }
    if (duplicates.length === facts.length) return { stored: [], duplicates }
    let stored = facts
    let kept = text
    if (duplicates.length > 0) {
      const isNew = (_: unknown, place: number) => !duplicates.includes(place)
      stored = facts.filter(isNew)
      kept = encodeEvents(
        decodeEvents({ ...text, receivedAts: [receivedAt], source }).filter(isNew),
      )
    }
    batch.add(kept, receivedAt, stored)
    for (const fact of stored) this.follower.note(fact)
    return { stored, duplicates }
  }

  /** Stores events that Cairn itself makes. */
  private storeOwn(
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    events: readonly NewEvent[],
  ): void {
    this.store(orgRow, receivedAt, source, encodeEvents(events))
  }

  /** The ticks that a custom event makes; notes it where a published flow asks for it. */
  private ticksBy(event: LedgerFact): NewEvent[] {
    const { orgRow, name, occurredAt } = event
    if (name === null) return []
    const organisation = this.catalogue.organisationByRow(orgRow)
    const asked = this.catalogue.asked(organisation, name)
    if (asked) this.follower.noteCaused({ fact: event, asked })
    const person = personOf(event.userId, event.anonymousId)
    return this.catalogue.itemsCompletedBy(organisation, name).flatMap(item => {
      // People do the same thing many times: only what ticks an item is worth a row.
      if (this.waitingTicks.isTicked(item.ref, person, occurredAt)) return []
      const { follower } = this
      if (follower.hasTicksBehind(item.flow.ref)) follower.projectFlow(item.flow.ref)
      const { progress } = follower.projector
      if (progress.isTicked(orgRow, item.flow.ref, person, item.ref, occurredAt)) return []
      this.waitingTicks.note(item, person, occurredAt)
      return {
        ...noEvent,
        ...personIds(event),
        id: newEventId(),
        kind: 'item_completed',
        flowRef: item.flow.ref,
        itemRef: item.ref,
        occurredAt,
      }
    })
  }

  private complete(report: CompletionReport): CommandResult {
    const { orgRow, flowRow, runId, completedAt } = report
    this.project(orgRow, flowRow, report)
    const { projector } = this.follower
    const person = personOf(report.userId, report.anonymousId)
    const earlier = projector.completedAt(orgRow, flowRow, person)
    // Said again it would change no number: the ledger does not repeat itself.
    if (!projector.isCompletionKnown(orgRow, flowRow, { person, runId, at: completedAt })) {
      const event = { ...noEvent, ...personIds(report), flowRef: flowRow, runId }
      this.storeOwn(orgRow, report.receivedAt, 'complete', [
        { ...event, id: newEventId(), kind: 'flow_completed', occurredAt: completedAt },
      ])
      this.project(orgRow, flowRow, report)
    }
    return {
      completedAt: Math.min(earlier ?? completedAt, completedAt),
      alreadyCompleted: earlier !== null,
    }
  }

  private tick(report: TickReport): null {
    const { orgRow, flowRow, receivedAt, runId = null, sessionId = null } = report
    this.project(orgRow, flowRow, report)
    const person = personOf(report.userId, report.anonymousId)
    const { progress } = this.follower.projector
    const standing = progress.standing(orgRow, flowRow, person)
    // A write counts after all that was stored before it, whatever the clocks say: a taking back
    // must not fall among ticks that are stored already.
    const lastTickAt = progress.lastTickAt(orgRow, flowRow, person)
    const occurredAt = Math.max(receivedAt, lastTickAt + 1)
    const own = { ...noEvent, flowRef: flowRow, occurredAt }
    const events: NewEvent[] = []
    for (const { itemRow, completed } of report.items) {
      const whose = standing.get(itemRow) ?? []
      if (completed && whose.length === 0) {
        const ids = { ...personIds(report), id: newEventId(), runId, sessionId }
        events.push({ ...own, ...ids, kind: 'item_completed', itemRef: itemRow })
      }
      if (completed) continue
      // It is taken back for everybody whose tick it is.
      for (const other of whose) {
        const ids = { ...(other === person ? personIds(report) : idsOf(other)), id: newEventId() }
        events.push({ ...own, ...ids, kind: 'item_reopened', itemRef: itemRow })
      }
    }
    this.storeOwn(orgRow, receivedAt, 'checklist_progress', events)
    // What follows in this transaction must see it: a custom event asks whether its item is ticked.
    this.project(orgRow, flowRow, report)
    return null
  }

  /** Counts what was refused, by code. */
  refuse(
    orgRow: number,
    at: number,
    counts: Partial<Record<RejectionCode | string, number>>,
  ): void {
    for (const [code, count] of Object.entries(counts)) {
      if (count) this.addRefusals.run(orgRow, Math.floor(at / hourMs), code, count)
    }
  }
}

const personIds = ({ userId, anonymousId }: PersonIds): PersonIds => ({ userId, anonymousId })
