import { AppError } from './errors.ts'

/** How many stack frames a reason keeps, and its greatest length, because a log line is written in one piece. */
const maxFrames = 8
const maxReasonLength = 2_000

/**
 * The engine's own errors may quote the value that caused them (`"ann" is not a function`, `Unexpected
 * identifier "ann"`), so only their type is logged. SQLite's errors name columns, never values.
 */
const quotingErrors = new Set([
  'TypeError',
  'RangeError',
  'SyntaxError',
  'ReferenceError',
  'URIError',
  'EvalError',
])

function titleOf(error: Error): string {
  if (error instanceof AppError) return error.message
  const { name, message, code } = error as Error & { code?: unknown }
  const kind = [name !== 'Error' && name, typeof code === 'string' && code]
    .filter(Boolean)
    .join(' ')
  if (quotingErrors.has(name)) return kind
  return kind === '' ? message : `${kind}: ${message}`
}

/** Functions and positions in the source. The lines before them repeat the message. */
const framesIn = (stack: string) =>
  stack
    .split('\n')
    .filter(line => /^\s+at \S/.test(line))
    .slice(0, maxFrames)

/**
 * Why something failed, in words for the log: the kind of error, its message if that cannot contain a
 * caller's value, and where in the source it happened. Never everything that was thrown.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`
  const frames = error instanceof AppError ? [] : framesIn(error.stack ?? '')
  const cause = error.cause === undefined ? [] : [`because of ${reasonOf(error.cause)}`]
  return [titleOf(error), ...frames, ...cause].join('\n').slice(0, maxReasonLength)
}

/** Like `reasonOf`, but without the stack frames: one line. */
export function shortReasonOf(error: unknown): string {
  return error instanceof Error ? titleOf(error).slice(0, maxReasonLength) : reasonOf(error)
}

/**
 * The reason in what the runtime reports about a thread that an uncaught error has ended: an excerpt of the
 * source, a line such as `TypeError: …` or `error: …`, and the stack.
 */
export function reasonOfUncaught(report: string): string {
  const [, name = 'error', message = ''] = /^(\w*error): (.*)$/im.exec(report) ?? []
  const title = quotingErrors.has(name) ? name : `${name}: ${message}`
  return [title, ...framesIn(report)].join('\n').slice(0, maxReasonLength)
}
