import type { AppDeps } from '../app.ts'
import type { Config } from '../config/settings.ts'
import type { KeySource } from '../http/session-tokens.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { providerOf } from './identity-provider.ts'
import type { Log } from './log.ts'
import { sessionKey } from './session-key.ts'

type Dashboard = NonNullable<AppDeps['dashboard']>

/** For each request to the provider. Large providers' documents have some ten kilobytes. */
const patienceMs = 5_000
const maxBytes = 256 * 1024

/**
 * The OpenID provider with which people sign in; null if none is configured.
 *
 * @param keys the provider's keys; null without a provider
 */
export function signInProviderOf(
  config: Config,
  keys: KeySource | null,
): ReturnType<Dashboard['provider']> {
  const { oidcClientId: clientId, oidcClientSecret: clientSecret } = config
  const issuer = providerOf(config)?.issuer
  if (clientId === null || issuer === undefined || keys === null) return null
  return {
    ...{ issuer, clientId, clientSecret, keys },
    roleClaim: config.oidcRoleClaim,
    organisationClaim: config.organisationClaim,
    fetch: (url, init) =>
      boundedFetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) }, maxBytes),
  }
}

/** What the dashboard needs to know about a server; null if that has no dashboard. */
export function dashboardFor(
  { dashboard, data, publicUrl }: Config,
  { provider, log }: { provider: Dashboard['provider']; log: Log },
): AppDeps['dashboard'] {
  if (dashboard === 'off') return null
  return {
    publicUrl,
    serverKey: () => sessionKey(data),
    provider,
    onFailure({ problem, message }) {
      // Not logged, because anybody can open the provider's return address again and again.
      if (problem === 'expired') return
      log.warn({ problem, reason: message }, 'the sign-in with the identity provider failed')
    },
  }
}
