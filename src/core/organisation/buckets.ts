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
