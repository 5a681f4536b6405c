import type { RequestContext } from './request-context.ts'

/**
 * How Cairn knows its own pages: the dashboard's cookie, and what browsers say of where a request comes
 * from. A page on a sibling subdomain is of the same site, so SameSite keeps nothing from it.
 */
export class OwnPages {
  /** Of the session's cookie; with the prefix, no other host and no plain connection can set it. */
  private readonly names: readonly string[]
  private readonly origin: string | null

  /** @param publicUrl where browsers reach this server; null where that is not said */
  constructor(publicUrl: string | null) {
    this.origin = publicUrl === null ? null : new URL(publicUrl).origin
    const isSecure = this.origin?.startsWith('https:')
    this.names = isSecure
      ? [secureCookie]
      : isSecure === false
        ? [plainCookie]
        : [secureCookie, plainCookie]
  }

  /** The session's cookie; null where none was sent. */
  cookieOf({ request }: RequestContext): string | null {
    const cookies = request.headers.get('cookie')
    if (cookies === null) return null
    return this.names.map(name => cookieNamed(cookies, name)).find(value => value !== null) ?? null
  }

  /** Whether the page that a request comes from reached this server over TLS, as far as it says. */
  isSecure({ origin }: RequestContext): boolean {
    return (this.origin ?? origin ?? '').startsWith('https:')
  }

  /** Whether a script of our own pages has sent this. */
  isOwn(call: RequestContext): boolean {
    const site = call.request.headers.get('sec-fetch-site')
    return site === null ? this.isOwnOrigin(call) : site === 'same-origin'
  }

  /** The same of a download, which somebody may have asked for in the address bar as well. */
  isOwnDownload({ request, origin }: RequestContext): boolean {
    const site = request.headers.get('sec-fetch-site')
    // Browsers that do not say it, or not over plain http, let no other page read the answer.
    return site === null ? origin === null : site === 'same-origin' || site === 'none'
  }

  /** For browsers that do not say more: what they send with every POST, and with no GET to its own origin. */
  private isOwnOrigin({ request, origin }: RequestContext): boolean {
    if (origin === null) return request.method === 'GET' || request.method === 'HEAD'
    if (this.origin !== null) return origin === this.origin
    return URL.parse(origin)?.host === request.headers.get('host')
  }
}

const secureCookie = '__Host-cairn'
const plainCookie = 'cairn'

/** By which our own scripts say that it is them: no form can send it, and no other page without CORS. */
export const ownHeader = 'cairn-dashboard'

export function cookieNamed(cookies: string, name: string): string | null {
  for (const pair of cookies.split(';')) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}

export interface CookieAsked {
  /** Without its prefix. */
  name: 'cairn' | 'cairn-sign-in'
  value: string
  isSecure: boolean
  sameSite: 'Strict' | 'Lax'
  /** 0 takes it away. */
  maxAgeSeconds: number
}

/** A cookie as it is set, out of the reach of scripts. */
export function setCookie({ name, value, isSecure, sameSite, maxAgeSeconds }: CookieAsked): string {
  const prefixed = isSecure ? `__Host-${name}` : name
  const secure = isSecure ? '; Secure' : ''
  return `${prefixed}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly${secure}; SameSite=${sameSite}`
}
