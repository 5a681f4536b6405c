import type { RequestContext } from './request-context.ts'

/**
 * Recognises Cairn's own pages by the dashboard's cookie, and by the headers with which browsers name the
 * sender of a request. SameSite does not protect from a page on a sibling subdomain, which is the same site.
 */
export class OwnPages {
  /** Names of the session's cookie. With the prefix, no other host and no plain connection can set it. */
  private readonly names: readonly string[]
  private readonly origin: string | null

  /** @param publicUrl where browsers reach this server; null if that is not configured */
  constructor(publicUrl: string | null) {
    this.origin = publicUrl === null ? null : new URL(publicUrl).origin
    const isSecure = this.origin?.startsWith('https:')
    this.names = [secureCookie, plainCookie].filter(
      name => isSecure === undefined || isSecure === (name === secureCookie),
    )
  }

  /** The session's cookie; null if none was sent. */
  cookieOf({ request }: RequestContext): string | null {
    const cookies = request.headers.get('cookie')
    if (cookies === null) return null
    return this.names.map(name => cookieNamed(cookies, name)).find(value => value !== null) ?? null
  }

  /** Whether the page that sent a request reached this server over TLS, as far as the server knows. */
  isSecure({ origin }: RequestContext): boolean {
    return (this.origin ?? origin ?? '').startsWith('https:')
  }

  /** Whether a script of Cairn's own pages sent this request. */
  isOwn(call: RequestContext): boolean {
    const site = call.request.headers.get('sec-fetch-site')
    return site === null ? this.isOwnOrigin(call) : site === 'same-origin'
  }

  /** The same for a download, which may also have been requested from the address bar. */
  isOwnDownload({ request, origin }: RequestContext): boolean {
    const site = request.headers.get('sec-fetch-site')
    // Browsers that do not send this header, or not over plain http, let no other page read the response.
    return site === null ? origin === null : site === 'same-origin' || site === 'none'
  }

  /**
   * For browsers that send only an Origin: they send it with every POST, but not with a GET to the page's own
   * origin.
   */
  private isOwnOrigin({ request, origin }: RequestContext): boolean {
    if (origin === null) return request.method === 'GET' || request.method === 'HEAD'
    if (this.origin !== null) return origin === this.origin
    return URL.parse(origin)?.host === request.headers.get('host')
  }
}

const secureCookie = '__Host-cairn'
const plainCookie = 'cairn'

/**
 * The header by which Cairn's own scripts identify themselves: no form can send it, and no other page without
 * CORS.
 */
export const ownHeader = 'cairn-dashboard'

/**
 * One search, because anyone can send 60 KB of cookies, which take milliseconds to split.
 *
 * @param name of letters, digits, `_` and `-`
 */
export const cookieNamed = (cookies: string, name: string): string | null =>
  new RegExp(`(?:^|;)[ \\t]*${name}=([^;]*)`).exec(cookies)?.[1]?.trim() ?? null

export interface RequestedCookie {
  /** Without its prefix. */
  name: 'cairn' | 'cairn-sign-in'
  value: string
  isSecure: boolean
  sameSite: 'Strict' | 'Lax'
  /** 0 deletes it. */
  maxAgeSeconds: number
}

/** The value of a `Set-Cookie` header for a cookie that scripts cannot read. */
export function setCookie({
  name,
  value,
  isSecure,
  sameSite,
  maxAgeSeconds,
}: RequestedCookie): string {
  const prefixed = isSecure ? `__Host-${name}` : name
  const secure = isSecure ? '; Secure' : ''
  return `${prefixed}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly${secure}; SameSite=${sameSite}`
}
