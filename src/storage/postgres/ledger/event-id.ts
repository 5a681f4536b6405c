import { weekMs } from '../../../core/time/durations.ts'

/**
 * How an event id is stored. Its bucket depends on the id alone, so that ids stay unique although the table is
 * partitioned, and old ids are dropped by whole weeks.
 */

/** The form in which UUIDs are nearly always sent. In any other form, a UUID is another id. */
const canonicalUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The number of buckets for UUIDs that tell no time: -1 to -16. */
const timelessBuckets = 16
/** The bucket of all texts that are not UUIDs. */
const textBucket = -1 - timelessBuckets

/** Where a UUID has its version, and its first 48 bits, which are epoch milliseconds in version 7. */
const versionAt = 14
const millisecondsOf = (uuid: string) => Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)

/** The week of a moment; weeks are counted from 1970, and begin on Thursdays. */
export const weekOf = (epochMs: number): number => Math.floor(epochMs / weekMs)

/** The partition of an id: the week that a UUID of version 7 names, or a number below 0. */
export function bucketOf(id: string): number {
  if (!canonicalUuid.test(id)) return textBucket
  if (id[versionAt] === '7') return weekOf(millisecondsOf(id))
  const mixed = idBytes(id).reduce((sum, byte) => sum ^ byte, 0)
  return -1 - ((mixed ^ (mixed >> 4)) % timelessBuckets)
}

/** An id within its bucket: the 16 bytes of a UUID, or all bytes of any other text. */
export const idBytes = (id: string): Uint8Array => Buffer.from(idInHex(id), 'hex')

/** The same in the form in which PostgreSQL reads bytes from text. */
export const idInText = (id: string): string => `\\x${idInHex(id)}`

/** The same in the form that `decode` reads, which is quicker in an array. */
export const idInHex = (id: string): string =>
  canonicalUuid.test(id) ? id.replaceAll('-', '') : Buffer.from(id).toString('hex')
