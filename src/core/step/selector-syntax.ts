import {
  type AstPseudoClass,
  type AstRule,
  type AstSelector,
  createParser,
  type SyntaxDefinition,
} from 'css-selector-parser'
import { didYouMean, quoted, shown } from '../text/wording.ts'

/** A selector as a tree, or what is wrong with it in one sentence. */
export type Selector = { tree: AstSelector } | { problem: string }

/** The pseudo-classes with which `document.querySelector` can find an element, by the type of their argument. */
const pseudoClasses = {
  NoArgument: [
    ...['active', 'any-link', 'autofill', 'checked', 'default', 'defined', 'disabled', 'empty'],
    ...['enabled', 'first-child', 'first-of-type', 'focus', 'focus-visible', 'focus-within'],
    ...['fullscreen', 'hover', 'in-range', 'indeterminate', 'invalid', 'last-child'],
    ...['last-of-type', 'link', 'modal', 'only-child', 'only-of-type', 'open', 'optional'],
    ...['out-of-range', 'picture-in-picture', 'placeholder-shown', 'popover-open', 'read-only'],
    ...['read-write', 'required', 'root', 'scope', 'target', 'user-invalid', 'user-valid'],
    ...['valid', 'visited', '-webkit-any-link', '-webkit-autofill', '-webkit-full-screen'],
  ],
  Formula: ['nth-of-type', 'nth-last-of-type'],
  FormulaOfSelector: ['nth-child', 'nth-last-child'],
  String: ['dir', 'lang', 'state'],
  Selector: ['has', 'is', 'not', 'where'],
}

const syntax: SyntaxDefinition = {
  tag: { wildcard: true },
  ids: true,
  classNames: true,
  namespace: { wildcard: true },
  nestingSelector: true,
  combinators: ['>', '+', '~'],
  attributes: {
    operators: ['=', '~=', '|=', '^=', '$=', '*='],
    caseSensitivityModifiers: ['i', 'I', 's', 'S'],
  },
  // Accepted here and rejected below, with better messages.
  pseudoElements: {
    unknown: 'accept',
    notation: 'both',
    definitions: ['before', 'after', 'first-letter', 'first-line'],
  },
  pseudoClasses: { unknown: 'reject', definitions: pseudoClasses },
}

const parse = createParser({ syntax, strict: true })

/** Plain words in place of a selector, as in `:lang(en)`. */
const plainWords = /^[\w\u00a0-\uffff\\*-]+(?:\s*,\s*[\w\u00a0-\uffff\\*-]+)*$/

/**
 * Reads a CSS selector as `document.querySelector` does. Reports what is wrong with a selector that a
 * browser rejects, that could never find an element, or that is not closed (a browser closes it at its end,
 * but no author means that). Time is bounded by the length, 1,000 characters at most.
 */
export function readSelector(text: string): Selector {
  if (/^\s*\(*\.?(?:\/\/[\w*@.]|\/\w)/.test(text)) {
    return { problem: 'This is an XPath, not a CSS selector: write one such as [data-test="save"]' }
  }
  const unpaired = unpairedMark(text)
  if (unpaired !== null) return { problem: unpaired }
  const written = asParsed(text)
  try {
    const tree = parse(written)
    const problem = problemIn(tree)
    return problem === null ? { tree } : { problem }
  } catch (thrown) {
    const { message, position = 0 } = thrown as Error & { position?: number }
    return { problem: adviceOn(message, written.slice(position)) }
  }
}

const byText = 'use target.text for the text'
const byPlace = 'use target.nth for its place among several (0 is the first)'

/** What to use instead of pseudo-classes of jQuery and of tools for tests. */
const foreign = new Map([
  ...['contains', 'has-text', 'text', 'text-is'].map(name => [name, byText] as const),
  ...['eq', 'first', 'last', 'nth', 'nth-match'].map(name => [name, byPlace] as const),
])

/** @param message the parser's own, of css-selector-parser 3 */
function adviceOn(message: string, rest: string): string {
  const [, unknown] = /Unknown pseudo-class: "(.*)"/s.exec(message) ?? []
  if (unknown !== undefined) {
    const hint =
      didYouMean(unknown, Object.values(pseudoClasses).flat()) ||
      ': remove it, or write "\\:" for a colon that belongs to a name'
    const advice = foreign.has(unknown) ? `: ${foreign.get(unknown)}` : hint
    return `${quoted(`:${unknown}`)} is not a pseudo-class that browsers know${advice}`
  }
  const place = rest === '' ? 'its end' : `${quoted(rest)} on`
  return `Browsers cannot read the selector from ${place}: correct it, quote attribute values, and escape special characters in names, as in .w-1\\/2`
}

const maxBrackets = 10

/** A quote or bracket without its counterpart. The parser stops at some of them without an error. */
function unpairedMark(text: string): string | null {
  const bare = text.replace(
    /\\[\s\S]|"(?:[^"\\\n\r\f]|\\[\s\S])*"|'(?:[^'\\\n\r\f]|\\[\s\S])*'/g,
    '',
  )
  if (/["']/.test(bare)) return 'A quote is not closed on its line: close it'
  let brackets = bare.replace(/[^()[\]]/g, '')
  for (let depth = 0; depth < maxBrackets; depth++) brackets = brackets.replace(/\(\)|\[\]/g, '')
  return brackets === '' ? null : 'Brackets are not paired, or nested too deeply: close each one'
}

/** Matches quoted text and escapes, which stay as they are, and what the parser needs in another form. */
const otherwise =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.|(?<![\w\u00a0-\uffff-])--|:[a-z-]+(?:\(\s*(?:even|odd|[+-]?\d*n))?/gis

/**
 * The same selector in the form that the parser accepts: pseudo-classes and formulas in lower case, and the
 * first of two leading hyphens of a name escaped.
 */
function asParsed(text: string): string {
  return text.replace(otherwise, part => {
    if (part === '--') return '\\--'
    return part.startsWith(':') ? part.toLowerCase() : part
  })
}

/** What the parser accepts but a browser rejects, or what would never find anything. */
function problemIn({ rules }: AstSelector, inside: readonly string[] = []): string | null {
  return first(rules, rule => problemInRule(rule, inside))
}

function problemInRule(rule: AstRule, inside: readonly string[]): string | null {
  const around = inside.at(-1)
  if (rule.combinator !== undefined && around !== undefined && around !== 'has') {
    return `Something is missing before "${rule.combinator}" in :${around}(): write it`
  }
  return first(partsOf(rule), part =>
    first(part.items, item => {
      if (item.type === 'PseudoElement') {
        return `"::${shown(item.name)}" is not an element that a step can point at: remove it`
      }
      if ('namespace' in item && item.namespace?.type === 'NamespaceName') {
        return `Pages have no namespace ${quoted(item.namespace.name)}: remove it and the "|"`
      }
      return item.type === 'PseudoClass' ? problemInArgument(item, inside) : null
    }),
  )
}

function problemInArgument({ name, argument }: AstPseudoClass, inside: readonly string[]) {
  if (name === 'has' && inside.includes('has')) {
    return 'Browsers reject ":has()" inside another: remove one of them'
  }
  switch (argument?.type) {
    case 'String':
      if (plainWords.test(argument.value)) return null
      return `":${name}" needs a plain word, as in :lang(en), not ${quoted(argument.value)}`
    case 'Selector':
      return problemIn(argument, [...inside, name])
    case 'FormulaOfSelector':
      return problemInRule(argument.selector, [...inside, name])
    default:
      return null
  }
}

/** The compounds of a selector without commas, from left to right. */
export function* partsOf(rule: AstRule): Iterable<AstRule> {
  for (let part: AstRule | undefined = rule; part !== undefined; part = part.nestedRule) yield part
}

/** The first problem that is found, or null. */
export function first<T>(all: Iterable<T>, problemOf: (one: T) => string | null): string | null {
  for (const one of all) {
    const problem = problemOf(one)
    if (problem !== null) return problem
  }
  return null
}
