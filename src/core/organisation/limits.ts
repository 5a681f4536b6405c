import type { OrganisationRef } from '../reference.ts'
import { minuteMs } from '../time/durations.ts'

/** The buckets in which requests are counted, and how many of each an organisation may send in a window. */
export const defaultLimits = {
  events: 300,
  flows: 60,
  fingerprint: 30,
  health: 60,
  heartbeat: 10,
  status: 10,
  analytics: 600,
  export: 600,
  manage: 600,
} as const satisfies Record<string, number>

export type Bucket = keyof typeof defaultLimits

export const buckets = Object.keys(defaultLimits) as Bucket[]

/** The length of a window. A window begins with the first request that is counted. */
export const windowMs = minuteMs

/** The largest limit that an operator can set: a count has 22 bits in the shared table. */
export const largestLimit = 1_000_000

/** The limit shown if nothing is counted, because there is no route or anyone may call it. */
export const limitUncounted = 300

/** An organisation's limits: the defaults, replaced by the operator's overrides. */
export function limitsWith(overrides: Partial<Record<Bucket, number>>): Record<Bucket, number> {
  return { ...defaultLimits, ...overrides }
}

/** The result for one request: whether it is admitted, and the state of the window after it. */
export interface Taken {
  admitted: boolean
  /** Requests left in the window after this one. */
  remaining: number
  /** Milliseconds until the window ends, in (0, 60,000]. */
  resetInMs: number
}

/** What limits need to know about an organisation. */
interface Limited {
  id: string
  ref: OrganisationRef
  limits: Record<Bucket, number>
}

/** Counts requests by organisation and bucket, exactly, across everything that answers them. */
export interface Limiter {
  /**
   * Counts one request if the window has room for it.
   *
   * @param now monotonic milliseconds
   */
  take(organisation: Limited, bucket: Bucket, now: number): Promise<Taken> | Taken
}
