import { errors } from 'jose'
import { AppError, type UnauthorizedCause, unauthorized } from '../core/errors.ts'

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
  // The key is known, and is for other algorithms.
  if (fault instanceof errors.JWKSNoMatchingKey) return 'token_bad_algorithm'
  if (fault instanceof errors.JWKSMultipleMatchingKeys) return 'token_ambiguous_key'
  if (fault instanceof errors.JWSSignatureVerificationFailed) return 'token_bad_signature'
  // A claim of the wrong type says nothing at all.
  if (fault instanceof errors.JWTClaimValidationFailed && fault.reason !== 'invalid') {
    return ofClaim[fault.claim] ?? 'token_malformed'
  }
  return 'token_malformed'
}
