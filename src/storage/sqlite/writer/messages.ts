import { AppError } from '../../../core/errors.ts'
import type { AppendOutcome } from '../../../core/event/stored-event.ts'
import { shortReasonOf } from '../../../core/text/reason.ts'
import type { ActivityCall } from '../../shared/activity/live-activity.ts'
import type { AuthorCall } from '../../shared/author/author-sessions.ts'
import type { PreviewCall } from '../../shared/author/previews.ts'
import type { BufferGauge } from '../../shared/boards.ts'
import type { CommandResult, StorageCommand } from './commands.ts'
import type { Operation } from './operations.ts'

/**
 * What passes between a thread that answers requests and the storage thread: one text a message,
 * because copying a text between threads is cheap and copying objects is not. A message holds
 * several commands, each framed, or the answers to several, a line each.
 *
 * To storage: `<number> <command as JSON>`, number 0 where no answer is wanted. A batch's events
 * follow behind its JSON and a NUL.
 * Back: `<number>` where all of a batch was stored, else `<number> <result as JSON>` or
 * `<number> !<failure as JSON>`; before that, as often as there is something to tell of what takes long,
 * `<number> ~<progress as JSON>`.
 */

/** To be told once all is projected that is committed. */
export interface ProjectCall {
  type: 'project'
}

/** What a client may ask for: a command, an operation, the projections, or what is in memory alone. */
export type Asked =
  | StorageCommand
  | Operation
  | ProjectCall
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

/** Of nearly every batch, and so neither written nor read. */
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

/** How far something has come that is answered later; null where a line is an answer. */
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
 * How many events and bytes a message is counted as while it waits. A character counts as a byte:
 * exact for most text, at most a third of other, and free to know.
 */
export function weightOf(message: string, command: Asked): { events: number; bytes: number } {
  return {
    events: command.type === 'append' ? Math.max(1, command.text.count) : 1,
    bytes: message.length,
  }
}

/**
 * Several texts in one, each with its length in front: `<length> <text>`. Threads pass them on
 * together, because waking one costs as much as a small command.
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

/** Takes answers, a line each. */
export type Answer = (lines: string) => void

/**
 * Answers that wait until all of their group have them: one message then tells a thread what became
 * of everything that it had sent.
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

/** What a client asks for, from its arrival until what became of it is told. */
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

  /** Tells how far it has come. */
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

/** What a store does of what is no command of a group; what it throws is told to the caller. */
export interface Verbs {
  operate(operation: Operation, tell: (progress: object) => void): unknown
  /** Resolves once the tables tell of all that is committed. */
  project(): unknown
  /** Notes what arrived, or tells of it. */
  look(call: ActivityCall): unknown
  author(call: AuthorCall): unknown
  preview(call: PreviewCall): unknown
}

/** Where messages arrive in the storage thread: hands each on to the one that it is for. */
export class Inbox {
  readonly answers = new Answers()

  /**
   * @param submit takes a command into the next group
   * @param isPassing whether an error is of the moment: then the caller is told to come again
   */
  constructor(
    private readonly gauge: BufferGauge,
    private readonly submit: (pending: PendingWrite<StorageCommand>) => void,
    private readonly verbs: Verbs,
    private readonly isPassing: (error: unknown) => boolean,
  ) {}

  /** Takes messages of a thread that answers requests, and sends it the answers. */
  join(port: MessagePort): void {
    const answer = (lines: string) => port.postMessage(lines)
    port.onmessage = ({ data }: { data: string }) => this.take(data, answer)
  }

  /**
   * Executes what a client's message holds. `answer` is called with what became of it once it is
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

  /** Tells what came of what is no command of a group. */
  private async tell(pending: PendingWrite, work: () => unknown): Promise<void> {
    try {
      pending.resolve(((await work()) ?? null) as CommandResult)
    } catch (error) {
      pending.reject(this.isPassing(error) ? cannotWrite(error) : error)
    }
    this.answers.send()
  }
}

/** Why nothing was taken in, as the caller is told. */

export const cannotWrite = (cause?: unknown) =>
  new AppError('overloaded', 'Storage cannot write at the moment', { cause, retryAfterSeconds: 2 })

/** Nobody can say whether it was taken in: neither that nor the contrary may be told. */
export const commitInDoubt = (cause: unknown) =>
  new AppError('in_doubt', 'Whether it was stored is not known', { cause })

export const isInDoubt = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'in_doubt'

export const bufferIsFull = () =>
  new AppError('overloaded', 'The server has more to write than it can take; try again', {
    retryAfterSeconds: 1,
  })
