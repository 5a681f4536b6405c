import { type Program, RegexProblem, readRegex } from './regex-program.ts'
import { comparable, regex } from './url-rule.ts'

/**
 * Rules of pages that are regular expressions. A page's own script has none of this: pages load it if a flow
 * has such a rule. Everywhere else it is there as soon as this file is imported.
 */

const maxLength = 200

/** What is wrong with a regular expression and what to write instead, in one sentence, or null. */
export function regexProblem(pattern: string): string | null {
  if (pattern.length > maxLength) {
    return `A regular expression has at most ${maxLength} characters: shorten it, or write several rules`
  }
  const [other] = /[^\x21-\x7e]/u.exec(pattern) ?? []
  if (other !== undefined) {
    return `Browsers write addresses in ASCII: write ${encodeURIComponent(other.toWellFormed())} for "${other}"`
  }
  try {
    readRegex(pattern)
    return null
  } catch (error) {
    if (error instanceof RegexProblem) return error.message
    throw error
  }
}

/** Programs of the patterns that were compared last; null for those that are wrong. */
const programs = new Map<string, Program | null>()
const maxPrograms = 200

function programOf(pattern: string): Program | null {
  const kept = programs.get(pattern)
  if (kept !== undefined) return kept
  if (programs.size >= maxPrograms) programs.clear()
  const program = regexProblem(pattern) === null ? readRegex(pattern) : null
  programs.set(pattern, program)
  return program
}

/**
 * Whether a regular expression matches all of an address's path, or all of the address if the expression
 * contains `://`. The query is only compared if it contains `\?`, and the fragment only if it contains `#`.
 */
export function regexMatches(pattern: string, url: URL): boolean {
  const isWhole = pattern.includes('://')
  const shape = `${isWhole ? '' : '/'}${pattern.includes('\\?') ? '?' : ''}${pattern.includes('#') ? '#' : ''}`
  return programOf(pattern)?.matches(comparable(url, shape)) ?? false
}

regex.matches = regexMatches
