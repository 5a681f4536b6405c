import { timingSafeEqual } from 'node:crypto'
import { zeros } from '../number/statistics.ts'

/**
 * Verified identity: the customer's back end, which knows who is signed in, makes a hash of the user id
 * that nobody can make without the organisation's secret, and every call that names the user carries it.
 */

/** Whether hashes are looked at: not at all, only counted, or required. */
export const identityModes = ['off', 'observe', 'enforce'] as const

export type IdentityMode = (typeof identityModes)[number]

/** What became of a `userId` and the `userHash` beside it. The order is that of the shared counters. */
export const userHashVerdicts = [
  'valid',
  /** Made with the secret before the current one, which still works. */
  'outdated',
  'invalid',
  'missing',
] as const

export type UserHashVerdict = (typeof userHashVerdicts)[number]

export type UserHashCounts = Record<UserHashVerdict, number>

export const noUserHashes: Readonly<UserHashCounts> = zeros(userHashVerdicts)

/** What was counted of an organisation's user hashes within an hour. */
export interface IdentityHour extends UserHashCounts {
  /** When it began, epoch milliseconds. */
  at: number
}

/** All of some hours together. */
export function summedHours(hours: readonly IdentityHour[]): UserHashCounts {
  const sums = { ...noUserHashes }
  for (const hour of hours) {
    for (const verdict of userHashVerdicts) sums[verdict] += hour[verdict]
  }
  return sums
}

/** What an organisation that looks at hashes goes by. */
export interface VerifiedIdentity {
  isEnforced: boolean
  /** The current secret first; one that `endsAt`, epoch milliseconds, ends is of before a rotation. */
  secrets: readonly { secret: string; endsAt: number | null }[]
}

/** Whether a call with this verdict is refused where hashes are required. */
export const isRefused = (verdict: UserHashVerdict): boolean =>
  verdict === 'invalid' || verdict === 'missing'

/** How many of those counted are refused where hashes are required, and how many there are. */
export function refusedShare(counts: Readonly<UserHashCounts>): { refused: number; all: number } {
  const refused = counts.invalid + counts.missing
  return { refused, all: refused + counts.valid + counts.outdated }
}

/** From so many refusals on, and such a share, something is amiss with the hashes and not with a caller. */
const manyRefusals = 10
const largeShare = 0.05

/** Whether requiring hashes refuses more than a few callers who have none. */
export function refusesMany(counts: Readonly<UserHashCounts>): boolean {
  const { refused, all } = refusedShare(counts)
  return refused >= manyRefusals && refused >= all * largeShare
}

/** Of 256 bits in hex. */
const hashLength = 64

/** Lower-case hex of HMAC-SHA256 (RFC 2104) over the UTF-8 of the user id; the key is the secret's text. */
export const userHashOf = (secret: string, userId: string): string =>
  new Bun.CryptoHasher('sha256', secret).update(userId).digest('hex')

/** Takes as long whatever the two have in common. */
function areEqual(sent: string, right: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Judges a hash that came with a user id.
 *
 * @param now epoch milliseconds: a secret from before a rotation works until its end
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
