import { errors } from 'jose'
import { AppError, type UnauthorizedCause, unauthorized } from '../core/errors.ts'
import {
  algorithmsOf,
  isNewTo,
  type KeyChoice,
  type PublicKey,
} from '../core/organisation/key-set.ts'

/** Why a session token is refused, in a word of the fixed list that log and metrics have. */

/** The claims of which jose checks more than the form. */
const ofClaim: Readonly<Record<string, UnauthorizedCause>> = {
  exp: 'token_without_exp',
  nbf: 'token_not_yet_valid',
  iss: 'token_wrong_issuer',
  aud: 'token_wrong_audience',
}

/** The one 401 in place of jose's error, which quotes the token. */
export function tokenRefusal(fault: unknown): AppError {
  return fault instanceof AppError ? fault : unauthorized(causeOf(fault))
}

function causeOf(fault: unknown): UnauthorizedCause {
  if (fault instanceof errors.JWTExpired) return 'token_expired'
  if (fault instanceof errors.JOSEAlgNotAllowed) return 'token_bad_algorithm'
  if (fault instanceof errors.JWSSignatureVerificationFailed) return 'token_bad_signature'
  // A claim of the wrong type says nothing at all.
  if (fault instanceof errors.JWTClaimValidationFailed && fault.reason !== 'invalid') {
    return ofClaim[fault.claim] ?? 'token_malformed'
  }
  return 'token_malformed'
}

/** Why none of the provider's keys can be the one of a token. */
export function keyRefusal(keys: readonly PublicKey[], choice: KeyChoice): AppError {
  if (isNewTo(keys, choice)) return unauthorized('token_unknown_key')
  const { alg = '', kid } = choice
  const isFit = keys.some(
    key => (kid === undefined || key.kid === kid) && algorithmsOf(key).includes(alg),
  )
  return unauthorized(isFit ? 'token_ambiguous_key' : 'token_bad_algorithm')
}
