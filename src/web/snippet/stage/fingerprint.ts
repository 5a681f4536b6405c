import { finder as uniqueSelector } from '@medv/finder'
import type { Ancestor, Fingerprint, TestId } from '../../../core/step/fingerprint.ts'
import { isGeneratedClass, isGeneratedId } from '../../../core/step/generated-name.ts'
import { folded } from '../../../core/text/text-hash.ts'
import { matching, textOf } from './elements.ts'
import { ownSelectors } from './own-selectors.ts'

/** Attributes by which tests find elements. */
const testIdAttributes = ['data-testid', 'data-test', 'data-test-id', 'data-cy', 'data-qa']

/** Attributes that tell elements apart; an input's value is never among them. */
const toldAttributes = ['name', 'type', 'for', 'placeholder', 'title']

/** A control's words are its author's. Longer texts, and those of other elements, may be about people. */
const maxTextLength = 80
const controls =
  'button, a, summary, label, h1, h2, h3, h4, h5, h6, [role=button], [role=tab], [role=menuitem]'

const maxAncestors = 5
const maxClasses = 10

const roles: Record<string, string> = {
  a: 'link',
  button: 'button',
  select: 'combobox',
  textarea: 'textbox',
  nav: 'navigation',
  main: 'main',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
}

const tagOf = (element: Element) => element.localName

const roleOf = (element: Element) => element.getAttribute('role') ?? roles[tagOf(element)]

function testIdOf(element: Element): TestId | undefined {
  const attr = testIdAttributes.find(name => element.hasAttribute(name))
  return attr ? { attr, value: element.getAttribute(attr) ?? '' } : undefined
}

const wordsOf = (element: Element): string | undefined => {
  const text = element.matches(controls) ? textOf(element) : ''
  return text !== '' && text.length <= maxTextLength ? text : undefined
}

/** Its accessible name, as far as the page's author wrote it (accname 1.2, sections 2C, 2D, 2F). */
function nameOf(element: Element): string | undefined {
  const labelled = element.getAttribute('aria-labelledby')?.split(/\s+/) ?? []
  const root = element.getRootNode() as Document | ShadowRoot
  const labels = labelled.flatMap(id => root.getElementById(id) ?? []).map(textOf)
  // Only for fields: a browser searches the whole page for labels, and buttons say themselves what they do.
  const ofForm = element.matches('input, select, textarea')
    ? (element as HTMLInputElement).labels?.[0]
    : undefined
  const name =
    labels.join(' ') ||
    element.getAttribute('aria-label') ||
    element.getAttribute('alt') ||
    (ofForm && textOf(ofForm)) ||
    wordsOf(element)
  return name ? folded(name).slice(0, maxTextLength) : undefined
}

const placeAmong = (element: Element, isOne: (other: Element) => boolean): number => {
  let place = 0
  for (let other = element.previousElementSibling; other; other = other.previousElementSibling) {
    if (isOne(other)) place++
  }
  return place
}

/** The parent; at the root of a shadow tree, its host. */
const above = (element: Element): Element | null =>
  element.parentElement ?? (element.getRootNode() as ShadowRoot).host ?? null

function ancestorsOf(element: Element): Ancestor[] {
  const ancestors: Ancestor[] = []
  for (let at = above(element); at && ancestors.length < maxAncestors; at = above(at)) {
    if (at === at.ownerDocument.body) break
    ancestors.push({
      tag: tagOf(at),
      nth: placeAmong(at, () => true),
      ...(at.id && !isGeneratedId(at.id) && { id: at.id }),
      ...optional('role', roleOf(at)),
      ...optional('testId', testIdOf(at)?.value),
    })
  }
  return ancestors
}

function attributesOf(element: Element): Record<string, string> {
  const values: Record<string, string> = {}
  for (const name of toldAttributes) {
    const value = element.getAttribute(name)
    if (value) values[name] = value.slice(0, maxTextLength)
  }
  const { href } = element as HTMLAnchorElement
  // The path alone: a query may hold anything.
  if (typeof href === 'string' && URL.canParse(href)) values.href = new URL(href).pathname
  return values
}

const optional = <Name extends string, Value>(name: Name, value: Value | undefined | null) =>
  value === undefined || value === null || value === '' ? {} : { [name]: value }

/** What tells an element from others, without long texts or what people typed. */
export function fingerprintOf(
  element: Element,
  selector: string | null = null,
  matchCount = 1,
): Fingerprint {
  const { x, y, width, height } = element.getBoundingClientRect()
  const view = element.ownerDocument.defaultView
  return {
    matchCount,
    tag: tagOf(element),
    ...optional('selector', selector),
    ...optional('id', element.id),
    ...optional('testId', testIdOf(element)),
    ...optional('name', nameOf(element)),
    ...optional('role', roleOf(element)),
    ...optional('ariaLabel', element.getAttribute('aria-label')),
    ...optional('text', wordsOf(element)),
    classes: [...element.classList].filter(name => !isGeneratedClass(name)).slice(0, maxClasses),
    attributes: attributesOf(element),
    ancestors: ancestorsOf(element),
    nthOfType: placeAmong(element, other => other.localName === element.localName),
    rect: {
      x: Math.round(x + (view?.scrollX ?? 0)),
      y: Math.round(y + (view?.scrollY ?? 0)),
      width: Math.round(width),
      height: Math.round(height),
    },
  }
}

/**
 * The element with the most lasting selector that would find only it, if there is one. The server takes two
 * selectors for two elements, of which it could suggest neither.
 */
export function candidatesOf(element: Element): Fingerprint[] {
  for (const selector of lastingSelectors(element)) {
    if (matching(element.ownerDocument, selector).length === 1) {
      return [fingerprintOf(element, selector)]
    }
  }
  return []
}

function* lastingSelectors(element: Element): Generator<string> {
  yield* ownSelectors(element)
  const shortest = minOfLength(element)
  if (shortest !== null) yield shortest
}

/**
 * @param root where the selector must be unique; the document unless given
 * @param timeoutMs how long it is looked for; after that, a selector that counts elements has to do
 */
export function minOfLength(
  element: Element,
  root?: Document | ShadowRoot,
  timeoutMs = 20,
): string | null {
  try {
    return uniqueSelector(element, {
      // Any node that can be searched will do.
      ...(root && { root: root as unknown as Element }),
      idName: name => !isGeneratedId(name),
      className: name => !isGeneratedClass(name),
      timeoutMs,
    })
  } catch {
    return null
  }
}
