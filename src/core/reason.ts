import { AppError } from './errors.ts'

/** Frames of a stack that a reason keeps, and its longest text: a log line is written in one piece. */
const mostFrames = 8
const longestReason = 2_000

/**
 * The engine's own errors may quote the value that they stumbled over (`"ann" is not a function`,
 * `Unexpected identifier "ann"`): of them only the type is told. SQLite's name columns, never values.
 */
const quotesValues = (error: Error): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof SyntaxError ||
  error instanceof ReferenceError ||
  error instanceof URIError ||
  error instanceof EvalError

function titleOf(error: Error): string {
  if (error instanceof AppError) return error.message
  const { code } = error as { code?: unknown }
  const name = typeof code === 'string' ? `${error.name} ${code}` : error.name
  return quotesValues(error) ? name : `${name}: ${error.message}`
}

/** Functions and places in our source; the lines before them repeat the message. */
const framesOf = ({ stack = '' }: Error) =>
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
  const frames = error instanceof AppError ? [] : framesOf(error)
  const cause = error.cause === undefined ? [] : [`because of ${reasonOf(error.cause)}`]
  return [titleOf(error), ...frames, ...cause].join('\n').slice(0, longestReason)
}

/** As `reasonOf`, without the places: one line. */
export function shortReasonOf(error: unknown): string {
  return error instanceof Error ? titleOf(error).slice(0, longestReason) : reasonOf(error)
}
