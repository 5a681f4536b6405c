import type { UrlRule } from './flow.ts'
import { shown } from './wording.ts'

/**
 * Which addresses a flow is shown on.
 *
 * A pattern that begins with `/` is compared with the path of an address, on any host. Any other is
 * an absolute address (`https://app.example.com/projects`, schemes of extensions too) and is
 * compared with scheme, host, port and path. A query takes part only where the pattern has a `?`, a
 * fragment only where it has a `#`; a `?` behind the `#` belongs to the fragment, as in apps that
 * route by it. Both sides are written as a browser writes them before they are compared: host in
 * lower case, no default port, `/` for no path, one spelling of each percent-encoding.
 *
 * - `exact`: the address is the pattern
 * - `prefix`: the address begins with the pattern, plainly: `/pro` is also the beginning of `/prose`
 * - `glob`: `*` stands for any run without `/`, `**` for anything; nothing else is special. A star
 *   that is meant as one is written `%2A`
 *
 * A pattern that is neither a path nor an address matches nothing; `patternFault` says so.
 */
export function urlMatches(rule: UrlRule, url: URL): boolean {
  const wanted = normalised(rule)
  if (wanted === null) return false
  const address = comparable(url, wanted)
  if (rule.match === 'exact') return address === wanted
  if (rule.match === 'prefix') return address.startsWith(wanted)
  return globMatches(wanted, address)
}

/** One sentence that says what is wrong with a pattern and what to write, or null. */
export function patternFault({ match, pattern }: UrlRule): string | null {
  if (pattern === '') return `The pattern is empty: ${writeEither}`
  if (/\p{Cc}/u.test(pattern)) return 'The pattern has a control character in it: remove it'
  if (/\s/.test(pattern)) return 'The pattern has a space in it: remove it, or write %20'
  if (pattern.includes('\\')) return 'The pattern has a backslash in it: write / in its place'
  if (match !== 'glob' && pattern.includes('*')) {
    return `"${match}" takes * for a plain character: use "match: glob", or write %2A for a star`
  }
  if (pattern.startsWith('//')) {
    return 'The pattern begins with two slashes: write one for a path, or the scheme too (https://…)'
  }
  const address = addressParts(pattern)
  if (!pattern.startsWith('/') && !(match === 'glob' && pattern.startsWith('**'))) {
    if (!address) return notAnAddress(pattern)
    const fault = originFault(address)
    if (fault) return fault
  }
  const path = (address?.rest ?? pattern).split(/[?#]/, 1)[0]!
  if (/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) {
    return 'The path has a "." or ".." part, which browsers resolve: write the path without it'
  }
  return null
}

/**
 * Whether the rule matches nothing but a site's root page (`/` without query and fragment), of one
 * host or of many. Authors who write that often mean the whole site.
 */
export function matchesOnlyRoot(rule: UrlRule): boolean {
  if (rule.match === 'prefix') return false
  const wanted = normalised(rule)
  if (wanted === null || wanted === '/') return wanted === '/'
  const address = addressParts(wanted)
  return (
    address?.rest === '/' && !address.scheme.includes('**') && !address.authority.includes('**')
  )
}

interface AddressParts {
  /** Without its colon; in a glob it may have wildcards. */
  scheme: string
  authority: string
  /** Path, query and fragment. */
  rest: string
}

/** The parts of an absolute address (RFC 3986, appendix B), or null where the text is none. */
function addressParts(text: string): AddressParts | null {
  const [, scheme, authority, rest] = /^([a-z*][a-z0-9+.*-]*):\/\/([^/?#]*)(.*)$/is.exec(text) ?? []
  return scheme === undefined ? null : { scheme, authority: authority!, rest: rest! }
}

/** The pattern as a browser would write it, or null where it is neither a path nor an address. */
function normalised({ match, pattern }: UrlRule): string | null {
  const isGlob = match === 'glob'
  const text = isGlob ? globAsWritten(pattern) : asWritten(pattern)
  if (text === null) return null
  return isGlob ? canonical(text) : literal(text)
}

function asWritten(pattern: string): string | null {
  if (pattern.startsWith('/')) return pathAsWritten(pattern)
  const url = addressParts(pattern) && parsed(pattern)
  // Who reads https://app.example.com@evil.test sees another host than the one that is meant.
  return url && !url.username && !url.password ? url.href : null
}

function globAsWritten(pattern: string): string | null {
  if (pattern.startsWith('/')) return pathAsWritten(pattern)
  const address = addressParts(pattern)
  if (!address) return pattern.startsWith('**') ? pathAsWritten(`/${pattern}`).slice(1) : null
  const { scheme, authority, rest } = address
  if (!`${scheme}${authority}`.includes('*')) return asWritten(pattern)
  if (authority.includes('@')) return null
  const origin = `${scheme}://${authority}`.toLowerCase()
  const isOpen = rest === '' && authority.endsWith('**')
  return origin.replace(defaultPort, '$1') + (isOpen ? '' : pathAsWritten(rest))
}

const defaultPort = /^(https:.*(?=:443$)|http:.*(?=:80$)):\d+$/

/** A path with its query and fragment, percent-encoded; `/` where there is no path. */
function pathAsWritten(path: string): string {
  const origin = 'http://h'
  return new URL(origin + path).href.slice(origin.length)
}

/** What of an address a pattern is compared with. */
function comparable(url: URL, wanted: string): string {
  const path = wanted.startsWith('/') ? url.pathname : `${url.protocol}//${url.host}${url.pathname}`
  // Not `search` and `hash`, which are empty for a bare "?" or "#".
  const [beforeFragment, fragment] = cut(url.href, '#')
  const query = cut(beforeFragment, '?')[1]
  const hasQuery = cut(wanted, '#')[0].includes('?')
  return literal(path + (hasQuery ? query : '') + (wanted.includes('#') ? fragment : ''))
}

/** The text before the first such mark, and the text from it on. */
function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)]
}

/**
 * One spelling of each percent-encoding (RFC 3986, 6.2.2). An apostrophe in a query is encoded in
 * web addresses but not in those of extensions: here it always is.
 */
function canonical(text: string): string {
  return text
    .replace(/%[0-9a-f]{2}/gi, code => {
      const character = String.fromCharCode(Number.parseInt(code.slice(1), 16))
      return /[A-Za-z0-9._~-]/.test(character) ? character : code.toUpperCase()
    })
    .replaceAll("'", '%27')
}

/** The same where a star is a star. */
const literal = (text: string) => canonical(text).replaceAll('*', '%2A')

/**
 * Steps through the pattern once, with every place in the text at which what came before can end:
 * time is bounded by the product of the lengths, whatever the pattern.
 */
function globMatches(pattern: string, text: string): boolean {
  const tokens = pattern.match(/\*+|[^*]+/g) ?? []
  let ends = new Uint8Array(text.length + 1)
  ends[0] = 1
  for (const token of tokens) {
    const next = new Uint8Array(text.length + 1)
    if (token.startsWith('*')) {
      let isInside = false
      for (let at = 0; at <= text.length; at++) {
        if (ends[at] === 1) isInside = true
        if (isInside) next[at] = 1
        if (token === '*' && text[at] === '/') isInside = false
      }
    } else {
      for (let at = 0; at + token.length <= text.length; at++) {
        if (ends[at] === 1 && text.startsWith(token, at)) next[at + token.length] = 1
      }
    }
    ends = next
  }
  return ends[text.length] === 1
}

const writeEither = 'write a path such as /projects, or an address such as https://app.example.com/'

function notAnAddress(pattern: string): string {
  if (pattern.startsWith('*')) {
    const rest = shown(pattern.slice(1))
    return `A leading * stops at a slash and so matches no address: write **${rest}, or *:// for any scheme`
  }
  const [, scheme] = /^([a-z][a-z0-9+.-]*):(?!\d)/i.exec(pattern) ?? []
  if (scheme !== undefined) {
    if (!isOfPages(scheme)) return notOfPages(scheme)
    return `The pattern is no address with a scheme and a host: ${writeEither}`
  }
  const isLikeAHost = /^(localhost$|localhost[/?#]|[^/?#]*[.:])/i.test(pattern)
  const better = isLikeAHost ? `https://${shown(pattern)}` : `/${shown(pattern)}`
  return `The pattern is neither a path nor an address: did you mean ${better}?`
}

/** The schemes of pages that a snippet runs on: the web, browsers' extensions, shells of apps. */
const pageSchemes = [
  ...['https', 'http', 'chrome-extension', 'moz-extension', 'safari-web-extension'],
  ...['extension', 'ms-browser-extension', 'capacitor', 'ionic', 'tauri', 'app'],
]

/** Whether a scheme, in a glob with its wildcards, can be that of a page. */
const isOfPages = (scheme: string) =>
  pageSchemes.some(one => globMatches(scheme.toLowerCase(), one)) ||
  scheme.toLowerCase().endsWith('-extension')

const notOfPages = (scheme: string) =>
  `No page that runs the snippet has an address that begins with "${shown(scheme)}:"; ${writeEither}`

function originFault({ scheme, authority }: AddressParts): string | null {
  if (!isOfPages(scheme)) return notOfPages(scheme)
  if (authority === '') return 'The address has no host: write one, as in https://app.example.com/'
  if (authority.includes('@')) {
    return 'The address has a user name in it: leave out what is before the @'
  }
  const [, host = '', port = ''] = /^(.*?)(?::([^:\]]*))?$/s.exec(authority)!
  if (!/^[\d*]*$/.test(port) || (!port.includes('*') && Number(port) > 65_535)) {
    return 'The port of the address is no number from 0 to 65535: correct it or leave it out'
  }
  const hasWildcard = host.includes('*')
  if (hasWildcard && /[^\0-\x7F]/.test(host)) {
    return 'A host with wildcards is written in ASCII: use the form of it that begins with xn--'
  }
  // A letter can stand wherever a wildcard can; a digit could make an IPv4 address of a name.
  const sample = parsed(
    `${hasWildcard ? 'https' : scheme.replaceAll('*', 'a')}://${host.replace(/\*+/g, 'a')}/`,
  )
  return sample ? null : 'The host of the address is none that a browser takes: correct it'
}

function parsed(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
