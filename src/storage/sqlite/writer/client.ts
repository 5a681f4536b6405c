import type { AppendOutcome, EventBatch } from '../../../core/event/stored-event.ts'
import { failing } from '../../../failpoints.ts'
import type { Room } from '../../../http/port.ts'
import type { ProgressLedger } from '../../../modules/checklists/port.ts'
import type { Activity, EventLedger, JudgedEvent } from '../../../modules/events/port.ts'
import type {
  FingerprintReport,
  FingerprintVerdict,
  HealthReport,
} from '../../../modules/steps/port.ts'
import type { ActivityCall } from '../../shared/activity/live-activity.ts'
import type { AuthorCall, AuthorSessions } from '../../shared/author/author-sessions.ts'
import type { PreviewCall, PreviewLinks } from '../../shared/author/previews.ts'
import type { BufferGauge } from '../../shared/boards.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { encodeEvents } from '../engine/event-codec/event-text.ts'
import type { CommandResult, StorageCommand } from './commands.ts'
import {
  type Asked,
  bufferIsFull,
  cannotWrite,
  decodeProgress,
  decodeResult,
  encodeCommand,
  framed,
  type Numbered,
  weightOf,
} from './messages.ts'
import type { StorageOperations } from './operations.ts'

/** How many events and bytes some commands carry. */
interface Weight {
  events: number
  bytes: number
}

/**
 * With this many commands, events or bytes, a message leaves without waiting for the end of the turn:
 * enough to share the cost of a message and of a commit, few enough for storage to begin while the rest of
 * a burst is still being read.
 */
const mostCommands = 32
const mostEvents = 256
const mostBytes = 1024 ** 2

/**
 * Commands on their way to the storage thread, gathered into few messages, because a message costs both
 * threads a turn.
 *
 * Commands of one turn of the event loop leave together, in messages of bounded size. Nothing waits for
 * answers or for a timer: while storage commits, messages queue up there and share the next commit anyway.
 * If commands were held back here, all callers would be answered at once and would call again at once, and
 * the two threads would take turns instead of working side by side.
 */
export class Outbox {
  private gathered = ''
  private commands = 0
  private turn: NodeJS.Immediate | null = null
  /** The weight of the commands that are gathered and not sent yet. */
  readonly weight: Weight = { events: 0, bytes: 0 }

  constructor(private readonly send: (message: string, weight: Weight) => void) {}

  put(command: string, weight: Weight): void {
    this.gathered += framed(command)
    this.commands++
    this.weight.events += weight.events
    this.weight.bytes += weight.bytes
    const { events, bytes } = this.weight
    if (this.commands >= mostCommands || events >= mostEvents || bytes >= mostBytes) this.flush()
    else this.turn ??= setImmediate(() => this.flush())
  }

  /** Sends a command that nobody waits for. It leaves at once: if held here, it could be lost with the thread. */
  putUnawaited(command: string, weight: Weight): void {
    this.send(framed(command), weight)
  }

  private flush(): void {
    if (this.turn !== null) clearImmediate(this.turn)
    this.turn = null
    const message = this.gathered
    this.gathered = ''
    this.commands = 0
    const weight = { ...this.weight }
    this.weight.events = 0
    this.weight.bytes = 0
    this.send(message, weight)
  }
}

/** After this long a version is recorded again, because another node may have recorded another one since. */
const repeatVersionMs = 10_000

type Ledger = Room & EventLedger & ProgressLedger

interface Pending {
  /** Receives progress reports, if there are any. */
  tell?: (progress: never) => void
  resolve(result: CommandResult): void
  reject(error: Error): void
}

/** The storage thread as seen from the main thread: sends commands and matches answers to them. */
export class StorageClient implements InRows<Ledger> {
  private readonly pending = new Map<number, Pending>()
  private lastNumber = 0
  /** The version that was last recorded from here, by organisation. */
  private readonly snippetVersions = new Map<number, { version: string; at: number }>()
  private readonly outbox: Outbox

  /**
   * @param send passes a message on to storage, which hands its answers to `receive`
   * @param ack `buffer`: events are acknowledged once they are handed over, not once committed
   */
  constructor(
    send: (message: string) => void,
    private readonly gauge: BufferGauge,
    private readonly ack: 'commit' | 'buffer',
  ) {
    this.outbox = new Outbox((message, { events, bytes }) => {
      gauge.enter(events, bytes)
      send(message)
    })
  }

  /** A client of the storage thread at the other end of a port. */
  static over(port: MessagePort, gauge: BufferGauge, ack: 'commit' | 'buffer'): StorageClient {
    const client = new StorageClient(message => port.postMessage(message), gauge, ack)
    port.onmessage = ({ data }: { data: string }) => client.receive(data)
    return client
  }

  /** Takes answers of the storage thread, one per line. */
  receive(message: string): void {
    for (const line of message.split('\n')) this.settle(line)
  }

  private settle(line: string): void {
    const progress = decodeProgress(line)
    if (progress) {
      this.tellProgress(progress)
      return
    }
    const { number, value } = decodeResult(line)
    const pending = this.pending.get(number)
    if (!pending) return
    this.pending.delete(number)
    if (value instanceof Error) pending.reject(value)
    else pending.resolve(value)
  }

  /** If a caller cannot be told, it stops waiting; the work that it asked for goes on. */
  private tellProgress({ number, value }: Numbered<object>): void {
    const pending = this.pending.get(number)
    try {
      pending?.tell?.(value as never)
    } catch (error) {
      this.pending.delete(number)
      pending?.reject(error as Error)
    }
  }

  requireRoom(): void {
    if (!this.gauge.hasRoom) throw bufferIsFull()
  }

  append({ events, orgRef: orgRow, ...batch }: InRows<EventBatch>): Promise<AppendOutcome> {
    const command: StorageCommand = { type: 'append', orgRow, ...batch, text: encodeEvents(events) }
    return this.ack === 'buffer'
      ? this.tell(command)
      : (this.ask(command) as Promise<AppendOutcome>)
  }

  async complete({
    orgRef: orgRow,
    flowRef: flowRow,
    ...report
  }: InRows<Parameters<ProgressLedger['complete']>[0]>): Promise<{
    completedAt: number
    alreadyCompleted: boolean
  }> {
    const result = await this.ask({ type: 'complete', orgRow, flowRow, ...report })
    return result as { completedAt: number; alreadyCompleted: boolean }
  }

  async tick({
    orgRef: orgRow,
    flowRef: flowRow,
    ...report
  }: InRows<Parameters<ProgressLedger['tick']>[0]>): Promise<void> {
    const items = report.items.map(({ itemRef: itemRow, completed }) => ({ itemRow, completed }))
    await this.ask({ type: 'tick', orgRow, flowRow, ...report, items })
  }

  async recordHealth({
    orgRef: orgRow,
    stepRef: stepRow,
    ...report
  }: InRows<HealthReport>): Promise<void> {
    await this.ask({ type: 'health', orgRow, stepRow, ...report })
  }

  async recordFingerprint({
    orgRef: orgRow,
    stepRef: stepRow,
    ...report
  }: InRows<FingerprintReport>): Promise<FingerprintVerdict> {
    const result = await this.ask({ type: 'fingerprint', orgRow, stepRow, ...report })
    return result as FingerprintVerdict
  }

  /** Nearly every heartbeat repeats the version of the one before, which is not worth a commit. */
  recordSnippetVersion(orgRow: number, version: string, at: number): Promise<void> | undefined {
    const last = this.snippetVersions.get(orgRow)
    if (last?.version === version && at - last.at < repeatVersionMs) return
    return this.ask({ type: 'snippet_version', orgRow, version, at }).then(() => {
      this.snippetVersions.set(orgRow, { version, at })
    })
  }

  async recordRefusal(orgRow: number, code: string, at: number): Promise<void> {
    await this.ask({ type: 'refusal', orgRow, code, at })
  }

  /** Has the storage thread carry out an operation; resolves once it is committed and synced. */
  async operate<Name extends keyof StorageOperations>(
    name: Name,
    ...input: Parameters<StorageOperations[Name]>
  ): Promise<ReturnType<StorageOperations[Name]>> {
    const result: unknown = await this.ask({ type: 'operation', name, input })
    return result as ReturnType<StorageOperations[Name]>
  }

  /** As `operate`, for operations that take long; tells how far they have come. */
  async work<Result>(
    name: string,
    input: readonly unknown[],
    tell?: (progress: never) => void,
  ): Promise<Result> {
    const operation = { type: 'operation', name: name as keyof StorageOperations, input } as const
    const result: unknown = await this.ask(operation, tell)
    return result as Result
  }

  /** Resolves once the tables reflect everything acknowledged by now. */
  async project(): Promise<void> {
    await this.ask({ type: 'project' })
  }

  /** Resolves once this machine has taken up what others have stored. */
  async follow(): Promise<void> {
    await this.ask({ type: 'follow' })
  }

  /** Tells those who watch what became of events. Never fails, and gives way to everything that has to be kept. */
  noteJudged(orgRow: number, events: readonly JudgedEvent[], left: number): void {
    if (!this.gauge.hasRoom) return
    const call: ActivityCall = { type: 'activity', orgRow, events, left }
    const message = encodeCommand(0, call)
    this.outbox.putUnawaited(message, weightOf(message, call))
  }

  /** Reads what has arrived while somebody watches. */
  async activity(orgRow: number, after: string | null): Promise<Activity> {
    const result: unknown = await this.ask({ type: 'activity', orgRow, after })
    return result as Activity
  }

  /** Asks the author sessions, which are in the storage thread's memory. */
  async author<Verb extends AuthorCall['verb']>(
    verb: Verb,
    ...input: Parameters<AuthorSessions[Verb]>
  ): Promise<ReturnType<AuthorSessions[Verb]>> {
    const result: unknown = await this.ask({ type: 'author', verb, input })
    return result as ReturnType<AuthorSessions[Verb]>
  }

  /** Asks the preview links, which are in the storage thread's memory too. */
  async preview<Verb extends PreviewCall['verb']>(
    verb: Verb,
    ...input: Parameters<PreviewLinks[Verb]>
  ): Promise<ReturnType<PreviewLinks[Verb]>> {
    const result: unknown = await this.ask({ type: 'preview', verb, input })
    return result as ReturnType<PreviewLinks[Verb]>
  }

  /**
   * Hands a batch over without waiting for its outcome, and only while storage takes writes. Otherwise a
   * crash could lose far more acknowledged events than arrive in one flush interval.
   */
  private async tell(command: StorageCommand): Promise<AppendOutcome> {
    if (this.gauge.isRefused) throw cannotWrite()
    this.post(0, command)
    return { duplicates: [], deadLetters: [], erased: [] }
  }

  /** @throws AppError `overloaded` */
  private ask(command: Asked, tell?: Pending['tell']): Promise<CommandResult> {
    const number = ++this.lastNumber
    return new Promise<CommandResult>((resolve, reject) => {
      this.post(number, command)
      // There is no time limit: a request given up here might still be committed, and the caller must not
      // be told that nothing was kept. Storage itself gives up on a disk that refuses.
      this.pending.set(number, { resolve, reject, ...(tell && { tell }) })
    })
  }

  /** @throws AppError `overloaded` */
  private readonly post = failing('http_request', (number: number, command: Asked): void => {
    const message = encodeCommand(number, command)
    const weight = weightOf(message, command)
    const { events, bytes } = this.outbox.weight
    const hasRoom = this.gauge.fits(events + weight.events, bytes + weight.bytes)
    // Readers are not turned away because others write.
    if (!hasRoom && command.type !== 'project' && command.type !== 'follow') throw bufferIsFull()
    if (number > 0) this.outbox.put(message, weight)
    else this.outbox.putUnawaited(message, weight)
  })
}
