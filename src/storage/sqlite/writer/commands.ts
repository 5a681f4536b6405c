import type { Database } from 'bun:sqlite'
import type { AppendOutcome, EventSource, RejectionCode } from '../../../core/event/event.ts'
import { hourMs } from '../../../core/time/durations.ts'
import { failing } from '../../../failpoints.ts'
import type { EventBatch, NewEvent } from '../../shared/in-rows.ts'
import type { StoredCatalogue } from '../catalogue/catalogue.ts'
import { Participants, TransactionParticipant } from '../engine/participant.ts'
import { letterText } from '../ledger/dead-letter-text.ts'
import { EventBatches, eventsPerBatch, type OpenBatch } from '../ledger/event-batches.ts'
import { EventIds } from '../ledger/event-ids.ts'
import type { PresenceTable } from '../organisations/presence-table.ts'
import type { Caused } from '../people/caused-events.ts'
import { factOf, type LedgerFact } from '../projections/facts.ts'
import { Follower } from '../projections/follower.ts'
import type { FollowerState } from '../projections/pending-facts.ts'
import type { RunChanges } from '../runs/run-table.ts'
import { StepTable } from '../steps/step-table.ts'
import { type CommandResult, type StorageCommand, timeOf } from './command.ts'
import { EventCommands, type StoreOutcome } from './event-commands.ts'

/** What the writer needs from whatever executes its commands. */
export type Executor = Pick<
  CommandExecutor,
  'execute' | 'settle' | 'participants' | 'bury' | 'buryCommand'
>

/** How far the clocks of pages were off, reported once their events are committed. */
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

/**
 * Executes commands within the transaction that the writer has begun: stores events and what is reported
 * with them. What events mean is projected later (`Follower`), except for the flow of a command whose
 * answer needs it.
 */
export class CommandExecutor {
  readonly ids: EventIds
  readonly follower: Follower
  /** All state that is kept in memory beside the database. */
  readonly participants: TransactionParticipant
  private readonly steps: StepTable
  private readonly batches: EventBatches
  private readonly settled: () => void
  private readonly skews: Skews
  private readonly addRejections
  private readonly insertDeadLetter
  private readonly events: EventCommands
  /** Where the custom events of the transaction under way are. */
  private readonly placeOf = new Map<LedgerFact, { batch: OpenBatch; place: number }>()

  constructor(
    database: Database,
    catalogue: StoredCatalogue,
    private readonly presence: PresenceTable,
    runChanges: RunChanges,
    live: FollowerState,
  ) {
    this.steps = new StepTable(database)
    this.ids = new EventIds(database)
    this.batches = new EventBatches(database)
    this.settled = failing('between_rows', () => this.placeOf.clear())
    this.skews = new Skews(presence)
    this.follower = new Follower(database, catalogue, runChanges, this.ids, live)
    const { follower } = this
    this.events = new EventCommands(catalogue, {
      projector: follower.projector,
      storeBatch: (...args) => this.storeBatch(...args),
      noteCaused: caused => this.noteCaused(caused),
      projectFlow: flowRow => follower.projectFlow(flowRow),
      hasTicksBehind: flowRow => follower.hasTicksBehind(flowRow),
    })
    this.participants = new Participants([
      this.ids,
      this.batches,
      this.follower,
      this.skews,
      this.events.waitingTicks,
    ])
    this.addRejections = database.query(
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
        return this.events.complete(command)
      case 'tick':
        return this.events.tick(command)
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

  /** Writes what the commands so far have stored. Call it before the commit, otherwise nothing of it is kept. */
  settle(): void {
    this.batches.flush()
    this.settled()
  }

  /** Notes in the ledger which flows wait for it, because the published flows may be others once it is read again. */
  private noteCaused(caused: Caused): void {
    const { batch, place } = this.placeOf.get(caused.fact)!
    const { max, goalOf } = caused.awaited
    batch.awaited.push([place, max, goalOf])
    this.follower.noteCaused(caused)
  }

  /** Keeps an event that the database would not take, with the reason. */
  bury(orgRow: number, event: NewEvent, at: number, error: unknown): void {
    this.insertDeadLetter.run(orgRow, at, String(error), letterText(event))
    this.refuse(orgRow, at, { storage: 1 })
  }

  /**
   * Keeps a report that the database would not take, in the form of its command. A command that only counts
   * something is not worth it.
   */
  buryCommand(command: Exclude<StorageCommand, { type: 'append' }>, error: unknown): void {
    const { type } = command
    if (type === 'refusal' || type === 'snippet_version') return
    const at = timeOf(command)
    this.insertDeadLetter.run(command.orgRow, at, String(error), JSON.stringify(command))
    this.refuse(command.orgRow, at, { storage: 1 })
  }

  private append(batch: EventBatch): AppendOutcome {
    const { orgRow, receivedAt, refusals, skewMs } = batch
    const outcome = this.events.append(batch)
    this.refuse(orgRow, receivedAt, refusals)
    if (skewMs !== null) this.skews.note(orgRow, skewMs)
    return outcome
  }

  /** Stores those events whose ids are new in one row, and notes what follows from them. */
  storeBatch(
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    events: readonly NewEvent[],
  ): StoreOutcome {
    const batch = this.batches.withRoom(orgRow, source, events.length, () => this.ids.newSeq())
    const duplicates = this.ids.take(
      orgRow,
      events.map(({ id }) => id),
      batch.seq * eventsPerBatch + batch.count,
    )
    const kept =
      duplicates.length === 0 ? events : events.filter((_, place) => !duplicates.includes(place))
    const stored = kept.map(event => factOf(orgRow, event, source))
    for (const [i, fact] of stored.entries()) {
      if (fact.kind === 'custom') this.placeOf.set(fact, { batch, place: batch.count + i })
    }
    batch.add(kept, receivedAt, stored)
    this.follower.note(stored)
    return { stored, duplicates }
  }

  /** Counts what was refused, by code. */
  refuse(
    orgRow: number,
    at: number,
    counts: Partial<Record<RejectionCode | string, number>>,
  ): void {
    for (const [code, count] of Object.entries(counts)) {
      if (count) this.addRejections.run(orgRow, Math.floor(at / hourMs), code, count)
    }
  }
}
