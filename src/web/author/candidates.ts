import type { Candidate } from '../../core/step/candidate.ts'
import { isGeneratedClass } from '../../core/step/generated-name.ts'
import { type Grade, judgeSelector } from '../../core/step/proposal.ts'
import { matching } from '../snippet/stage/elements.ts'
import { minOfLength } from '../snippet/stage/fingerprint.ts'
import {
  byAttribute,
  givenSelectors,
  idSelector,
  ownSelectors,
} from '../snippet/stage/own-selectors.ts'

/** How long the shortest selector is searched for, milliseconds. Authors can wait longer than visitors. */
const searchMs = 500
/** How many selectors are proposed. */
const most = 5
/** No flow takes a longer selector, characters. */
const longest = 1_000
/** The value of an attribute in a selector, characters. */
const maxTextLength = 120

/** By the name that the page's author gave it for screen readers, with its role or else its tag. */
function* byName(element: Element): Iterable<string> {
  const label = element.getAttribute('aria-label')
  if (!label || label.length > maxTextLength) return
  const role = element.getAttribute('role')
  const what = role ? byAttribute('role', role) : CSS.escape(element.localName)
  yield what + byAttribute('aria-label', label)
}

/** The element's tag with another attribute that was written by hand, then a class that was. */
function* byLooks(element: Element): Iterable<string> {
  for (const name of ['href', 'type', 'role']) {
    const value = element.getAttribute(name)
    // A link's query may hold anything, so only links within the site and without one are used.
    const isKept =
      value && value.length <= maxTextLength && (name !== 'href' || /^[#/.][^?]*$/.test(value))
    if (isKept) yield CSS.escape(element.localName) + byAttribute(name, value)
  }
  const [named] = [...element.classList].filter(name => !isGeneratedClass(name))
  if (named !== undefined) yield `.${CSS.escape(named)}`
}

/** The nearest ancestor with something that was set by hand, followed by the element's tag. */
function* within(element: Element): Iterable<string> {
  const tag = CSS.escape(element.localName)
  let depth = 0
  for (let at = element.parentElement; at && depth < 8; at = at.parentElement, depth++) {
    const outer = givenSelectors(at)[0] ?? idSelector(at)
    if (outer === null) continue
    yield `${outer} ${tag}`
    const alike = [...(element.parentElement?.children ?? [])].filter(
      ({ localName }) => localName === element.localName,
    )
    if (alike.length > 1) yield `${outer} ${tag}:nth-of-type(${alike.indexOf(element) + 1})`
    return
  }
}

function* selectorsOf(element: Element): Iterable<string | null> {
  const root = element.getRootNode()
  yield* ownSelectors(element)
  yield* byName(element)
  yield minOfLength(element, root instanceof ShadowRoot ? root : undefined, searchMs)
  yield* byLooks(element)
  yield* within(element)
}

const generic = 'body, main, div, span, section, article, ul, ol'
const controls = 'a[href], button, input, select, textarea, summary, [role=button], [tabindex]'

/** Whether an element is only around what people use, and nobody has set anything on it so that it is found. */
export const isWrapper = (element: Element): boolean =>
  element.matches(generic) &&
  !element.hasAttribute('role') &&
  givenSelectors(element).length === 0 &&
  element.querySelector(controls) !== null

const rank: Record<Grade, number> = { strong: 0, fair: 1, weak: 2 }

/** Selectors that find an element, the best first. None contains text that the element holds. */
export function candidatesFor(element: Element): Candidate[] {
  const known = new Set<string>()
  const found: Candidate[] = []
  for (const selector of selectorsOf(element)) {
    if (selector === null || known.has(selector) || selector.length > longest) continue
    known.add(selector)
    const matches = matching(element.ownerDocument, selector)
    if (!matches.includes(element)) continue
    const { grade, mayNamePerson } = judgeSelector(selector)
    found.push({ selector, matchCount: matches.length, grade, mayNamePerson })
  }
  // Equally good selectors keep the order above.
  const weight = ({ matchCount, mayNamePerson, grade }: Candidate) =>
    (matchCount === 1 ? 0 : 8) + (mayNamePerson ? 4 : 0) + rank[grade]
  const sorted = found.toSorted((a, b) => weight(a) - weight(b))
  // Selectors that also match other elements are proposed only if there is hardly anything else.
  const alone = sorted.filter(({ matchCount }) => matchCount === 1)
  return (alone.length >= 2 ? alone : sorted).slice(0, most)
}
