import { AppError } from '../errors.ts'

/** Frames of a stack that a reason keeps, and its longest text: a log line is written in one piece. */
const mostFrames = 8
const longestReason = 2_000

/**
 * The engine's own errors may quote the value that they stumbled over (`"ann" is not a function`,
 * `Unexpected identifier "ann"`): of them only the type is told. SQLite's name columns, never values.
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

/** Functions and places in our source; the lines before them repeat the message. */
const framesIn = (stack: string) =>
  stack
    .split('\n')
    .filter(line => /^\s+at \S/.test(line))
    .slice(0, mostFrames)

/**
 * Why something failed, in words for the log: what kind of error, its message where that cannot
 * hold a caller's value, and where in the source. Never the whole of what was thrown.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`
  const frames = error instanceof AppError ? [] : framesIn(error.stack ?? '')
  const cause = error.cause === undefined ? [] : [`because of ${reasonOf(error.cause)}`]
  return [titleOf(error), ...frames, ...cause].join('\n').slice(0, longestReason)
}

/** As `reasonOf`, without the places: one line. */
export function shortReasonOf(error: unknown): string {
  return error instanceof Error ? titleOf(error).slice(0, longestReason) : reasonOf(error)
}

/**
 * What the runtime says of a thread that an uncaught error has ended: an excerpt of the source, a
 * line such as `TypeError: …` or `error: …`, and the stack.
 */
export function reasonOfUncaught(report: string): string {
  const [, name = 'error', message = ''] = /^(\w*error): (.*)$/im.exec(report) ?? []
  const title = quotingErrors.has(name) ? name : `${name}: ${message}`
  return [title, ...framesIn(report)].join('\n').slice(0, longestReason)
}
