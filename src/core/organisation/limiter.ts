import type { Bucket } from './buckets.ts'
import type { Organisation } from './catalogue.ts'

/** The result for one request: whether it is admitted, and the state of the window after it. */
export interface Taken {
  admitted: boolean
  /** Requests left in the window after this one. */
  remaining: number
  /** Milliseconds until the window ends, in (0, 60,000]. */
  resetInMs: number
}

/** Counts requests by organisation and bucket, exactly, across everything that answers them. */
export interface Limiter {
  /**
   * Counts one request if the window has room for it.
   *
   * @param now monotonic milliseconds
   */
  take(organisation: Organisation, bucket: Bucket, now: number): Promise<Taken> | Taken
}
