import type { UrlRule } from './flow.ts'
import { normalisedPattern } from './url-rule.ts'

/** Part of a pattern: a character, `*` for any run without a slash, or `**` for any run. */
type Token = string

const wild = (token: Token | undefined) => token === '*' || token === '**'

const tokensOf = (text: string): Token[] =>
  text.match(/\*+|[^*]/gs)?.map(token => (token.length > 1 ? '**' : token)) ?? []

/** A rule as one pattern over complete addresses: a path may be on any host. */
function patternOf(rule: UrlRule): string | null {
  if (rule.match === 'regex') return beginningOf(rule.pattern)
  const wanted = normalisedPattern(rule)
  if (wanted === null) return null
  const complete = wanted.startsWith('/') ? `*://*${wanted}` : wanted
  return rule.match === 'prefix' ? `${complete}**` : complete
}

/** What every address that a regular expression matches begins with, and anything after it. */
function beginningOf(pattern: string): string {
  const [plain = ''] = /^\^?((?:[\w/:%-]|\\[^\w*])(?![*+?{]))*/.exec(pattern) ?? []
  const beginning = pattern.includes('|') ? '' : plain.replace(/[\^\\]/g, '')
  if (pattern.includes('://')) return `${beginning}**`
  return beginning.startsWith('/') ? `*://*${beginning}**` : '**'
}

/** Path, query and fragment of a pattern, each with its mark; empty if it has none. */
function partsOf(pattern: string): readonly [path: string, query: string, fragment: string] {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(pattern)!
  return [path, query, fragment]
}

/** A query or fragment is only compared by rules that have one, so it says nothing beside one without. */
function comparable(one: string, other: string): [string, string] {
  const [parts, others] = [partsOf(one), partsOf(other)]
  const inBoth = (_: string, i: number) => parts[i] !== '' && others[i] !== ''
  return [parts.filter(inBoth).join(''), others.filter(inBoth).join('')]
}

/** Whether some text matches both patterns. Takes time by the product of their lengths. */
function haveCommonText(one: readonly Token[], other: readonly Token[]): boolean {
  const columns = other.length + 1
  const seen = new Uint8Array((one.length + 1) * columns)
  const open: (readonly [number, number])[] = [[0, 0]]
  const visit = (i: number, j: number) => {
    const place = i * columns + j
    if (seen[place]) return
    seen[place] = 1
    open.push([i, j])
  }
  for (let next = open.pop(); next; next = open.pop()) {
    const [i, j] = next
    const [a, b] = [one[i], other[j]]
    if (a === undefined && b === undefined) return true
    // A run may end, or take what stands on the other side.
    if (wild(a)) {
      visit(i + 1, j)
      if (b !== undefined && (a === '**' || b !== '/')) visit(i, j + 1)
    }
    if (wild(b)) {
      visit(i, j + 1)
      if (a !== undefined && (b === '**' || a !== '/')) visit(i + 1, j)
    }
    if (a !== undefined && a === b) visit(i + 1, j + 1)
  }
  return false
}

/** Whether there can be a page that both rules match. */
function rulesOverlap(one: UrlRule, other: UrlRule): boolean {
  const [a, b] = [patternOf(one), patternOf(other)]
  if (a === null || b === null) return false
  const [left, right] = comparable(a, b)
  return haveCommonText(tokensOf(left), tokensOf(right))
}

/**
 * Whether there can be a page on which flows with these rules are both shown. No rules mean every page. It
 * never misses one; what queries and fragments rule out, it may not see.
 */
export const pagesOverlap = (some: readonly UrlRule[], others: readonly UrlRule[]): boolean =>
  some.length === 0 ||
  others.length === 0 ||
  some.some(one => others.some(other => rulesOverlap(one, other)))
