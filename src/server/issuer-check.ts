import type { Config } from '../config.ts'
import { algorithmsOf } from '../core/organisation/key-set.ts'
import { askProvider, ProviderFailure } from './identity-provider.ts'
import { providerOf } from './tokens.ts'

/** What an operator should know of whoever issues session tokens. */
export interface IssuerCheck {
  ok: boolean
  detail: string
  /** What to do, where it is not well. */
  fix?: string
  /** How far the provider's clock is ahead of ours, within a second. */
  clockSkewMs?: number
}

/** Whether the issuer of session tokens can be used: is reached, is itself, and has usable keys. */
export async function checkIssuer(
  config: Pick<Config, 'sessionSecret' | 'sessionIssuer' | 'sessionJwksUrl'>,
): Promise<IssuerCheck> {
  const provider = providerOf(config)
  if (provider === null) {
    const signer = config.sessionSecret === null ? 'Cairn itself' : 'a shared HS256 secret'
    return { ok: true, detail: `by these settings, session tokens are signed by ${signer}` }
  }
  try {
    const { keys, clockSkewMs } = await askProvider(provider)
    const algorithms = [...new Set(keys.flatMap(algorithmsOf))].join(', ')
    const count = keys.length === 1 ? '1 usable key' : `${keys.length} usable keys`
    return {
      ok: true,
      detail: `${provider.issuer} has ${count} (${algorithms})`,
      ...(clockSkewMs === null ? {} : { clockSkewMs }),
    }
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error
    return { ok: false, detail: error.message, fix: error.fix }
  }
}
