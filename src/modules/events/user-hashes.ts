import {
  isRefused,
  judgeUserHash,
  noUserHashes,
  type UserHashVerdict,
  type VerifiedIdentity,
} from '../../core/organisation/verified-identity.ts'

/**
 * Judges and counts the user hashes of one batch: an HMAC for each user, however many events name them.
 * Remembering hashes from batch to batch saved a seventh at best, and cost half as much again where
 * they were not known.
 */
export class BatchUserHashes {
  readonly counts = { ...noUserHashes }
  private readonly known = new Map<string, UserHashVerdict>()

  /** @param now epoch milliseconds */
  constructor(
    private readonly identity: VerifiedIdentity,
    private readonly now: number,
  ) {}

  /** @returns why an event that names this user is not kept; null where it may be */
  refusalOf(userId: string, sent: string | null | undefined): UserHashVerdict | null {
    // With the length, so that no other two texts make the same one.
    const pair = `${userId.length} ${userId}${sent ?? ''}`
    const verdict = this.known.get(pair) ?? judgeUserHash(this.identity, userId, sent, this.now)
    this.known.set(pair, verdict)
    this.counts[verdict]++
    return this.identity.isEnforced && isRefused(verdict) ? verdict : null
  }
}
