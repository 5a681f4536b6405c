import { AppError } from '../../core/errors.ts'
import type { AppendOutcome } from '../../core/event/stored-event.ts'
import { shortReasonOf } from '../../core/text/reason.ts'
import type { Command, CommandResult } from './commands.ts'
import type { Operation } from './operations.ts'

/**
 * What passes between a thread that answers requests and the storage thread: one text a message,
 * because copying a text between threads is cheap and copying objects is not. A message holds
 * several commands, each framed (`frames.ts`), or the answers to several, a line each.
 *
 * To storage: `<number> <command as JSON>`, number 0 where no answer is wanted. A batch's events
 * follow behind its JSON and a NUL.
 * Back: `<number>` where all of a batch was stored, else `<number> <result as JSON>` or
 * `<number> !<failure as JSON>`.
 */

export interface Numbered<T> {
  number: number
  value: T
}

const split = (message: string) => {
  const space = message.indexOf(' ')
  return { number: Number(message.slice(0, space)), rest: message.slice(space + 1) }
}

export function encodeCommand(number: number, command: Command | Operation): string {
  if (command.type !== 'append') return `${number} ${JSON.stringify(command)}`
  const { text, ...batch } = command
  const { count, facts, details } = text
  const head = JSON.stringify({ ...batch, count, factsLength: facts.length })
  return `${number} ${head}\0${facts}${details}`
}

export function decodeCommand(message: string): Numbered<Command | Operation> {
  const end = message.indexOf('\0')
  if (end === -1) {
    const { number, rest } = split(message)
    return { number, value: JSON.parse(rest) as Command | Operation }
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

export function encodeFailure(number: number, error: unknown): string {
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
export function weightOf(
  message: string,
  command: Command | Operation,
): { events: number; bytes: number } {
  return {
    events: command.type === 'append' ? Math.max(1, command.text.count) : 1,
    bytes: message.length,
  }
}
