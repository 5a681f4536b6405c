import {
  type AppendOutcome,
  type EventSource,
  idsOf,
  type PersonIds,
  personOf,
} from '../../../core/event/event.ts'
import { newEventId } from '../../../core/organisation/ids.ts'
import type { CompletionReport, EventBatch, NewEvent, TickReport } from '../../shared/in-rows.ts'
import type { StoredCatalogue } from '../catalogue/catalogue.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import { eventsPerBatch, noEvent } from '../ledger/event-batches.ts'
import type { Caused } from '../people/caused-events.ts'
import type { LedgerFact } from '../projections/facts.ts'
import type { Projector } from '../projections/projector.ts'

/** Which events were stored. */
export interface StoreOutcome {
  stored: readonly LedgerFact[]
  /** Places of the events that were stored already. */
  duplicates: readonly number[]
}

/** Where events are stored within the transaction under way, and where what follows from them is noted. */
export interface EventStore {
  /** The projections of the ledger, as far as they are written. */
  readonly projector: Projector
  /** Stores those events whose ids are new in one row: at most as many as a row takes. */
  storeBatch(
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    events: readonly NewEvent[],
  ): StoreOutcome
  /** Notes that a custom event was stored that published flows ask for. */
  noteCaused(caused: Caused): void
  /** Brings the tables up to date with everything stored about a flow. */
  projectFlow(flowRow: number): void
  /** Whether ticks of a flow are stored that the tables do not reflect yet. */
  hasTicksBehind(flowRow: number): boolean
}

/** Ticks by custom events in the transaction under way that the tables do not reflect yet. */
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

/** Stores what is reported about people as events, along with the events that Cairn makes of its own accord. */
export class EventCommands {
  /** What it remembers of the transaction under way. */
  readonly waitingTicks = new WaitingTicks()

  constructor(
    private readonly catalogue: StoredCatalogue,
    private readonly to: EventStore,
  ) {}

  append(batch: Pick<EventBatch, 'orgRow' | 'receivedAt' | 'events'>): AppendOutcome {
    const { orgRow, receivedAt, events } = batch
    const { stored, duplicates } = this.store(orgRow, receivedAt, 'events', events)
    const ticks: NewEvent[] = []
    for (const fact of stored) if (fact.kind === 'custom') ticks.push(...this.ticksBy(fact))
    if (ticks.length > 0) this.storeOwn(orgRow, receivedAt, 'custom_event', ticks)
    return { duplicates, deadLetters: [], erased: [] }
  }

  complete(report: CompletionReport): { completedAt: number; alreadyCompleted: boolean } {
    const { orgRow, flowRow, runId, completedAt } = report
    this.project(flowRow)
    const { projector } = this.to
    const person = personOf(report.userId, report.anonymousId)
    const earlier = projector.completedAt(orgRow, flowRow, person)
    // A repeated report would change no number, and the ledger does not repeat itself.
    if (!projector.isCompletionKnown(orgRow, flowRow, { person, runId, at: completedAt })) {
      const event = { ...noEvent, ...personIds(report), flowRef: flowRow, runId }
      this.storeOwn(orgRow, report.receivedAt, 'complete', [
        { ...event, id: newEventId(), kind: 'flow_completed', occurredAt: completedAt },
      ])
      this.project(flowRow)
    }
    return {
      completedAt: Math.min(earlier ?? completedAt, completedAt),
      alreadyCompleted: earlier !== null,
    }
  }

  tick(report: TickReport): null {
    const { orgRow, flowRow, receivedAt, runId = null, sessionId = null } = report
    this.project(flowRow)
    const person = personOf(report.userId, report.anonymousId)
    const { progress } = this.to.projector
    const standing = progress.standing(orgRow, flowRow, person)
    // A write counts as later than everything stored before it, whatever the clocks say: the reopening of
    // an item must not fall among ticks that are stored already.
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
      // The item is reopened for everybody whose tick it is.
      for (const other of whose) {
        const ids = { ...(other === person ? personIds(report) : idsOf(other)), id: newEventId() }
        events.push({ ...own, ...ids, kind: 'item_reopened', itemRef: itemRow })
      }
    }
    this.storeOwn(orgRow, receivedAt, 'checklist_progress', events)
    // Later commands of this transaction must see it: a custom event asks whether its item is ticked.
    this.project(flowRow)
    return null
  }

  /** Brings the tables up to date with everything stored about a flow, and with every tick by a custom event. */
  private project(flowRow: number): void {
    for (const ticked of this.waitingTicks.flows) this.to.projectFlow(ticked)
    this.waitingTicks.rollback()
    this.to.projectFlow(flowRow)
  }

  /** Stores events in as many rows as they need: in one, except for some events that Cairn itself makes. */
  private store(
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    events: readonly NewEvent[],
  ): StoreOutcome {
    if (events.length <= eventsPerBatch) {
      return this.to.storeBatch(orgRow, receivedAt, source, events)
    }
    const stored: LedgerFact[] = []
    const duplicates: number[] = []
    for (let from = 0; from < events.length; from += eventsPerBatch) {
      const part = events.slice(from, from + eventsPerBatch)
      const outcome = this.to.storeBatch(orgRow, receivedAt, source, part)
      stored.push(...outcome.stored)
      duplicates.push(...outcome.duplicates.map(place => from + place))
    }
    return { stored, duplicates }
  }

  /** Stores events that Cairn itself makes. */
  private storeOwn(
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    events: readonly NewEvent[],
  ): void {
    this.store(orgRow, receivedAt, source, events)
  }

  /** The ticks that a custom event makes. Also notes the event if a published flow asks for it. */
  private ticksBy(event: LedgerFact): NewEvent[] {
    const { orgRow, name, occurredAt } = event
    if (name === null) return []
    const organisation = this.catalogue.organisationByRow(orgRow)
    const requested = this.catalogue.awaited(organisation, name)
    if (requested) this.to.noteCaused({ fact: event, awaited: requested })
    const person = personOf(event.userId, event.anonymousId)
    return this.catalogue.itemsCompletedBy(organisation, name).flatMap(item => {
      // People do the same thing many times, and only an event that ticks an item is worth a row.
      if (this.waitingTicks.isTicked(item.ref, person, occurredAt)) return []
      if (this.to.hasTicksBehind(item.flow.ref)) this.to.projectFlow(item.flow.ref)
      const { progress } = this.to.projector
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
}

const personIds = ({ userId, anonymousId }: PersonIds): PersonIds => ({ userId, anonymousId })
