import { type UnauthorizedCause, unauthorized } from '../core/errors.ts'
import {
  isRejected,
  judgeUserHash,
  type UserHashVerdict,
} from '../core/organisation/verified-identity.ts'
import type { GateStores } from '../storage/interfaces/gate.ts'
import type { RequestContext } from './request-context.ts'

/** A body or query that may name a user. */
interface NamesUser {
  userId?: string | null
  userHash?: string | null
}

const causeOf = (verdict: UserHashVerdict): UnauthorizedCause =>
  verdict === 'missing' ? 'missing_user_hash' : 'wrong_user_hash'

/**
 * Judges and counts the user hash of a call whose body or query names a user, if the organisation checks
 * hashes.
 *
 * @throws AppError `unauthorized` if it requires them, and this one is wrong or missing
 */
export function checkUserHash(
  call: RequestContext,
  { presence }: Pick<GateStores, 'presence'>,
): void {
  const { identity, ref } = call.org
  if (identity === null) return
  const { userId = null, userHash } = (call.body ?? call.query) as NamesUser
  if (userId === null) return
  const verdict = judgeUserHash(identity, userId, userHash, call.receivedAt)
  presence.countUserHashes(ref, { [verdict]: 1 })
  if (identity.isEnforced && isRejected(verdict)) throw unauthorized(causeOf(verdict))
}
