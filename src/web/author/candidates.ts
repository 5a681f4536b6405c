import { isGeneratedClass, isGeneratedId } from '../../core/step/generated-name.ts'
import { type Grade, judgeSelector } from '../../core/step/proposal.ts'
import { matching } from '../snippet/stage/elements.ts'
import { shortestOf, testIdOf } from '../snippet/stage/fingerprint.ts'

/** A selector that finds the element, and what is known about it. */
export interface Candidate {
  selector: string
  matchCount: number
  grade: Grade
  mayNamePerson: boolean
}

/** How long the shortest selector is searched for, milliseconds. Authors can wait longer than visitors. */
const searchMs = 500
/** How many selectors are proposed. */
const most = 5
/** No flow takes a longer selector, characters. */
const longest = 1_000

const valued = (name: string, value: string) =>
  `[${name}="${value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"]`

const testIdSelector = (element: Element): string | null => {
  const testId = testIdOf(element)
  return testId && testId.value !== '' ? valued(testId.attr, testId.value) : null
}

const idSelector = ({ id }: Element): string | null =>
  id && !isGeneratedId(id) ? `#${CSS.escape(id)}` : null

/** The element's tag with an attribute that was written by hand, then a class that was. */
function* byAttribute(element: Element): Iterable<string> {
  const tag = CSS.escape(element.localName)
  for (const name of ['name', 'aria-label', 'href', 'type', 'role']) {
    const value = element.getAttribute(name)
    // A link's query may hold anything, so only links within the site and without one are used.
    const isKept = value && value.length <= 120 && (name !== 'href' || /^[#/.][^?]*$/.test(value))
    if (isKept) yield `${tag}${valued(name, value)}`
  }
  const [named] = [...element.classList].filter(name => !isGeneratedClass(name))
  if (named !== undefined) yield `.${CSS.escape(named)}`
}

/** The nearest ancestor with a test id or an id written by hand, followed by the element's tag. */
function* within(element: Element): Iterable<string> {
  const tag = CSS.escape(element.localName)
  let depth = 0
  for (let at = element.parentElement; at && depth < 8; at = at.parentElement, depth++) {
    const outer = testIdSelector(at) ?? idSelector(at)
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
  yield testIdSelector(element)
  yield idSelector(element)
  yield shortestOf(element, root instanceof ShadowRoot ? root : undefined, searchMs)
  yield* byAttribute(element)
  yield* within(element)
}

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
