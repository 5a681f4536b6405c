import type { Database } from 'bun:sqlite'
import { itemStates } from '../core/checklist.ts'
import { hourMs } from '../core/durations.ts'
import { type EventSource, eventSources, personOf, type RejectionCode } from '../core/event.ts'
import { newEventId } from '../core/ids.ts'
import type {
  AppendOutcome,
  EventBatch,
  FingerprintReport,
  FingerprintVerdict,
  HealthReport,
  Ledger,
  NewEvent,
  PersonIds,
} from '../core/ports.ts'
import type { StoredCatalogue } from './catalogue.ts'
import { EventTable } from './event-table.ts'
import type { Fact } from './facts.ts'
import { EventIds } from './ids/event-ids.ts'
import type { PresenceTable } from './presence-table.ts'
import { Projector } from './projector.ts'
import type { RunBlocks } from './run-blocks/run-blocks.ts'
import { StepTable } from './step-table.ts'

/** Everything that the storage thread is asked to write, one type a verb. `messages.ts` says how it travels. */
export type Command =
  | ({ type: 'append' } & EventBatch)
  | ({ type: 'complete' } & Parameters<Ledger['complete']>[0])
  | ({ type: 'tick' } & Parameters<Ledger['tick']>[0])
  | ({ type: 'health' } & HealthReport)
  | ({ type: 'fingerprint' } & FingerprintReport)
  | { type: 'snippet_version'; orgRow: number; version: string; at: number }
  | { type: 'refusal'; orgRow: number; code: string; at: number }

export type CommandResult =
  | AppendOutcome
  | { completedAt: number; alreadyCompleted: boolean }
  | FingerprintVerdict
  | null

const customEvent = eventSources.indexOf('custom_event')

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
  private readonly ids: EventIds
  private readonly events: EventTable
  private readonly addRefusals
  private readonly insertDeadLetter
  private facts: Fact[] = []
  /** By item and person: ticks by custom events among the facts that are not projected yet. */
  private readonly waitingTicks = new Map<string, number>()
  private skews: [orgRow: number, skewMs: number][] = []

  constructor(
    database: Database,
    private readonly catalogue: StoredCatalogue,
    private readonly presence: PresenceTable,
    private readonly blocks: RunBlocks,
  ) {
    const historyOf = (orgRow: number, flowRow: number) => {
      const flow = catalogue.flowByRow(orgRow, flowRow)
      if (!flow) throw new Error(`No flow has row ${flowRow}`)
      return flow
    }
    this.projector = new Projector(database, historyOf, blocks)
    this.steps = new StepTable(database)
    this.ids = new EventIds(database)
    this.events = new EventTable(database)
    this.addRefusals = database.query(
      `insert into refusals (org_id, hour, code, count) values (?, ?, ?, ?)
      on conflict do update set count = count + excluded.count`,
    )
    this.insertDeadLetter = database.query(
      'insert into dead_letters (org_id, at, error, event) values (?, ?, ?, ?)',
    )
  }

  execute(command: Command): CommandResult {
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
    this.events.flush()
    const facts = this.facts
    this.forgetFacts()
    this.projector.project(facts)
  }

  /** Another process has written: what is known of the tables may be so no longer. */
  othersWrote(): void {
    this.projector.othersWrote()
    this.blocks.othersWrote()
  }

  /** The last thing in every transaction. */
  beforeCommit(): void {
    this.ids.beforeCommit()
  }

  /** Notes in memory what the transaction, now committed, has said. */
  committed(): void {
    this.ids.committed()
    for (const [orgRow, skewMs] of this.skews) this.presence.addSkew(orgRow, skewMs)
    this.skews = []
  }

  /** Where a savepoint stands, for `rolledBackTo`. */
  get mark(): number {
    return this.ids.mark
  }

  /** Forgets what was rolled back to a savepoint, before which all was settled. */
  rolledBackTo(mark: number): void {
    this.forgetFacts()
    this.events.forget()
    this.blocks.forget()
    this.ids.giveBack(mark)
  }

  /** Forgets all that a transaction had gathered. */
  rolledBack(): void {
    this.forgetFacts()
    this.events.forget()
    this.blocks.forget()
    this.ids.rolledBack()
    this.skews = []
  }

  /** Keeps an event that the database would not take, with the reason. */
  bury(orgRow: number, event: NewEvent, at: number, error: unknown): void {
    this.insertDeadLetter.run(orgRow, at, String(error), JSON.stringify(event))
    this.refuse(orgRow, at, { storage: 1 })
  }

  private forgetFacts(): void {
    this.facts = []
    this.waitingTicks.clear()
  }

  private append(batch: EventBatch): AppendOutcome {
    const duplicates: number[] = []
    for (const [i, event] of batch.events.entries()) {
      if (!this.store(batch.orgRow, event, batch.receivedAt, 'events')) duplicates.push(i)
      else if (event.kind === 'custom') this.tickByCustomEvent(batch, event)
    }
    this.refuse(batch.orgRow, batch.receivedAt, batch.refusals)
    if (batch.skewMs !== null) this.skews.push([batch.orgRow, batch.skewMs])
    return { duplicates, deadLetters: [] }
  }

  /** Stores one event, and gathers what follows from it; false where its id is stored already. */
  private store(orgRow: number, event: NewEvent, receivedAt: number, source: EventSource): boolean {
    const seq = this.ids.take(orgRow, event.id, receivedAt)
    if (seq === null) return false
    this.events.add(seq, orgRow, event, receivedAt, source)
    const fact = factOf(orgRow, event, eventSources.indexOf(source))
    if (fact) this.facts.push(fact)
    return true
  }

  private tickByCustomEvent(batch: EventBatch, event: NewEvent): void {
    if (event.name === null) return
    const { orgRow } = batch
    const organisation = this.catalogue.organisationByRow(orgRow)
    const person = personOf(event.userId, event.anonymousId)
    for (const item of this.catalogue.itemsCompletedBy(organisation, event.name)) {
      // People do the same thing many times: only what ticks an item is worth a row.
      const { ticks } = this.projector
      const at = event.occurredAt
      const waiting = `${item.row} ${person}`
      if ((this.waitingTicks.get(waiting) ?? Number.POSITIVE_INFINITY) <= at) continue
      if (ticks.isTicked(orgRow, item.flow.row, person, item.row, at)) continue
      this.waitingTicks.set(waiting, at)
      this.store(
        orgRow,
        {
          ...noEvent,
          ...personIds(event),
          id: newEventId(),
          kind: 'item_completed',
          flowRow: item.flow.row,
          itemRow: item.row,
          occurredAt: at,
        },
        batch.receivedAt,
        'custom_event',
      )
    }
  }

  private complete(report: Parameters<Ledger['complete']>[0]): CommandResult {
    this.settle()
    const { orgRow, flowRow, runId, completedAt } = report
    const person = personOf(report.userId, report.anonymousId)
    const earlier = this.projector.ticks.completedAt(orgRow, flowRow, person)
    // Said again it would change no number: the ledger does not repeat itself.
    if (!this.projector.isCompletionKnown(orgRow, flowRow, { person, runId, at: completedAt })) {
      const event = { ...noEvent, ...personIds(report), flowRow, runId }
      this.store(
        orgRow,
        { ...event, id: newEventId(), kind: 'flow_completed', occurredAt: completedAt },
        report.receivedAt,
        'complete',
      )
    }
    return {
      completedAt: Math.min(earlier ?? completedAt, completedAt),
      alreadyCompleted: earlier !== null,
    }
  }

  private tick(report: Parameters<Ledger['tick']>[0]): null {
    this.settle()
    const { orgRow, flowRow, receivedAt } = report
    const person = personOf(report.userId, report.anonymousId)
    const { ticks } = this.projector
    const states = itemStates(ticks.ticksOf(orgRow, flowRow, person))
    // A write counts after all that was stored before it, whatever the clocks say: a taking back
    // must not fall among ticks that are stored already.
    const lastTickAt = ticks.lastTickAt(orgRow, flowRow, person)
    const occurredAt = Math.max(receivedAt, lastTickAt === null ? 0 : lastTickAt + 1)
    for (const { itemRow, completed } of report.items) {
      if (states.has(itemRow) === completed) continue
      this.store(
        orgRow,
        {
          ...noEvent,
          ...personIds(report),
          id: newEventId(),
          kind: completed ? 'item_completed' : 'item_reopened',
          flowRow,
          itemRow,
          occurredAt,
        },
        receivedAt,
        'checklist_progress',
      )
      if (completed) states.set(itemRow, occurredAt)
      else states.delete(itemRow)
    }
    // What follows in this transaction must see it: a custom event asks whether its item is ticked.
    this.settle()
    return null
  }

  private refuse(
    orgRow: number,
    at: number,
    counts: Partial<Record<RejectionCode | string, number>>,
  ): void {
    for (const [code, count] of Object.entries(counts)) {
      if (count) this.addRefusals.run(orgRow, Math.floor(at / hourMs), code, count)
    }
  }
}

/** What an event means for the projections; null where it means nothing. */
export function factOf(orgRow: number, event: NewEvent, source: number): Fact | null {
  if (event.flowRow === null || event.kind === 'custom') return null
  return {
    orgRow,
    flowRow: event.flowRow,
    itemRow: event.itemRow,
    byCustomEvent: source === customEvent,
    kind: event.kind,
    userId: event.userId,
    anonymousId: event.anonymousId,
    flowVersion: event.flowVersion,
    stepId: event.stepRow,
    runId: event.runId,
    sessionId: event.sessionId,
    occurredAt: event.occurredAt,
  }
}

const personIds = ({ userId, anonymousId }: PersonIds): PersonIds => ({ userId, anonymousId })

const noEvent = {
  userId: null,
  anonymousId: null,
  flowRow: null,
  flowVersion: null,
  stepRow: null,
  itemRow: null,
  runId: null,
  sessionId: null,
  reportedAt: null,
  url: null,
  name: null,
  reason: null,
  properties: null,
}
