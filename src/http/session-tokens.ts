import { jwt } from '@elysiajs/jwt'
import type { Clock } from '../core/clock.ts'

/** How session tokens are verified, and by the embedded issuer also made. */
export interface SessionTokenOptions {
  /** The HS256 secret: the embedded issuer's own key, or the one shared with an identity provider. */
  secret: Uint8Array
  /** Expected `iss`; null where a shared secret comes without an issuer. */
  issuer: string | null
  audience: string | null
  /** The claim that names the organisation, by id or slug. */
  organisationClaim: string
  clock: Clock
}

export interface SessionTokens {
  /** The organisation that a valid token names, by id or slug; null for any other token. */
  organisationOf(token: string): Promise<string | null>
  /** A new token for an organisation. */
  issue(
    organisation: string,
    lifetimeSeconds: number,
  ): Promise<{ token: string; expiresAt: number }>
}

/** The one algorithm that belongs to a secret: a token that names another is refused. */
const algorithm = 'HS256'

/** Session tokens over a secret (RFC 7519; the checks of RFC 8725, sections 3.1, 3.8 and 3.9). */
export function sessionTokens(options: SessionTokenOptions): SessionTokens {
  const { secret, issuer, audience, organisationClaim, clock } = options
  const { sessionToken } = jwt({ name: 'sessionToken', secret, alg: algorithm }).decorator
  const expected = {
    algorithms: [algorithm],
    requiredClaims: ['exp'],
    clockTolerance: 0,
    ...(issuer === null ? {} : { issuer }),
    ...(audience === null ? {} : { audience }),
  }
  return {
    async organisationOf(token) {
      const claims = await sessionToken.verify(token, {
        ...expected,
        currentDate: new Date(clock.now()),
      })
      const organisation = claims && (claims as Record<string, unknown>)[organisationClaim]
      return typeof organisation === 'string' ? organisation : null
    },
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
