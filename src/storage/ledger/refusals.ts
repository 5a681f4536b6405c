import type { Bucket } from '../../core/organisation/buckets.ts'

/** Codes in the table of refusals, besides those of refused events. */

/** A request from an origin that is not allowed. */
export const refusedOrigin = 'origin_not_allowed'

/** A minute in which a bucket's limit was reached. */
export const limitReached = (bucket: Bucket) => `limit_reached_${bucket}`
