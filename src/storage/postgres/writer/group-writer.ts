import { AppError } from '../../../core/errors.ts'
import type { AppendOutcome } from '../../../core/event/stored-event.ts'
import { failing } from '../../../failpoints.ts'
import type { FingerprintReport, NewEvent } from '../../shared/in-rows.ts'
import type { StoredCatalogue } from '../../sqlite/catalogue/catalogue.ts'
import { decodeEvents, encodeEvents } from '../../sqlite/engine/event-codec/event-text.ts'
import type { Withholding } from '../../sqlite/erasure/withheld.ts'
import { type CommandResult, type StorageCommand, timeOf } from '../../sqlite/writer/commands.ts'
import { cannotWrite, commitInDoubt, isInDoubt } from '../../sqlite/writer/messages.ts'
import {
  eventsIn,
  GroupCommit,
  type Submission,
  type WriteObserver,
  type WriterPolicy,
} from '../../sqlite/writer/writer.ts'
import { mayBeOfRow, type Queries } from '../database/connection.ts'
import { insertEvents } from '../events/event-rows.ts'
import { bury } from '../ledger/dead-letters.ts'
import { saysTaken, takeIds } from '../ledger/event-ids.ts'
import { recordSnippetVersions } from '../presence/presence-table.ts'
import { refuseAll } from '../presence/refusals.ts'
import { writeChanges } from '../projections/write-changes.ts'
import { arrayOf, fromArrays, inArrays } from '../rows/arrays.ts'
import type { RowChange } from '../rows/tables.ts'
import { recordFingerprint, recordHealth } from '../steps/step-table.ts'
import { Concerns } from './concerns.ts'
import type { GroupExecutor, GroupRows } from './executor.ts'
import { PreparedBatches } from './prepared-batch.ts'
import type { RunNumberBlock } from './run-numbers.ts'
import type { Transactions } from './transactions.ts'

export interface GroupWriterHooks {
  observer?: WriteObserver
  /**
   * Brings the catalogue up to this change at least, before reports are judged by it.
   *
   * @returns whether it has changed
   */
  upToDate(change: number): Promise<boolean>
  /** Is told how far a page's clock was off, once its events are committed. */
  onSkew(orgRow: number, skewMs: number): void
  /** Every caller of a group has been told what became of its command. */
  onSettled?(): void
  onFault?(error: unknown, what: string): void
  /** Storage has begun to refuse writes, or takes them again. */
  onRefusing?(isRefused: boolean): void
  /** Memory no longer agrees with what is stored: only a restart helps. */
  onDivergence?(error: unknown): void
}

/** What the group writer needs from the rest of storage. */
export interface GroupWriterParts {
  transactions: Transactions
  catalogue: StoredCatalogue
  executor: GroupExecutor
  withholding: Withholding
  runNumbers: RunNumberBlock
}

/** How long a group is retried while others wait behind it, before callers are told to try later. Milliseconds. */
const longestWaitMs = 5_000

/** How often to check whether they have waited that long. */
const lookEveryMs = 1_000

const heldUp = new Error('Commits wait for a standby that is away')

/** How many groups check which ids are taken before they take any, after a group has found some taken. */
const groupsThatLook = 100

const hasDuplicates = (result: CommandResult) =>
  result !== null && 'duplicates' in result && result.duplicates.length > 0

/** The most runs that an event may create: its own, and its person's. */
const mostRunsOfEvent = 4

/**
 * Commits groups to PostgreSQL.
 *
 * A transaction that fails for a passing reason is retried and then refused as a whole (`overloaded`,
 * nothing kept). One that fails for any other reason is taken apart, so that a single poison event or
 * command goes to the dead letters and its neighbours are kept.
 */
export class GroupWriter extends GroupCommit {
  /** When the group under way began, or a part of it was committed last. */
  private progressedAt = 0
  /** How many of the next groups check first which ids are taken: few are, and checking costs as much as taking. */
  private looking = 0
  private readonly betweenRows = failing('between_rows', () => {})
  /** Lets everything in memory take note of the commit. */
  private readonly noteCommit: () => void
  private readonly prepared = new PreparedBatches()

  constructor(
    private readonly parts: GroupWriterParts,
    policy: WriterPolicy,
    private readonly hooks: GroupWriterHooks,
  ) {
    super(policy, hooks.onSettled)
    this.noteCommit = failing('after_commit', () => parts.withholding.participants.commit())
  }

  override submit(submission: Submission): void {
    this.prepared.prepare(submission.command)
    super.submit(submission)
  }

  /**
   * Executes commands of people who were not erased, within the caller's transaction. If it throws and the
   * transaction goes on from a savepoint, everything before that stays.
   */
  async executeWithin(
    transaction: Queries,
    commands: readonly StorageCommand[],
  ): Promise<CommandResult[]> {
    await this.provideNumbers(commands)
    return (await this.execution(transaction, commands, false)).results
  }

  /** Somebody else has found that the database is down: storage refuses until it has taken a write. */
  suspect(error: unknown): void {
    if (this.isRefused || this.running) return
    this.isRefused = true
    this.hooks.onFault?.(error, 'the database is away')
    this.hooks.onRefusing?.(true)
  }

  /** While storage refuses and no caller tries, checks whether it would take a write. */
  async probe(): Promise<void> {
    if (!this.isRefused || this.running || this.waiting.length > 0) return
    if (await this.isHeldUp()) return
    const isTaken = await this.parts.transactions.run(async () => true).catch(() => false)
    if (!isTaken) return
    this.isRefused = false
    this.hooks.onRefusing?.(false)
  }

  /** If the database cannot be asked, trying a commit tells. */
  private isHeldUp(): Promise<boolean> {
    return this.parts.transactions.areHeldUp().catch(() => false)
  }

  protected async commitAll(): Promise<void> {
    const group = this.takeGroup()
    if (group.length === 0) return
    const wasRefused = this.isRefused
    if (wasRefused && (await this.isHeldUp())) return this.refuse(group, heldUp)
    this.isRefused = false
    this.progressedAt = performance.now()
    // Nothing that waits behind the group has been begun. A group that is taken apart makes progress, if slowly.
    const whileItLasts = setInterval(() => {
      if (performance.now() - this.progressedAt >= longestWaitMs) this.refuseWaiting()
    }, lookEveryMs)
    try {
      await this.commitOrRefuse(group, wasRefused)
    } finally {
      clearInterval(whileItLasts)
    }
    if (wasRefused && !this.isRefused) this.hooks.onRefusing?.(false)
  }

  private async commitOrRefuse(group: readonly Submission[], wasRefused: boolean): Promise<void> {
    const startedAt = performance.now()
    for (let attempt = 1; ; attempt++) {
      try {
        const results = await this.commit(group.map(({ command }) => command))
        for (const [i, one] of group.entries()) this.settle(one, results[i] ?? null)
        return
      } catch (error) {
        if (!isInDoubt(error) && mayBeOfRow(error)) return this.commitApart(group, error)
        if (attempt === 1 && !wasRefused) this.hooks.onFault?.(error, 'a commit failed')
        if (isInDoubt(error)) return this.refuse(group, error)
        const isLate = performance.now() - startedAt >= longestWaitMs
        if (isLate || attempt >= this.policy.tries) {
          this.refuse(group, error)
          if (isLate) this.refuseWaiting(error)
          return
        }
        await Bun.sleep(this.policy.retryPauseMs * 2 ** (attempt - 1))
      }
    }
  }

  /** @returns the outcome of each command */
  private async commit(commands: readonly StorageCommand[]): Promise<CommandResult[]> {
    if (this.looking > 0) this.looking--
    else {
      try {
        return await this.commitOnce(commands, true)
      } catch (error) {
        if (!saysTaken(error)) throw error
      }
    }
    const results = await this.commitOnce(commands, false)
    if (results.some(hasDuplicates)) this.looking = groupsThatLook
    return results
  }

  /** @param areNew whether all ids are assumed to be free; see `Concerns` */
  private async commitOnce(
    commands: readonly StorageCommand[],
    areNew: boolean,
  ): Promise<CommandResult[]> {
    const startedAt = performance.now()
    const { participants } = this.parts.withholding
    await this.provideNumbers(commands)
    let rows: GroupRows | null = null
    try {
      const results = await this.parts.transactions.run(async transaction => {
        // The group is executed again.
        if (rows) participants.rollback()
        const done = await this.execution(transaction, commands, areNew)
        rows = done.rows
        participants.beforeCommit()
        return done.results
      })
      this.takeUp()
      for (const { orgRow, skewMs } of rows!.skews) this.hooks.onSkew(orgRow, skewMs)
      this.progressedAt = performance.now()
      const durationMs = this.progressedAt - startedAt
      const events = commands.reduce((sum, command) => sum + eventsIn(command), 0)
      this.hooks.observer?.committed({ commands: commands.length, events, durationMs })
      return results
    } catch (error) {
      participants.rollback()
      throw error
    }
  }

  private takeUp(): void {
    try {
      this.noteCommit()
    } catch (cause) {
      this.hooks.onDivergence?.(cause)
      // If it were executed again, it would be stored twice.
      throw commitInDoubt(cause)
    }
  }

  /** Makes sure that there are enough run numbers for everything that these commands may create. */
  private provideNumbers(commands: readonly StorageCommand[]): Promise<void> {
    const events = commands.reduce((sum, command) => sum + eventsIn(command), 0)
    return this.parts.runNumbers.provide(events * mostRunsOfEvent)
  }

  /** Executes commands within a transaction, and writes what follows from them. */
  private async execution(
    transaction: Queries,
    commands: readonly StorageCommand[],
    areNew: boolean,
  ) {
    const { catalogue, executor, withholding } = this.parts
    const concernsOf = () => new Concerns(commands, areNew, catalogue, this.prepared, withholding)
    let concerns = concernsOf()
    const ledgers = await transaction.all<Ledger>(
      `select org_id, seq, change, sealed_until from ledgers
      where org_id = any($1::text::bigint[]) order by org_id for update`,
      arrayOf(concerns.organisations),
    )
    // From here on nobody else can change these rows, and the next statement sees everything committed so far.
    const change = Math.max(0, ...ledgers.map(({ change }) => change))
    if (await this.hooks.upToDate(change)) concerns = concernsOf()
    const { taken, states, plain } = await concerns.read(transaction)
    const numbers = new Map(ledgers.map(({ org_id, seq }) => [org_id, seq]))
    const results: CommandResult[] = []
    const fingerprints: { place: number; report: FingerprintReport }[] = []
    const { batches, whole } = concerns
    const rows = executor.run({ batches, whole, taken, states, plain, numbers }, () => {
      for (const [place, command] of commands.entries()) {
        if (command.type === 'fingerprint') fingerprints.push({ place, report: command })
        else results[place] = withholding.execute(command)
      }
      withholding.settle()
    })
    await this.write(transaction, rows, ledgers, numbers)
    for (const { place, report } of fingerprints) {
      results[place] = await recordFingerprint(transaction, report)
    }
    return { results, rows }
  }

  private async write(
    transaction: Queries,
    rows: GroupRows,
    ledgers: readonly Ledger[],
    numbers: ReadonlyMap<number, number>,
  ): Promise<void> {
    const { events, ids, refusals, health, progressed, versions } = rows
    const written: Promise<unknown>[] = []
    if (ids.length > 0) written.push(takeIds(transaction, ids))
    if (events.length > 0) {
      const moved = ledgers
        .map(({ org_id, seq }) => ({ org_id, seq: numbers.get(org_id)!, before: seq }))
        .filter(({ seq, before }) => seq !== before)
        .map(one => ({ ...one, latest_at: latestOf(events, one.org_id) }))
      written.push(insertEvents(transaction, events), noteNumbers(transaction, moved))
      this.betweenRows()
    }
    if (progressed.size > 0) {
      const people = [...progressed.values()]
      const noted = people.map(one => ({ ...one, seq: numbers.get(one.org_id)! }))
      written.push(noteProgressed(transaction, noted))
    }
    const sealedUntil = new Map(ledgers.map(({ org_id, sealed_until }) => [org_id, sealed_until]))
    const sealedOf = ({ key }: RowChange) => sealedUntil.get(Number(key.org_id))!
    const hasNone = (change: RowChange) => sealedOf(change) === 0
    // Most runs start after everything in segments.
    const isLater = (run: RowChange) => Number(run.content!.started_at) >= sealedOf(run)
    written.push(writeChanges(transaction, rows.changes, hasNone))
    written.push(writeChanges(transaction, rows.plainChanges, isLater))
    if (versions.size > 0) written.push(recordSnippetVersions(transaction, versions))
    written.push(refuseAll(transaction, refusals), recordHealth(transaction, ...health))
    await Promise.all(written)
  }

  private settle(waiting: Submission, result: CommandResult): void {
    const { command } = waiting
    if (command.type === 'append') this.hooks.observer?.appended(command, result as AppendOutcome)
    waiting.resolve(result)
  }

  /** Commits each command by itself and, if a batch fails even so, each of its events by itself. */
  private async commitApart(group: readonly Submission[], error: unknown): Promise<void> {
    this.hooks.onFault?.(error, 'a group of commands is taken apart')
    for (const [i, waiting] of group.entries()) {
      try {
        const [result] = await this.commit([waiting.command])
        this.settle(waiting, result ?? null)
      } catch (fault) {
        if (!isInDoubt(fault) && mayBeOfRow(fault)) {
          await this.setAside(waiting, fault)
          continue
        }
        this.refuse([waiting], fault)
        this.refuse(group.slice(i + 1), fault instanceof AppError ? fault.cause : fault)
        return
      }
    }
  }

  /** Keeps the part of a command that PostgreSQL takes, and the rest as dead letters. */
  private async setAside(waiting: Submission, fault: unknown): Promise<void> {
    const { command } = waiting
    try {
      if (command.type === 'append') {
        this.settle(waiting, await this.commitEventByEvent(command))
        return
      }
      this.hooks.onFault?.(fault, `a command (${command.type}) goes to the dead letters`)
      const { orgRow } = command
      if (!this.parts.withholding.isWithheld(orgRow, command)) {
        await this.parts.transactions.run(queries =>
          bury(queries, orgRow, timeOf(command), fault, command),
        )
      }
      waiting.reject(fault)
    } catch (passing) {
      this.refuse([waiting], passing)
    }
  }

  private async commitEventByEvent(
    command: Extract<StorageCommand, { type: 'append' }>,
  ): Promise<AppendOutcome> {
    const { orgRow, receivedAt, text } = command
    const outcome = {
      duplicates: [] as number[],
      deadLetters: [] as number[],
      erased: [] as number[],
    }
    // What belongs to the batch and to no event comes first, so that no failing event takes it along.
    await this.commit([{ ...command, text: encodeEvents([]) }])
    const events = decodeEvents({ ...text, receivedAts: [receivedAt], source: 'events' })
    for (const [i, event] of events.entries()) {
      const one = { ...command, refusals: {}, skewMs: null, text: encodeEvents([event]) }
      try {
        const [result] = (await this.commit([one])) as [AppendOutcome]
        if (result.duplicates.length > 0) outcome.duplicates.push(i)
        if (result.erased.length > 0) outcome.erased.push(i)
      } catch (fault) {
        if (isInDoubt(fault) || !mayBeOfRow(fault)) throw commitInDoubt(fault)
        try {
          await this.buryEvent(orgRow, event, receivedAt, fault)
        } catch (passing) {
          // The events before it are kept.
          throw commitInDoubt(passing)
        }
        outcome.deadLetters.push(i)
      }
    }
    return outcome
  }

  private async buryEvent(orgRow: number, event: NewEvent, at: number, fault: unknown) {
    this.hooks.onFault?.(fault, 'an event goes to the dead letters')
    if (this.parts.withholding.isWithheld(orgRow, event)) return
    await this.parts.transactions.run(queries => bury(queries, orgRow, at, fault, event))
  }

  /**
   * Tells waiting callers that storage cannot write, or that nobody knows what it has written. Keeps for later
   * what was acknowledged already, which is then recognised by its ids.
   */
  private refuse(group: readonly Submission[], error: unknown): void {
    this.isRefused = true
    this.hooks.onRefusing?.(true)
    const kept = group.filter(({ isAwaited }) => !isAwaited)
    this.waiting.unshift(...(isInDoubt(error) ? kept.map(withoutRefusals) : kept))
    const refusal = isInDoubt(error) ? error : cannotWrite(error)
    for (const waiting of group) if (waiting.isAwaited) waiting.reject(refusal)
  }

  private refuseWaiting(error?: unknown): void {
    const refused = this.waiting.filter(({ isAwaited }) => isAwaited)
    this.waiting = this.waiting.filter(({ isAwaited }) => !isAwaited)
    for (const waiting of refused) waiting.reject(cannotWrite(error))
    this.hooks.onSettled?.()
  }
}

/**
 * An acknowledged command, to be executed again although it may be committed. Nothing tells whether its refusals
 * were counted already, so they are left out rather than counted twice.
 */
function withoutRefusals(one: Submission): Submission {
  const { command, isAwaited } = one
  if (command.type !== 'append') return one
  return {
    command: { ...command, refusals: {} },
    isAwaited,
    resolve: result => one.resolve(result),
    reject: error => one.reject(error),
  }
}

/** What is read from an organisation's row when it is locked. */
interface Ledger {
  org_id: number
  seq: number
  change: number
  /** 0 if no run was ever sealed. */
  sealed_until: number
}

const ledgerNumbers = { org_id: 'bigint', seq: 'bigint', latest_at: 'bigint' } as const

/** When the newest event of an organisation was received. */
const latestOf = (stored: GroupRows['events'], orgRow: number): number =>
  stored
    .filter(batch => batch.orgRow === orgRow)
    .reduce((latest, { events: [first] }) => Math.max(latest, first!.receivedAt), 0)

/** Writes the last number of each organisation's events, and when the newest was received. */
function noteNumbers(
  queries: Queries,
  rows: readonly { org_id: number; seq: number; latest_at: number }[],
): Promise<unknown> {
  return queries.run(
    `update ledgers l set seq = k.seq, latest_at = greatest(l.latest_at, k.latest_at)
    from ${fromArrays(ledgerNumbers)} where l.org_id = k.org_id`,
    ...inArrays(ledgerNumbers, rows),
  )
}

const personChanges = { org_id: 'bigint', person: 'text', seq: 'bigint' } as const

function noteProgressed(
  queries: Queries,
  rows: readonly { org_id: number; person: string; seq: number }[],
): Promise<unknown> {
  return queries.run(
    `insert into person_changes (org_id, person, seq) select * from ${fromArrays(personChanges)}
    on conflict (org_id, person) do update set seq = excluded.seq`,
    ...inArrays(personChanges, rows),
  )
}
