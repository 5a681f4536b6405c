import type { Bucket } from '../../core/organisation/limits.ts'
import { dayMs } from '../../core/time/durations.ts'

/** How long counts by the hour are kept: numbers cover the last 24 hours, "since when" covers all of them. */
export const countsKeptMs = 30 * dayMs

/** Codes in the table of refusals, besides those of refused events. */

/** A request from an origin that is not allowed. */
export const rejectedOrigin = 'origin_not_allowed'

/** A minute in which a bucket's limit was reached. */
export const limitReached = (bucket: Bucket) => `limit_reached_${bucket}`
