import type { AstRule, AstSelector } from 'css-selector-parser'
import { quoted } from '../text/wording.ts'
import { isGeneratedClass, isGeneratedId } from './generated-name.ts'
import { first, partsOf } from './selector-syntax.ts'

/**
 * Whether a class says how an element looks, as those of Tailwind and Bootstrap do: many elements have it,
 * and the next change of the design removes it. Cautious rather than complete: a name that could be an
 * element's own (`grid`, `card`, `nav-1`) passes.
 */
function isUtilityClass(name: string): boolean {
  // The part before the colons says when it applies: md:mt-4, hover:bg-red-500, dark:md:p-2.
  const bare = name.slice(name.lastIndexOf(':') + 1).replace(/^[!-]/, '')
  return patterns.some(pattern => pattern.test(bare))
}

const patterns = [
  // Spacing and size: mt-4, px-2.5, -mx-1, w-full, h-1/2, gap-x-3, space-y-4, p-[3px].
  /^(?:[mp][trblxyse]?|[wh]|(?:min|max)-[wh]|gap(?:-[xy])?|space-[xy]|inset(?:-[xy])?)-(?:\d+(?:\.5)?|\d+\/\d+|px|auto|full|screen|\[.+\])$/,
  // Layout: items-center, justify-between, flex-col, grid-cols-3, col-span-2, d-flex.
  /^(?:items|justify|content|self|place-items)-(?:start|end|center|between|around|evenly|stretch|baseline)$/,
  /^(?:flex-(?:row|col|column|wrap|nowrap|1)|(?:grid-cols|col-span|row-span|order|z|opacity)-\d+|inline-(?:flex|block)|d-(?:flex|block|none|grid|inline))$/,
  // Look: text-sm, text-gray-500, bg-white, font-bold, rounded-lg, shadow-md.
  /^text-(?:xs|sm|base|lg|\d?xl|left|center|right|white|black)$/,
  /^(?:text|bg|border)-[a-z]+-\d{2,3}$/,
  /^(?:bg-(?:white|black)|font-(?:bold|medium|semibold|normal|light)|(?:rounded|shadow)-(?:sm|md|lg|\d?xl|full))$/,
]

type Item = AstRule['items'][number]

const maxChildren = 4

/** Tags that occur once on a page. */
const singleTags = new Set(['html', 'body', 'main'])

/** Elements that contain the whole page. */
const wholePage = new Set(['html', 'body'])

const better = 'point at a data-test or aria attribute, or at an id that is given by hand'

/**
 * Which parts of a selector the next build, or the next change of the page, will probably break, and what
 * to do. One sentence for each kind of weakness, and none for a selector that should last.
 *
 * @param isNarrowed whether the step also identifies the element by its text
 */
export function fragileParts(tree: AstSelector, isNarrowed: boolean): string[] {
  const found = [
    first(tree.rules, generatedName),
    first(tree.rules, longPath),
    first(tree.rules, rule => (isNarrowed ? null : (bareTag(rule) ?? looksAlone(rule)))),
    first(tree.rules, pageItself),
  ]
  return found.filter(sentence => sentence !== null)
}

/** Everything that a selector requires of elements, also inside `:is()`, `:not()` and `:has()`. */
function* itemsOf(rule: AstRule): Iterable<Item> {
  for (const part of partsOf(rule)) {
    for (const item of part.items) {
      yield item
      const argument = item.type === 'PseudoClass' ? item.argument : undefined
      if (argument?.type === 'Selector') for (const inner of argument.rules) yield* itemsOf(inner)
      if (argument?.type === 'FormulaOfSelector') yield* itemsOf(argument.selector)
    }
  }
}

function generatedName(rule: AstRule): string | null {
  for (const item of itemsOf(rule)) {
    const [name, isGenerated] = madeUp(item)
    if (isGenerated) {
      return `${quoted(name)} looks made up by a build or framework and will change: ${better}`
    }
  }
  return null
}

/** Attributes that contain an id of this or another element. */
const idAttributes = new Set(['id', 'for', 'aria-controls', 'aria-labelledby', 'aria-describedby'])

/** Frameworks mark the elements of a component with an attribute whose name contains a hash. */
const madeUpAttribute = /^(?:data-v-[\da-f]{6,}|_ng(?:content|host)-.+|data-astro-cid-.+)$/

function madeUp(item: Item): [name: string, isGenerated: boolean] {
  if (item.type === 'ClassName') return [`.${item.name}`, isGeneratedClass(item.name)]
  if (item.type === 'Id') return [`#${item.name}`, isGeneratedId(item.name)]
  if (item.type !== 'Attribute') return ['', false]
  if (madeUpAttribute.test(item.name)) return [`[${item.name}]`, true]
  const value = item.value?.type === 'String' ? item.value.value : ''
  if (item.name === 'class') {
    return [value, value.split(/\s+/).some(name => isGeneratedClass(name))]
  }
  return [value, idAttributes.has(item.name) && isGeneratedId(value)]
}

/** A path through the page's structure. Any element that is added breaks it. */
function longPath(rule: AstRule): string | null {
  const parts = [...partsOf(rule)]
  const places = parts.filter(({ items }) =>
    items.some(item => item.type === 'PseudoClass' && item.name.startsWith('nth-')),
  )
  if (places.length > 1) {
    return `The selector counts elements in ${places.length} places (:nth-…), and one more or less on the page breaks it: ${better}`
  }
  let children = 0
  for (const { combinator } of parts) {
    children = combinator === '>' ? children + 1 : 0
    if (children >= maxChildren) {
      return `The selector follows ${maxChildren + 1} or more elements from child to child (>), and a wrapper between two breaks it: ${better}`
    }
  }
  return null
}

/** Only common tags and positions: the page has, or will have, more than one such element. */
function bareTag(rule: AstRule): string | null {
  const items = [...itemsOf(rule)]
  const isBare = items.every(
    item =>
      (item.type === 'TagName' && !item.name.includes('-')) ||
      item.type === 'WildcardTag' ||
      (item.type === 'PseudoClass' && item.argument?.type !== 'Selector'),
  )
  const tags = items.flatMap(item => (item.type === 'TagName' ? [item.name.toLowerCase()] : []))
  const last = [...partsOf(rule)].at(-1)!.items[0]!
  const isSingle =
    (last.type === 'TagName' && singleTags.has(last.name.toLowerCase())) ||
    (last.type === 'PseudoClass' && last.name === 'root')
  if (!isBare || isSingle) return null
  const named = tags.length === 0 ? 'any element' : `any ${quoted(tags.at(-1)!)}`
  return `The selector says no more than ${named}, and a page has many: ${better}, or add target.text`
}

/** Only classes that say how the element looks, as other elements do too: `.mt-4.flex.px-2`. */
function looksAlone(rule: AstRule): string | null {
  let known: string | null = null
  for (const item of itemsOf(rule)) {
    if (item.type === 'ClassName') {
      if (isUtilityClass(item.name)) known ??= item.name
      else if (!plainLooks.has(item.name)) return null
    } else if (item.type === 'Id' || item.type === 'Attribute') return null
    else if (item.type === 'TagName' && item.name.includes('-')) return null
  }
  if (known === null) return null
  return `${quoted(`.${known}`)} and what is beside it say how the element looks, not which it is: ${better}, or add target.text`
}

/** Utility classes that could also be an element's own name. */
const plainLooks = new Set([
  ...['flex', 'grid', 'block', 'inline', 'hidden', 'relative', 'absolute', 'fixed', 'sticky'],
  ...['border', 'rounded', 'shadow', 'truncate', 'uppercase', 'underline', 'container', 'row'],
])

/** The page itself: a step that points at it points at nothing. */
function pageItself(rule: AstRule): string | null {
  const { items } = [...partsOf(rule)].at(-1)!
  const isPage = items.every(
    item =>
      (item.type === 'TagName' && wholePage.has(item.name.toLowerCase())) ||
      (item.type === 'PseudoClass' && item.name === 'root'),
  )
  if (!isPage) return null
  return 'The selector is the whole page: point at an element of it, or leave target out and make it a modal or banner'
}
