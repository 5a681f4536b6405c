import { attempt } from '../attempt.ts'
import type { StepDefinition, UrlRule } from './flow.ts'

/**
 * Whether a rule matches an address.
 *
 * A pattern that begins with `/` is compared with the path of an address, on any host. Any other pattern is
 * an absolute address (`https://app.example.com/projects`, also with schemes of extensions) and is compared
 * with scheme, host, port and path. The query is only compared if the pattern has a `?`, and the fragment
 * only if it has a `#`. A `?` after the `#` belongs to the fragment, as in apps that route by it. Both
 * sides are first written as a browser writes them: host in lower case, no default port, `/` for no path,
 * one spelling of each percent-encoding.
 *
 * - `exact`: the address is the pattern
 * - `prefix`: the address begins with the pattern, plainly: `/pro` is also the beginning of `/prose`
 * - `glob`: `*` stands for any run without `/`, `**` for anything; nothing else is special. A literal star
 *   is written `%2A`
 * - `regex`: see `regexMatches` (url-regex.ts)
 *
 * A kind of rule that only a newer Cairn knows matches nothing.
 *
 * A pattern that is neither a path nor an address matches nothing; `patternProblem` (url-pattern.ts)
 * says so.
 */
export function urlMatches(rule: UrlRule, url: URL): boolean {
  if (rule.match === 'regex') return regex.matches?.(rule.pattern, url) === true
  const wanted = normalisedPattern(rule)
  if (wanted === null) return false
  const address = comparable(url, wanted)
  if (rule.match === 'exact') return address === wanted
  if (rule.match === 'prefix') return address.startsWith(wanted)
  return rule.match === 'glob' && globMatches(wanted, address)
}

/** How rules of the kind `regex` are compared: `url-regex.ts` sets it, which not every page loads. */
export const regex: { matches?: (pattern: string, url: URL) => boolean } = {}

/**
 * Whether the rule only matches a site's root page (`/` without query and fragment), on one host or on
 * many. Authors who write that often mean the whole site.
 */
export function matchesOnlyRoot(rule: UrlRule): boolean {
  if (rule.match === 'prefix' || rule.match === 'regex') return false
  const wanted = normalisedPattern(rule)
  if (wanted === null || wanted === '/') return wanted === '/'
  const address = addressParts(wanted)
  return (
    address?.rest === '/' && !address.scheme.includes('**') && !address.authority.includes('**')
  )
}

export interface AddressParts {
  /** Without its colon; may have wildcards in a glob. */
  scheme: string
  authority: string
  /** Path, query and fragment. */
  rest: string
}

/** The parts of an absolute address (RFC 3986, appendix B), or null if the text is not one. */
export function addressParts(text: string): AddressParts | null {
  const [, scheme, authority, rest] = /^([a-z*][a-z0-9+.*-]*):\/\/([^/?#]*)(.*)$/is.exec(text) ?? []
  return scheme === undefined ? null : { scheme, authority: authority!, rest: rest! }
}

/** The pattern as a browser would write it, or null if it is neither a path nor an address. */
export function normalisedPattern({ match, pattern }: UrlRule): string | null {
  const isGlob = match === 'glob'
  const text = isGlob ? globAsWritten(pattern) : asWritten(pattern)
  if (text === null) return null
  return isGlob ? canonical(text) : literal(text)
}

function asWritten(pattern: string): string | null {
  if (pattern.startsWith('/')) return pathAsWritten(pattern)
  const url = addressParts(pattern) && parsed(pattern)
  // In https://app.example.com@evil.test, readers would take the wrong part for the host.
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

/** A path with its query and fragment, percent-encoded; `/` if there is no path. */
function pathAsWritten(path: string): string {
  const origin = 'http://h'
  return new URL(origin + path).href.slice(origin.length)
}

/** The part of an address that a pattern is compared with. */
export function comparable(url: URL, wanted: string): string {
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
 * Uses one spelling of each percent-encoding (RFC 3986, 6.2.2). Browsers encode an apostrophe in the query
 * of web addresses but not of extension addresses; here it is always encoded.
 */
function canonical(text: string): string {
  return text
    .replace(/%[0-9a-f]{2}/gi, code => {
      const character = String.fromCharCode(Number.parseInt(code.slice(1), 16))
      return /[A-Za-z0-9._~-]/.test(character) ? character : code.toUpperCase()
    })
    .replaceAll("'", '%27')
}

/** The same for texts in which a star is a plain character. */
const literal = (text: string) => canonical(text).replaceAll('*', '%2A')

/**
 * Walks through the pattern once, keeping every position in the text at which the part before can end. So
 * time is bounded by the product of the lengths, whatever the pattern.
 */
export function globMatches(pattern: string, text: string): boolean {
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

export const parsed = (text: string): URL | null => attempt(() => new URL(text), null)

/**
 * The page that a step is for. A step that only has `navigate` is for exactly that address, by the rules of
 * `urlMatches`: a query and fragment count if the address has them. Undefined for any page.
 */
export function pageOf({
  page,
  navigate,
}: Pick<StepDefinition, 'page' | 'navigate'>): UrlRule | undefined {
  return page ?? (navigate === undefined ? undefined : { match: 'exact', pattern: navigate })
}
