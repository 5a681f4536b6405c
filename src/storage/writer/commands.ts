import type { Database } from 'bun:sqlite'
import { type EventSource, idsOf, personOf, type RejectionCode } from '../../core/event/event.ts'
import type { AppendOutcome, PersonIds } from '../../core/event/stored-event.ts'
import { newEventId } from '../../core/organisation/ids.ts'
import { hourMs } from '../../core/time/durations.ts'
import { failpoint } from '../../failpoints.ts'
import type { FingerprintVerdict } from '../../modules/steps/port.ts'
import type { StoredCatalogue } from '../catalogue/catalogue.ts'
import type { PersonInFlow } from '../checklists/checklist-progress.ts'
import type { ColumnSegments } from '../column-segments/column-segments.ts'
import type {
  CompletionReport,
  FingerprintReport,
  HealthReport,
  NewEvent,
  TickReport,
} from '../in-rows.ts'
import { letterText } from '../ledger/dead-letters.ts'
import { EventBatches, EventIds, eventsPerBatch } from '../ledger/event-batches.ts'
import {
  decodeEvents,
  decodeFacts,
  type EncodedBatch,
  type EventText,
  encodeEvents,
  isOfFlow,
  noEvent,
} from '../ledger/event-text.ts'
import type { PresenceTable } from '../organisations/presence-table.ts'
import { type Caused, CausedEvents } from '../people/caused-events.ts'
import type { Fact, LedgerFact } from '../projections/facts.ts'
import { Projector } from '../projections/projector.ts'
import type { ProgressBoard } from '../shared.ts'
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

/** What is known in memory at a savepoint, as the parts count it. */
interface Mark {
  skews: number
  ids: number
  projections: readonly number[]
}

/** What the writer asks of whoever executes its commands. */
export type Executor = Pick<
  CommandExecutor,
  | 'execute'
  | 'settle'
  | 'beforeCommit'
  | 'committed'
  | 'mark'
  | 'rolledBackTo'
  | 'rolledBack'
  | 'bury'
  | 'buryCommand'
>

/**
 * Executes commands within the transaction that the writer has begun.
 *
 * Facts are gathered over all commands of a transaction and projected together, so that a run
 * costs one row however many of its events arrive; `settle` does it before the commit, and
 * before a command that reads what the ones before it did.
 */
export class CommandExecutor {
  private readonly projector: Projector
  private readonly steps: StepTable
  private readonly causedEvents: CausedEvents
  readonly ids: EventIds
  private readonly batches: EventBatches
  private readonly addRefusals
  private readonly insertDeadLetter
  private facts: Fact[] = []
  /** Custom events that published flows ask for, among what is not projected yet. */
  private caused: Caused[] = []
  /** By item and person: ticks by custom events among the facts that are not projected yet. */
  private readonly waitingTicks = new Map<string, number>()
  private skews: [orgRow: number, skewMs: number][] = []
  /** Of whom this transaction may say another progress. */
  private progressed: PersonInFlow[] = []

  constructor(
    database: Database,
    private readonly catalogue: StoredCatalogue,
    private readonly presence: PresenceTable,
    private readonly segments: ColumnSegments,
    private readonly progress: ProgressBoard,
  ) {
    const historyOf = (orgRow: number, flowRow: number) => {
      const flow = catalogue.flowByRow(orgRow, flowRow)
      if (!flow) throw new Error(`No flow has row ${flowRow}`)
      return flow
    }
    this.projector = new Projector(database, historyOf, segments)
    this.steps = new StepTable(database)
    this.causedEvents = new CausedEvents(database)
    this.ids = new EventIds(database)
    this.batches = new EventBatches(database)
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

  /** Projects what the commands so far have stored. Before the commit, or nothing of it counts. */
  settle(): void {
    this.batches.flush()
    this.ids.closeBatches()
    const { facts, caused } = this
    this.forgetFacts()
    if (facts.length > 0) failpoint('between_rows')
    if (caused.length > 0) this.causedEvents.note(caused)
    this.progressed.push(...this.projector.project(facts))
  }

  /** Another process has written: what is known of the tables may be so no longer. */
  othersWrote(): void {
    this.ids.othersWrote()
    this.projector.othersWrote()
    this.segments.othersWrote()
  }

  /** The last thing in every transaction. */
  beforeCommit(): void {
    this.ids.beforeCommit()
    this.projector.beforeCommit()
  }

  /** What is sealed, so that little has to be read again. */
  get indexes(): readonly { sealIfWorth(): void }[] {
    return [this.ids, ...this.projector.indexes]
  }

  /** Notes in memory what the transaction, now committed, has said. */
  committed(): void {
    this.ids.committed()
    this.projector.committed()
    for (const [orgRow, skewMs] of this.skews) this.presence.addSkew(orgRow, skewMs)
    this.skews = []
    for (const { orgRow, person } of this.progressed) this.progress.changed(orgRow, person)
    this.progressed = []
  }

  /** Where a savepoint stands, for `rolledBackTo`. */
  get mark(): Mark {
    return { skews: this.skews.length, ids: this.ids.mark, projections: this.projector.mark }
  }

  /** Forgets what was rolled back to a savepoint, before which all was settled. */
  rolledBackTo(mark: Mark): void {
    this.forgetFacts()
    this.batches.forget()
    this.segments.forget()
    this.skews.length = mark.skews
    this.ids.giveBack(mark.ids)
    this.projector.rolledBackTo(mark.projections)
  }

  /** Forgets all that a transaction had gathered. */
  rolledBack(): void {
    this.forgetFacts()
    this.batches.forget()
    this.segments.forget()
    this.ids.rolledBack()
    this.projector.rolledBack()
    this.skews = []
    this.progressed = []
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

  private forgetFacts(): void {
    this.facts = []
    this.caused = []
    this.waitingTicks.clear()
  }

  private append(batch: EncodedBatch): AppendOutcome {
    const { orgRow, receivedAt, refusals, skewMs, text } = batch
    const { stored, duplicates } = this.store(orgRow, receivedAt, 'events', text)
    const ticks: NewEvent[] = []
    for (const fact of stored) if (fact.kind === 'custom') ticks.push(...this.ticksBy(fact))
    if (ticks.length > 0) this.storeOwn(orgRow, receivedAt, 'custom_event', ticks)
    this.refuse(orgRow, receivedAt, refusals)
    if (skewMs !== null) this.skews.push([orgRow, skewMs])
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
    for (const fact of stored) if (isOfFlow(fact)) this.facts.push(fact)
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
    if (asked) this.caused.push({ fact: event, asked })
    const person = personOf(event.userId, event.anonymousId)
    return this.catalogue.itemsCompletedBy(organisation, name).flatMap(item => {
      // People do the same thing many times: only what ticks an item is worth a row.
      const waiting = `${item.ref} ${person}`
      if ((this.waitingTicks.get(waiting) ?? Number.POSITIVE_INFINITY) <= occurredAt) return []
      const { progress } = this.projector
      if (progress.isTicked(orgRow, item.flow.ref, person, item.ref, occurredAt)) return []
      this.waitingTicks.set(waiting, occurredAt)
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
    this.settle()
    const { orgRow, flowRow, runId, completedAt } = report
    const person = personOf(report.userId, report.anonymousId)
    const earlier = this.projector.completedAt(orgRow, flowRow, person)
    // Said again it would change no number: the ledger does not repeat itself.
    if (!this.projector.isCompletionKnown(orgRow, flowRow, { person, runId, at: completedAt })) {
      const event = { ...noEvent, ...personIds(report), flowRef: flowRow, runId }
      this.storeOwn(orgRow, report.receivedAt, 'complete', [
        { ...event, id: newEventId(), kind: 'flow_completed', occurredAt: completedAt },
      ])
    }
    return {
      completedAt: Math.min(earlier ?? completedAt, completedAt),
      alreadyCompleted: earlier !== null,
    }
  }

  private tick(report: TickReport): null {
    this.settle()
    const { orgRow, flowRow, receivedAt, runId = null, sessionId = null } = report
    const person = personOf(report.userId, report.anonymousId)
    const { progress } = this.projector
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
    this.settle()
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
