import { jwt } from '@elysiajs/jwt'
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { AppError, type UnauthorizedCause, unauthorized } from '../core/errors.ts'
import { isNewTo, type PublicKey, signatureAlgorithms } from '../core/organisation/key-set.ts'
import type { Clock } from '../core/time/clock.ts'

/** Why a session token is rejected, as one of the fixed causes that the log and the metrics know. */

/** The claims whose values jose checks, not only their form. */
const ofClaim: Readonly<Record<string, UnauthorizedCause>> = {
  exp: 'token_without_exp',
  nbf: 'token_not_yet_valid',
  iss: 'token_wrong_issuer',
  aud: 'token_wrong_audience',
}

/** The one 401 that replaces jose's error, because that quotes the token. */
export function tokenRejection(problem: unknown): AppError {
  return problem instanceof AppError ? problem : unauthorized(causeOf(problem))
}

function causeOf(problem: unknown): UnauthorizedCause {
  if (problem instanceof errors.JWTExpired) return 'token_expired'
  if (problem instanceof errors.JOSEAlgNotAllowed) return 'token_bad_algorithm'
  // The key is known, but it is for other algorithms.
  if (problem instanceof errors.JWKSNoMatchingKey) return 'token_bad_algorithm'
  if (problem instanceof errors.JWKSMultipleMatchingKeys) return 'token_ambiguous_key'
  if (problem instanceof errors.JWSSignatureVerificationFailed) return 'token_bad_signature'
  // A claim of the wrong type makes the token malformed.
  if (problem instanceof errors.JWTClaimValidationFailed && problem.reason !== 'invalid') {
    return ofClaim[problem.claim] ?? 'token_malformed'
  }
  return 'token_malformed'
}

/** What a session token must say, independent of who signs it. */
export interface TokenRules {
  /** Expected `iss`; null if a shared secret comes without an issuer. */
  issuer: string | null
  audience: string | null
  /** Required `typ`, such as `at+jwt`; null accepts any that a session token may have. */
  type: string | null
  /** The claim that names the organisation, by id or slug. */
  organisationClaim: string
  clock: Clock
}

export interface SessionTokens {
  /**
   * The organisation that a valid token names, by id or slug.
   *
   * @throws AppError `unauthorized`, with the cause, for any other token
   */
  organisationOf(token: string): Promise<string>
}

/** Session tokens that Cairn can make as well. */
export interface OwnSessionTokens extends SessionTokens {
  /** A new token for an organisation. */
  issue(
    organisation: string,
    lifetimeSeconds: number,
  ): Promise<{ token: string; expiresAt: number }>
}

/** The public keys of an identity provider, as they are known in this thread. */
export interface KeySource {
  readonly keys: readonly PublicKey[]
  /** Has them fetched again if that is due. Resolves soon, whatever the provider does. */
  renew(): Promise<void>
}

/** The one algorithm that belongs to a secret: a token that names another is rejected. */
const secretAlgorithm = 'HS256'

/** Far longer than providers' tokens. A longer one is rejected before any work is spent on it. */
const maxTokenLength = 16 * 1024

/** The types that a session token may name: none in particular, or an access token (RFC 9068). */
const defaultTypes = ['jwt', 'at+jwt']

/** A `typ` without the parts that make no difference (RFC 7515, section 4.1.9). */
const typeNamed = (typ: string) => typ.toLowerCase().replace(/^application\//, '')

/** Whether a token says that it is of another kind. Providers sign several kinds for one audience. */
function isOtherKind(typ: unknown, claims: JWTPayload, type: string | null): boolean {
  // A security event, such as a logout (RFC 8417, section 2.2), need not name its type.
  if (typeof claims.events === 'object') return true
  if (typ === undefined) return type !== null
  const types = type === null ? defaultTypes : [typeNamed(type)]
  return typeof typ !== 'string' || !types.includes(typeNamed(typ))
}

/** Whether each part is the one valid encoding of its bytes (RFC 7515, section 2). */
const isCanonical = (token: string) =>
  token.split('.').every(part => Buffer.from(part, 'base64url').toString('base64url') === part)

/**
 * Checks what jose leaves open in a token that it has verified: jose compares whole seconds, decodes
 * signatures that are also written in other ways, and accepts a token of any kind.
 *
 * @throws AppError `unauthorized`
 */
function requireExact(token: string, claims: JWTPayload, { type, clock }: TokenRules): void {
  const expiresAt = (claims.exp ?? Number.NaN) * 1000
  if (!Number.isFinite(expiresAt) || !isCanonical(token)) throw unauthorized('token_malformed')
  if (expiresAt <= clock.now()) throw unauthorized('token_expired')
  const { typ } = decodeProtectedHeader(token)
  if (isOtherKind(typ, claims, type)) throw unauthorized('token_wrong_type')
}

/** The checks of every token besides that of its signature (RFC 7519; RFC 8725, section 3). */
function verified(
  rules: TokenRules,
  algorithms: readonly string[],
  claimsOf: (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>,
): SessionTokens {
  const { issuer, audience, organisationClaim, clock } = rules
  const expected = {
    algorithms: [...algorithms],
    requiredClaims: ['exp'],
    clockTolerance: 0,
    ...(issuer === null ? {} : { issuer }),
    ...(audience === null ? {} : { audience }),
  }
  return {
    async organisationOf(token) {
      if (token.length > maxTokenLength) throw unauthorized('token_too_long')
      const checks = { ...expected, currentDate: new Date(clock.now()) }
      const claims = await claimsOf(token, checks).catch(problem => {
        throw tokenRejection(problem)
      })
      requireExact(token, claims, rules)
      const organisation = claims[organisationClaim]
      if (typeof organisation !== 'string') throw unauthorized('token_without_organisation')
      return organisation
    },
  }
}

/** Session tokens signed with a secret: the embedded issuer's own key, or one shared with a provider. */
export function secretTokens(options: TokenRules & { secret: Uint8Array }): OwnSessionTokens {
  const { secret, issuer, audience, organisationClaim, clock } = options
  const { sessionToken } = jwt({
    name: 'sessionToken',
    secret,
    alg: secretAlgorithm,
    typ: options.type ?? 'JWT',
  }).decorator
  return {
    ...verified(
      options,
      [secretAlgorithm],
      async (token, checks) =>
        (await sessionToken.verify(token, checks)) ||
        // It only says no; jose, with which it verifies, says why.
        (await jwtVerify(token, secret, checks)).payload,
    ),
    async issue(organisation, lifetimeSeconds) {
      const exp = Math.floor(clock.now() / 1000) + lifetimeSeconds
      const token = await sessionToken.sign({
        [organisationClaim]: organisation,
        exp,
        ...(issuer === null ? {} : { iss: issuer }),
        ...(audience === null ? {} : { aud: audience }),
      })
      return { token, expiresAt: exp * 1000 }
    },
  }
}

/**
 * Finds the key with which an identity provider has signed something. jose finds the one key that a token
 * names and that fits its algorithm. If two keys fit, it takes neither (OpenID Connect Core 1.0, section
 * 10.1). If the key is not known, the keys are fetched from the provider once more.
 */
export function keyFinder(source: KeySource) {
  let known: readonly PublicKey[] = []
  let findKey = createLocalJWKSet({ keys: [] })
  // Called only once the algorithm and all critical headers are known ones.
  return async (header: JWTHeaderParameters) => {
    if (isNewTo(source.keys, header)) await source.renew()
    if (known !== source.keys) {
      known = source.keys
      findKey = createLocalJWKSet({ keys: [...known] })
    }
    return findKey(header).catch(problem => {
      throw isNewTo(known, header) ? unauthorized('token_unknown_key') : problem
    })
  }
}

/** Session tokens that an identity provider signs with its private keys. */
export function providerTokens(options: TokenRules & { source: KeySource }): SessionTokens {
  const keyOf = keyFinder(options.source)
  return verified(
    options,
    signatureAlgorithms,
    async (token, checks) => (await jwtVerify(token, keyOf, checks)).payload,
  )
}
