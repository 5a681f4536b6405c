import { didYouMean, quoted } from '../text/wording.ts'

const byText = 'use target.text for the text'
const byPlace = 'use target.nth for its place among several (0 is the first)'

/** What to use instead of pseudo-classes of other tools. */
const foreign: Record<string, string> = Object.fromEntries([
  ...['contains', 'has-text', 'text', 'text-is', 'text-matches'].map(name => [name, byText]),
  ...['eq', 'first', 'last', 'even', 'odd', 'gt', 'lt', 'nth', 'nth-match'].map(name => [
    name,
    byPlace,
  ]),
  ...['visible', 'hidden', 'parent', 'animated', 'selected'].map(name => [name, 'remove it']),
  ...['button', 'checkbox', 'file', 'image', 'password', 'radio', 'reset', 'submit'].map(name => [
    name,
    `write [type="${name}"]`,
  ]),
  ['input', 'list the tags, such as input, select'],
  ['header', 'list the tags, such as h1, h2'],
])

const inShadow = ['host', 'host-context', 'slotted']

/**
 * Turns an error of the selector parser into a clearer message that says what to do.
 *
 * @param message the parser's own message, of css-selector-parser 3
 * @param rest the selector from where the parser stopped
 * @param pseudoClasses the names that the parser knows
 */
export function adviceOn(message: string, rest: string, pseudoClasses: string[]): string {
  const [, unknown] = /Unknown pseudo-class: "(.*)"/s.exec(message) ?? []
  if (unknown !== undefined) return adviceOnPseudoClass(unknown, pseudoClasses)
  const [, lacking] = /Argument is required for pseudo-class "(.*)"/s.exec(message) ?? []
  if (lacking !== undefined) return `":${lacking}" needs an argument in brackets: add it`
  const [, mark] = /Expected rule but "([>+~,)])"/.exec(message) ?? []
  if (mark !== undefined) {
    const rather = mark === ')' ? '' : `, or remove the "${mark}"`
    return `Something is missing before "${mark}": write it${rather}`
  }
  if (/Expected rule but end|Unexpected end/.test(message)) {
    return 'The selector is incomplete: finish it, or remove its last character'
  }
  if (/attribute value/.test(message)) {
    return `Attribute values need quotes: add them around ${quoted(rest)}`
  }
  if (rest.startsWith('!=')) return '"!=" is from jQuery, not CSS: write :not([name="value"])'
  if (/attribute selector operator/.test(message)) {
    return `Compare an attribute with =, ~=, |=, ^=, $= or *=, not with ${quoted(rest)}`
  }
  if (/Expected (ID|class) name|hyphen/.test(message)) {
    if (!/^\d/.test(rest)) return `A name is missing at ${quoted(rest)}: write it`
    return `No name begins with a digit, as ${quoted(rest)} does: write [id="…"] or [class~="…"]`
  }
  if (/Formula/.test(message)) {
    return `A position must be 2, odd, even or 2n+1: correct it before ${quoted(rest)}`
  }
  if (rest.startsWith('/*')) return 'Comments are not allowed in selectors: remove it'
  const advice = /^[/%@$!;]/.test(rest)
    ? 'escape special characters in names, as in .w-1\\/2'
    : 'correct it there, and quote attribute values'
  return `Browsers cannot read the selector from ${quoted(rest)} on: ${advice}`
}

function adviceOnPseudoClass(name: string, pseudoClasses: string[]): string {
  const written = quoted(`:${name}`)
  if (inShadow.includes(name)) {
    return `${written} only works inside a shadow root: remove it`
  }
  if (Object.hasOwn(foreign, name)) {
    return `${written} is from jQuery or a test tool, not CSS: ${foreign[name]}`
  }
  const hint = didYouMean(name, pseudoClasses)
  const advice = hint || ': remove it, or write "\\:" for a colon that belongs to a name'
  return `${written} is not a pseudo-class that browsers know${advice}`
}
