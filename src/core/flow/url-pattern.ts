import { shown } from '../text/wording.ts'
import type { UrlRule } from './flow.ts'
import { regexProblem } from './url-regex.ts'
import { type AddressParts, addressParts, globMatches, parsed } from './url-rule.ts'

/** Pages and explanations compare every pattern again and again, and each wildcard takes them its time. */
const maxWildcards = 10

/** What is wrong with a pattern and what to write instead, in one sentence, or null. */
export function patternProblem({ match, pattern }: UrlRule): string | null {
  if (pattern === '') return `The pattern is empty: ${writeEither}`
  if (/\p{Cc}/u.test(pattern)) return 'The pattern contains a control character: remove it'
  if (/\s/.test(pattern)) return 'The pattern contains a space: remove it, or write %20'
  if (match === 'regex') return regexProblem(pattern)
  if (pattern.includes('\\')) return 'The pattern contains a backslash: write / instead'
  if (match !== 'glob' && pattern.includes('*')) {
    return `"${match}" takes * for a plain character: use "match: glob", or write %2A for a star`
  }
  if ((pattern.match(/\*+/g) ?? []).length > maxWildcards) {
    return `The pattern has more than ${maxWildcards} wildcards: write one ** for several`
  }
  if (pattern.startsWith('//')) {
    return 'The pattern begins with two slashes: write one for a path, or the scheme too (https://…)'
  }
  const address = addressParts(pattern)
  if (!pattern.startsWith('/') && !(match === 'glob' && pattern.startsWith('**'))) {
    if (!address) return notAnAddress(pattern)
    const problem = originProblem(address)
    if (problem) return problem
  }
  const path = (address?.rest ?? pattern).split(/[?#]/, 1)[0]!
  if (/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) {
    return 'The path has a "." or ".." part, which browsers resolve: write the path without it'
  }
  return null
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
    return `The pattern is not an address with a scheme and a host: ${writeEither}`
  }
  const isLikeAHost = /^(localhost$|localhost[/?#]|[^/?#]*[.:])/i.test(pattern)
  const better = isLikeAHost ? `https://${shown(pattern)}` : `/${shown(pattern)}`
  return `The pattern is neither a path nor an address: did you mean ${better}?`
}

/** The schemes of pages that a snippet can run on: the web, browser extensions, app shells. */
const pageSchemes = [
  ...['https', 'http', 'chrome-extension', 'moz-extension', 'safari-web-extension'],
  ...['extension', 'ms-browser-extension', 'capacitor', 'ionic', 'tauri', 'app'],
]

/** Whether a scheme can be that of a page. In a glob it may contain wildcards. */
const isOfPages = (scheme: string) =>
  pageSchemes.some(one => globMatches(scheme.toLowerCase(), one)) ||
  scheme.toLowerCase().endsWith('-extension')

const notOfPages = (scheme: string) =>
  `No page that runs the snippet has an address that begins with "${shown(scheme)}:"; ${writeEither}`

function originProblem({ scheme, authority }: AddressParts): string | null {
  if (!isOfPages(scheme)) return notOfPages(scheme)
  if (authority === '') return 'The address has no host: write one, as in https://app.example.com/'
  if (authority.includes('@')) {
    return 'The address contains a user name: leave out what is before the @'
  }
  const [, host = '', port = ''] = /^(.*?)(?::([^:\]]*))?$/s.exec(authority)!
  if (!/^[\d*]*$/.test(port) || (!port.includes('*') && Number(port) > 65_535)) {
    return 'The port of the address is not a number from 0 to 65535: correct it or leave it out'
  }
  const hasWildcard = host.includes('*')
  if (hasWildcard && /[^\0-\x7F]/.test(host)) {
    return 'A host with wildcards is written in ASCII: use the form of it that begins with xn--'
  }
  // A letter can stand for any wildcard here; a digit could turn a name into an IPv4 address.
  const sample = parsed(
    `${hasWildcard ? 'https' : scheme.replaceAll('*', 'a')}://${host.replace(/\*+/g, 'a')}/`,
  )
  return sample ? null : 'The host of the address is not valid in a browser: correct it'
}
