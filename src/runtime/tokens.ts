import type { Config } from '../config/settings.ts'
import type { Clock } from '../core/time/clock.ts'
import {
  type KeySource,
  type OwnSessionTokens,
  providerTokens,
  type SessionTokens,
  secretTokens,
} from '../http/session-tokens.ts'
import { sessionKey } from './session-key.ts'
import { type TokenSettings, tokenModeOf } from './token-mode.ts'

export type TokenConfig = TokenSettings & Pick<Config, 'data'>

/**
 * Session tokens as configured: verified with a provider's public keys, or else with a secret.
 *
 * @param source the provider's keys; null without a provider
 */
export function tokensFor(
  config: TokenConfig,
  clock: Clock,
  source: KeySource | null,
): SessionTokens {
  if (source === null) return ownTokensFor(config, clock)
  return providerTokens({ ...tokenModeOf(config), clock, source })
}

/**
 * Session tokens signed with an identity provider's secret, or else with Cairn's own key.
 *
 * @param key Cairn's own key, if it is not in the data directory
 */
export function ownTokensFor(
  { data, ...config }: TokenConfig,
  clock: Clock,
  key?: Uint8Array,
): OwnSessionTokens {
  const { sessionSecret } = config
  const secret =
    sessionSecret === null ? (key ?? sessionKey(data)) : new TextEncoder().encode(sessionSecret)
  return secretTokens({ ...tokenModeOf(config), clock, secret })
}
