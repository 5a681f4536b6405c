import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { type SessionTokens, sessionTokens } from '../http/session-tokens.ts'
import { sessionKey } from './session-key.ts'

/** Issuer and audience of the tokens that Cairn makes for itself. */
const ownName = 'cairn'

export type TokenConfig = Pick<
  Config,
  'data' | 'sessionSecret' | 'sessionIssuer' | 'sessionAudience' | 'organisationClaim'
>

/** Session tokens as configured: over the secret of an identity provider, else over Cairn's own key. */
export function tokensFor(config: TokenConfig, clock: Clock): SessionTokens {
  const { organisationClaim, sessionSecret } = config
  if (sessionSecret === null) {
    const secret = sessionKey(config.data)
    return sessionTokens({
      secret,
      issuer: ownName,
      audience: ownName,
      organisationClaim,
      clock,
    })
  }
  return sessionTokens({
    secret: new TextEncoder().encode(sessionSecret),
    issuer: config.sessionIssuer,
    audience: config.sessionAudience,
    organisationClaim,
    clock,
  })
}
