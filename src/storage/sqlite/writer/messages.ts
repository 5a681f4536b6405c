import { AppError } from '../../../core/errors.ts'
import type { AppendOutcome } from '../../../core/event/stored-event.ts'
import { shortReasonOf } from '../../../core/text/reason.ts'
import { ClockApart } from '../../log/log.ts'
import type { ActivityCall } from '../../shared/activity/live-activity.ts'
import type { AuthorCall } from '../../shared/author/author-sessions.ts'
import type { PreviewCall } from '../../shared/author/previews.ts'
import type { BufferGauge } from '../../shared/boards.ts'
import type { CommandResult, StorageCommand } from './commands.ts'
import type { Operation } from './operations.ts'

/**
 * The messages between the main thread and the storage thread. Each message is one text,
 * because copying a text between threads is cheap and copying objects is not. A message holds several
 * commands, each framed, or the answers to several, one per line.
 *
 * To storage: `<number> <command as JSON>`, with number 0 if no answer is wanted. A batch's events follow
 * after its JSON and a NUL.
 * Back: `<number>` if all of a batch was stored, else `<number> <result as JSON>` or
 * `<number> !<failure as JSON>`. Before that, work that takes long may report progress any number of times:
 * `<number> ~<progress as JSON>`.
 */

/** Asks to be told once everything committed is projected. */
interface ProjectCall {
  type: 'project'
}

/** Asks to be told once this machine has taken up what others have stored. */
interface FollowCall {
  type: 'follow'
}

/** What a client may ask for: a command, an operation, the projections, or something that is in memory alone. */
export type Asked =
  | StorageCommand
  | Operation
  | ProjectCall
  | FollowCall
  | ActivityCall
  | AuthorCall
  | PreviewCall

export interface Numbered<T> {
  number: number
  value: T
}

const split = (message: string) => {
  const space = message.indexOf(' ')
  return { number: Number(message.slice(0, space)), rest: message.slice(space + 1) }
}

export function encodeCommand(number: number, command: Asked): string {
  if (command.type !== 'append') return `${number} ${JSON.stringify(command)}`
  const { text, ...batch } = command
  const { count, facts, details } = text
  const head = JSON.stringify({ ...batch, count, factsLength: facts.length })
  return `${number} ${head}\0${facts}${details}`
}

export function decodeCommand(message: string): Numbered<Asked> {
  const end = message.indexOf('\0')
  if (end === -1) {
    const { number, rest } = split(message)
    return { number, value: JSON.parse(rest) as Asked }
  }
  const { number, rest } = split(message.slice(0, end))
  const { count, factsLength, ...batch } = JSON.parse(rest)
  const facts = message.slice(end + 1, end + 1 + factsLength)
  const details = message.slice(end + 1 + factsLength)
  return { number, value: { ...batch, text: { count, facts, details } } }
}

/** The outcome of nearly every batch, which is therefore neither written nor read. */
const allStored: AppendOutcome = Object.freeze({ duplicates: [], deadLetters: [], erased: [] })

const isAllStored = (result: CommandResult) =>
  typeof result === 'object' &&
  result !== null &&
  'deadLetters' in result &&
  result.duplicates.length === 0 &&
  result.deadLetters.length === 0 &&
  result.erased.length === 0

export function encodeResult(number: number, result: CommandResult): string {
  return isAllStored(result) ? `${number}` : `${number} ${JSON.stringify(result)}`
}

function encodeFailure(number: number, error: unknown): string {
  const failure =
    error instanceof AppError
      ? {
          code: error.code,
          message: error.message,
          retryAfterSeconds: error.retryAfterSeconds,
          details: error.details,
          fields: error.fields,
        }
      : { message: shortReasonOf(error) }
  return `${number} !${JSON.stringify(failure)}`
}

const encodeProgress = (number: number, progress: object): string =>
  `${number} ~${JSON.stringify(progress)}`

/** The progress of something that is answered later; null if the line is an answer. */
export function decodeProgress(line: string): Numbered<object> | null {
  const space = line.indexOf(' ')
  if (space < 0 || line[space + 1] !== '~') return null
  return {
    number: Number(line.slice(0, space)),
    value: JSON.parse(line.slice(space + 2)) as object,
  }
}

/** One line of an answer: a result, or the failure as an error to throw. */
export function decodeResult(line: string): Numbered<CommandResult | Error> {
  if (!line.includes(' ')) return { number: Number(line), value: allStored }
  const { number, rest } = split(line)
  if (!rest.startsWith('!')) return { number, value: JSON.parse(rest) as CommandResult }
  const { code, message: text, ...extra } = JSON.parse(rest.slice(1))
  const error = code ? new AppError(code, text, extra) : new Error(`Storage failed: ${text}`)
  return { number, value: error }
}

/**
 * How many events and bytes a message is counted as while it waits. A character counts as a byte: this is
 * exact for most text, off by a factor of three at most for other text, and costs nothing.
 */
export function weightOf(message: string, command: Asked): { events: number; bytes: number } {
  return {
    events: command.type === 'append' ? Math.max(1, command.text.count) : 1,
    bytes: message.length,
  }
}

/**
 * Several texts in one, each preceded by its length: `<length> <text>`. Threads pass them on together,
 * because waking a thread costs as much as a small command.
 */

/** One text, to be appended to a message. */
export const framed = (text: string): string => `${text.length} ${text}`

/** The texts of a message. */
export function* framesIn(message: string): Iterable<string> {
  for (let at = 0; at < message.length; ) {
    const begin = message.indexOf(' ', at) + 1
    const end = begin + Number(message.slice(at, begin - 1))
    yield message.slice(begin, end)
    at = end
  }
}

/** Takes answers, one per line. */
export type Answer = (lines: string) => void

/**
 * Answers that wait until the whole group has them: then one message tells a thread what became of
 * everything that it sent.
 */
export class Answers {
  private readonly waiting = new Map<Answer, string>()

  add(to: Answer, line: string): void {
    const before = this.waiting.get(to)
    this.waiting.set(to, before === undefined ? line : `${before}\n${line}`)
  }

  send(): void {
    for (const [to, lines] of this.waiting) to(lines)
    this.waiting.clear()
  }
}

/** A client's request, from its arrival until its outcome is told. */
class PendingWrite<What extends Asked = Asked> {
  readonly command: What
  readonly isAwaited: boolean
  private readonly number: number
  private readonly weight

  constructor(
    text: string,
    private readonly to: Answer,
    private readonly answers: Answers,
    private readonly gauge: BufferGauge,
  ) {
    const { number, value } = decodeCommand(text)
    this.number = number
    this.isAwaited = number > 0
    this.command = value as What
    this.weight = weightOf(text, value)
  }

  /** Tells the client how far it has come. */
  progress(progress: object): void {
    this.answers.add(this.to, encodeProgress(this.number, progress))
    this.answers.send()
  }

  resolve(result: CommandResult): void {
    this.leave()
    if (this.isAwaited) this.answers.add(this.to, encodeResult(this.number, result))
  }

  reject(error: unknown): void {
    this.leave()
    if (this.isAwaited) this.answers.add(this.to, encodeFailure(this.number, error))
  }

  private leave(): void {
    this.gauge.leave(this.weight.events, this.weight.bytes)
  }
}

/** What a store does for requests that are not commands of a group. The caller is told what it throws. */
interface Verbs {
  operate(operation: Operation, tell: (progress: object) => void): unknown
  /** Resolves once the tables reflect everything committed. */
  project(): unknown
  /** Resolves once this machine has taken up what others have stored. */
  follow(): unknown
  /** Notes what arrived, or reports it. */
  look(call: ActivityCall): unknown
  author(call: AuthorCall): unknown
  preview(call: PreviewCall): unknown
}

/** Where messages arrive in the storage thread: hands each request to whatever handles it. */
export class Inbox {
  readonly answers = new Answers()

  /**
   * @param submit takes a command into the next group
   * @param isPassing whether an error may pass: then the caller is told to try again later
   */
  constructor(
    private readonly gauge: BufferGauge,
    private readonly submit: (pending: PendingWrite<StorageCommand>) => void,
    private readonly verbs: Verbs,
    private readonly isPassing: (error: unknown) => boolean,
  ) {}

  /** Takes messages of the main thread, and sends it the answers. */
  join(port: MessagePort): void {
    const answer = (lines: string) => port.postMessage(lines)
    port.onmessage = ({ data }: { data: string }) => this.take(data, answer)
  }

  /**
   * Executes the commands in a client's message. `answer` is called with their outcomes once they are
   * committed and synced, for all of a commit at once.
   */
  take(message: string, answer: Answer): void {
    for (const text of framesIn(message)) {
      const pending = new PendingWrite(text, answer, this.answers, this.gauge)
      const { command } = pending
      switch (command.type) {
        case 'operation':
          this.tell(pending, () =>
            this.verbs.operate(command, progress => pending.progress(progress)),
          )
          break
        case 'project':
          this.tell(pending, () => this.verbs.project())
          break
        case 'follow':
          this.tell(pending, () => this.verbs.follow())
          break
        case 'activity':
          this.tell(pending, () => this.verbs.look(command))
          break
        case 'author':
          this.tell(pending, () => this.verbs.author(command))
          break
        case 'preview':
          this.tell(pending, () => this.verbs.preview(command))
          break
        default:
          this.submit(pending as PendingWrite<StorageCommand>)
      }
    }
  }

  /** Carries out a request that is not a command of a group, and tells its outcome. */
  private async tell(pending: PendingWrite, work: () => unknown): Promise<void> {
    try {
      pending.resolve(((await work()) ?? null) as CommandResult)
    } catch (error) {
      pending.reject(this.isPassing(error) ? cannotWrite(error) : error)
    }
    this.answers.send()
  }
}

/** The reasons why nothing was stored, as the caller is told. */

export function cannotWrite(cause?: unknown): AppError {
  const message = cause instanceof ClockApart ? cause.message : 'Storage cannot write at the moment'
  return new AppError('overloaded', message, { cause, retryAfterSeconds: 2 })
}

/** Nobody knows whether it was stored, so the caller must be told neither that it was nor that it was not. */
export const commitInDoubt = (cause: unknown) =>
  new AppError('in_doubt', 'Whether it was stored is not known', { cause })

export const bufferIsFull = () =>
  new AppError('overloaded', 'The server has more to write than it can take; try again', {
    retryAfterSeconds: 1,
  })
