import type { ErrorCode, UnauthorizedCause } from '../core/errors.ts'

/** What is told of every answer, for the log and the metrics. */
export interface Answered {
  requestId: string
  method: string
  /** The route's pattern, never the path: a path may hold ids. Null where there is no route. */
  route: string | null
  organisation: string | null
  status: number
  durationMs: number
  /** Why it was refused. */
  code?: ErrorCode | undefined
  /** Why it was a 401, which the caller is not told. */
  cause?: UnauthorizedCause | undefined
  /** The whole reason of a 500 or 503. */
  error?: unknown
}
