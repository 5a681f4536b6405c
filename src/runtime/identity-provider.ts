import type { Config } from '../config/settings.ts'
import { secureUrl, shownAddress } from '../core/organisation/addresses.ts'
import { algorithmsOf, type PublicKey, publicKeysIn } from '../core/organisation/key-set.ts'
import { shown } from '../core/text/wording.ts'
import { boundedFetch, TooMuch } from './bounded-fetch.ts'

/** The signer of session tokens, if that is not Cairn and no secret is shared. */
export interface IdentityProvider {
  /** As the tokens name it. */
  issuer: string
  /** Where its keys are, for a provider without discovery; null if discovery finds them. */
  jwksUrl: string | null
}

type ProviderSettings = Pick<Config, 'sessionSecret' | 'sessionIssuer' | 'sessionJwksUrl'>

/** The identity provider whose public keys verify session tokens; null if a secret does. */
export function providerOf(config: ProviderSettings): IdentityProvider | null {
  const { sessionSecret, sessionIssuer: issuer, sessionJwksUrl: jwksUrl } = config
  return issuer === null || sessionSecret !== null ? null : { issuer, jwksUrl }
}

/** The provider gives no usable keys: the message says why, `fix` what to do. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'

  constructor(
    message: string,
    readonly fix: string,
  ) {
    super(message)
  }
}

/** An address of the provider that answers 404: another may be right. */
class NotThere extends ProviderFailure {}

export interface ProvidersAnswer {
  keys: PublicKey[]
  /** How long the keys can be kept, as the provider says; null if it does not say. */
  maxAgeSeconds: number | null
  /** How far the provider's clock is ahead of this server's, within a second; null if the answer names no time. */
  clockSkewMs: number | null
}

/** For all requests to a provider together. */
const defaultPatienceMs = 5_000

/** Large providers' documents have some ten kilobytes. */
const largestBytes = 256 * 1024

/**
 * Fetches a provider's current keys: from the address that its discovery document names (OpenID Connect
 * Discovery 1.0, section 4; RFC 8414, section 3), or from the one that is configured.
 *
 * @throws ProviderFailure
 */
export async function askProvider(
  { issuer, jwksUrl }: IdentityProvider,
  patienceMs = defaultPatienceMs,
): Promise<ProvidersAnswer> {
  const signal = AbortSignal.timeout(patienceMs)
  const url = jwksUrl ?? (await discoveredJwksUrl(issuer, signal))
  const { value, headers, clockSkewMs } = await getJson(url, signal)
  const keys = publicKeysIn(value)
  if (keys.length === 0) {
    throw new ProviderFailure(
      `${shownAddress(url)} has no public key that signatures can be verified with`,
      'have the provider sign with RS256, ES256 or EdDSA and publish its keys',
    )
  }
  return { keys, maxAgeSeconds: maxAgeIn(headers), clockSkewMs }
}

/** The addresses of an issuer's documents: OpenID's is below its path, OAuth's comes before the path. */
function discoveryUrls(issuer: string): [openId: string, oauth: string] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
}

async function discoveredJwksUrl(issuer: string, signal: AbortSignal): Promise<string> {
  const [openId, oauth] = discoveryUrls(issuer)
  try {
    return jwksUrlIn((await getJson(openId, signal)).value, openId, issuer)
  } catch (absent) {
    if (!(absent instanceof NotThere)) throw absent
    const answer = await getJson(oauth, signal).catch(error => {
      // If neither is there, the error names the one that most providers have.
      throw error instanceof NotThere ? absent : error
    })
    return jwksUrlIn(answer.value, oauth, issuer)
  }
}

function jwksUrlIn(document: unknown, from: string, issuer: string): string {
  const { issuer: named, jwks_uri: jwksUrl } = (document ?? {}) as Record<string, unknown>
  // Otherwise another issuer's keys would count as this one's (OpenID Connect Discovery 1.0, section 4.3).
  if (named !== issuer) {
    throw new ProviderFailure(
      `${from} names the issuer ${typeof named === 'string' ? `"${shown(named)}"` : '(none)'}, not "${issuer}"`,
      'set CAIRN_SESSION_ISSUER to exactly the issuer that it names, with its trailing slash if it has one',
    )
  }
  const url = typeof jwksUrl === 'string' ? secureUrl(jwksUrl) : null
  // A provider elsewhere must not be able to send Cairn to services that listen on this machine.
  if (!url || (url.protocol === 'http:' && !issuer.startsWith('http:'))) {
    throw new ProviderFailure(
      `${from} has no https address as "jwks_uri"`,
      'set CAIRN_SESSION_JWKS_URL to where the keys are',
    )
  }
  return url.href
}

interface Document {
  value: unknown
  headers: Headers
  clockSkewMs: number | null
}

/** Fetches a JSON document, bounded in time and size, from this address and no other. */
async function getJson(url: string, signal: AbortSignal): Promise<Document> {
  const address = shownAddress(url)
  const sentAt = Date.now()
  try {
    const init = { headers: { accept: 'application/json' }, signal }
    const response = await boundedFetch(url, init, largestBytes)
    const clockSkewMs = skewIn(response.headers, (sentAt + Date.now()) / 2)
    if (response.status !== 200) throw unexpected(address, response)
    const value = await response.json()
    return { value, headers: response.headers, clockSkewMs }
  } catch (error) {
    throw explained(address, error)
  }
}

function unexpected(address: string, { status, headers }: Response): ProviderFailure {
  const target = headers.get('location')
  const where = target === null ? '' : ` and redirects to ${shown(shownAddress(target))}`
  const message = `${address} answered ${status}${where}`
  if (status >= 500) return new ProviderFailure(message, "see the provider's own log")
  const Failure = status === 404 ? NotThere : ProviderFailure
  return new Failure(
    message,
    'set CAIRN_SESSION_ISSUER to the "iss" of its tokens, or CAIRN_SESSION_JWKS_URL to where its keys are',
  )
}

function explained(address: string, error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) return error
  const fix = "check the provider's address, and the network between it and this machine"
  if (error instanceof TooMuch || error instanceof SyntaxError) {
    const what = error instanceof TooMuch ? `answered ${error.message}` : 'is no JSON'
    return new ProviderFailure(`${address} ${what}`, fix)
  }
  const { name, code, message } = error as { name?: string; code?: unknown; message?: string }
  if (name === 'TimeoutError') return new ProviderFailure(`${address} did not answer in time`, fix)
  const cause = typeof code === 'string' ? code : shown(String(message))
  return new ProviderFailure(
    `${address} cannot be reached (${cause})`,
    /CERT|SIGNATURE/.test(cause)
      ? 'check its certificate; set NODE_EXTRA_CA_CERTS to trust your own certificate authority'
      : fix,
  )
}

function skewIn(headers: Headers, nowMs: number): number | null {
  const dateMs = Date.parse(headers.get('date') ?? '')
  // A cache in between says how old its answer is.
  const ageMs = Number(headers.get('age') ?? 0) * 1000
  // The header is truncated to whole seconds, so on average it is half a second late.
  const skewMs = Math.round(dateMs + ageMs + 500 - nowMs)
  return Number.isFinite(skewMs) ? skewMs : null
}

function maxAgeIn(headers: Headers): number | null {
  const [, seconds] =
    /(?:^|[\s,])max-age=(\d{1,9})\b/i.exec(headers.get('cache-control') ?? '') ?? []
  return seconds === undefined ? null : Number(seconds)
}

/** What an operator should know about the issuer of session tokens. */
export interface IssuerCheck {
  ok: boolean
  detail: string
  /** What to do if it is not ok. */
  fix?: string
  /** How far the provider's clock is ahead of this server's, within a second. */
  clockSkewMs?: number
}

/** Whether the issuer of session tokens can be used: it is reached, is the configured one, and has usable keys. */
export async function checkIssuer(config: ProviderSettings): Promise<IssuerCheck> {
  const provider = providerOf(config)
  if (provider === null) {
    const signer = config.sessionSecret === null ? 'Cairn itself' : 'a shared HS256 secret'
    return { ok: true, detail: `Session tokens are signed by ${signer}` }
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
