import { timingSafeEqual } from 'node:crypto'
import { zeros } from '../number/statistics.ts'

/**
 * Verified identity: the customer's back end, which knows who is signed in, makes a hash of the user id.
 * Nobody can make it without the organisation's secret, and every call that names the user carries it.
 */

/** Whether hashes are checked: not at all, only counted, or required. */
export const identityModes = ['off', 'observe', 'enforce'] as const

export type IdentityMode = (typeof identityModes)[number]

/** The verdict on a `userId` and its `userHash`. The order is that of the shared counters. */
export const userHashVerdicts = [
  'valid',
  /** Made with the previous secret, which still works. */
  'outdated',
  'invalid',
  'missing',
] as const

export type UserHashVerdict = (typeof userHashVerdicts)[number]

export type UserHashCounts = Record<UserHashVerdict, number>

export const noUserHashes: Readonly<UserHashCounts> = zeros(userHashVerdicts)

/** Counts of an organisation's user hashes within one hour. */
export interface IdentityHour extends UserHashCounts {
  /** When it began, epoch milliseconds. */
  at: number
}

/** The sum over several hours. */
export function summedHours(hours: readonly IdentityHour[]): UserHashCounts {
  const sums = { ...noUserHashes }
  for (const hour of hours) {
    for (const verdict of userHashVerdicts) sums[verdict] += hour[verdict]
  }
  return sums
}

/** What is needed to check the hashes of an organisation. */
export interface VerifiedIdentity {
  isEnforced: boolean
  /** The current secret first. A secret with an `endsAt`, epoch milliseconds, is from before a rotation. */
  secrets: readonly { secret: string; endsAt: number | null }[]
}

/** Whether a call with this verdict is rejected if hashes are required. */
export const isRejected = (verdict: UserHashVerdict): boolean =>
  verdict === 'invalid' || verdict === 'missing'

/** How many of these calls are rejected if hashes are required, and how many there are in all. */
export function rejectedShare(counts: Readonly<UserHashCounts>): { rejected: number; all: number } {
  const rejected = counts.invalid + counts.missing
  return { rejected, all: rejected + counts.valid + counts.outdated }
}

/** With at least this many rejections, and this share, the hashes are to blame and not a single caller. */
const manyRejections = 10
const largeShare = 0.05

/** Whether requiring hashes would reject more than a few callers without one. */
export function rejectsMany(counts: Readonly<UserHashCounts>): boolean {
  const { rejected, all } = rejectedShare(counts)
  return rejected >= manyRejections && rejected >= all * largeShare
}

/** 256 bits in hex. */
const hashLength = 64

/** Lower-case hex of HMAC-SHA256 (RFC 2104) over the UTF-8 of the user id; the key is the secret's text. */
export const userHashOf = (secret: string, userId: string): string =>
  new Bun.CryptoHasher('sha256', secret).update(userId).digest('hex')

/** Takes the same time, however much the two have in common. */
function areEqual(sent: string, right: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Judges a hash that came with a user id.
 *
 * @param now epoch milliseconds, because a secret from before a rotation works until its end
 */
export function judgeUserHash(
  { secrets }: VerifiedIdentity,
  userId: string,
  sent: string | null | undefined,
  now: number,
): UserHashVerdict {
  if (!sent) return 'missing'
  if (sent.length !== hashLength) return 'invalid'
  for (const { secret, endsAt } of secrets) {
    if (endsAt !== null && endsAt <= now) continue
    if (areEqual(sent, userHashOf(secret, userId))) return endsAt === null ? 'valid' : 'outdated'
  }
  return 'invalid'
}
