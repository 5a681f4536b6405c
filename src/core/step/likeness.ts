import { textHash } from '../text/text-hash.ts'
import type { Ancestor, Fingerprint, TestId } from './fingerprint.ts'
import { authoredId } from './generated-name.ts'

/** Attributes that contain words, which change with the page's language. */
const wordedAttributes = new Set(['placeholder', 'title'])

/**
 * How similar two parts are. This and the functions below return 0 to 1, or undefined if neither side has
 * the part.
 */
export function likeness<T>(
  a: T | undefined,
  b: T | undefined,
  compare: (a: T, b: T) => number,
): number | undefined {
  if (a === undefined && b === undefined) return undefined
  return a === undefined || b === undefined ? 0 : compare(a, b)
}

export function equality(a: string | number | undefined, b: typeof a): number | undefined {
  return likeness(a, b, (x, y) => (x === y ? 1 : 0))
}

/** Compares ids that authors chose. Ids that a library generates at every rendering say nothing. */
export function idLikeness(a: string | undefined, b: string | undefined): number | undefined {
  return equality(authoredId(a), authoredId(b))
}

/** Half if the same value is in another attribute, as when tests move to another framework. */
export function testIdLikeness(a: TestId | undefined, b: TestId | undefined): number | undefined {
  return likeness(a, b, (x, y) => (x.value !== y.value ? 0 : x.attr === y.attr ? 1 : 0.5))
}

/** The name by which an element is announced; `aria-label` stands in if the page sent no name. */
export function nameOf({ name, ariaLabel }: Fingerprint): string | undefined {
  return name ?? ariaLabel
}

export function wordLikeness(a: string | undefined, b: string | undefined): number | undefined {
  return likeness(a, b, bigramDice)
}

export function textLikeness(a: Fingerprint, b: Fingerprint): number | undefined {
  if (a.text === undefined && a.textHash === undefined) return equality(undefined, hashOf(b))
  if (hashOf(a) === hashOf(b)) return 1
  // Two different hashes do not say how much the texts differ.
  return a.text !== undefined && b.text !== undefined ? bigramDice(a.text, b.text) : 0
}

function hashOf(print: Fingerprint): string | undefined {
  if (print.textHash !== undefined) return print.textHash
  return print.text === undefined ? undefined : textHash(print.text)
}

/** A character and the one before it, as one number. */
const pairAt = (text: string, i: number) => text.charCodeAt(i - 1) * 65_536 + text.charCodeAt(i)

/** Dice's coefficient over pairs of neighbouring characters, which is cheap, and in which a typo costs little. */
function bigramDice(a: string, b: string): number {
  if (a === b) return 1
  const left = a.toLowerCase()
  const right = b.toLowerCase()
  if (left === right) return 1
  if (left.length < 2 || right.length < 2) return 0
  const unpaired = new Map<number, number>()
  for (let i = 1; i < left.length; i++) {
    const pair = pairAt(left, i)
    unpaired.set(pair, (unpaired.get(pair) ?? 0) + 1)
  }
  let shared = 0
  for (let i = 1; i < right.length; i++) {
    const pair = pairAt(right, i)
    const times = unpaired.get(pair) ?? 0
    if (times === 0) continue
    unpaired.set(pair, times - 1)
    shared++
  }
  return (2 * shared) / (left.length + right.length - 2)
}

/**
 * The best alignment of two lists of ancestors. It may skip ancestors but not change their order (Needleman
 * and Wunsch, 1970, gaps free), so one more wrapper costs little and another page a lot.
 */
export function ancestryLikeness(a: Ancestor[], b: Ancestor[]): number {
  // Each is compared with each, so what depends on only one of them is computed once.
  const [mineAll, theirsAll] = [a.map(withAuthoredId), b.map(withAuthoredId)]
  let above = new Array<number>(b.length + 1).fill(0)
  for (const mine of mineAll) {
    const row = [0]
    for (const [j, theirs] of theirsAll.entries()) {
      const paired = above[j]! + ancestorLikeness(mine, theirs)
      row.push(Math.max(paired, above[j + 1]!, row[j]!))
    }
    above = row
  }
  return (2 * above[b.length]!) / (a.length + b.length)
}

const withAuthoredId = (ancestor: Ancestor) => ({ ...ancestor, id: authoredId(ancestor.id) })

const partsOfAncestor = ['id', 'tag', 'role', 'testId', 'nth'] as const

/** The mean of `equality` over the parts, computed here because it is needed a hundred times per candidate. */
function ancestorLikeness(a: ReturnType<typeof withAuthoredId>, b: typeof a): number {
  let known = 0
  let equal = 0
  for (const part of partsOfAncestor) {
    if (a[part] === undefined && b[part] === undefined) continue
    known++
    if (a[part] === b[part]) equal++
  }
  return known === 0 ? 1 : equal / known
}

/**
 * Attributes as a set of `name=value`, without attributes that contain words if the locales differ, and
 * without the test id, which is a signal of its own.
 */
export function attributeSet(print: Fingerprint, sameLocale: boolean): Set<string> {
  const compared = Object.entries(print.attributes ?? {}).filter(
    ([name]) => name !== print.testId?.attr && (sameLocale || !wordedAttributes.has(name)),
  )
  return new Set(compared.map(([name, value]) => `${name}=${value}`))
}

export function jaccard(a: Set<string>, b: Set<string>): number | undefined {
  const all = a.union(b).size
  return all === 0 ? undefined : a.intersection(b).size / all
}

/** The share of the area of two rectangles that both cover. */
export function overlap(a: NonNullable<Fingerprint['rect']>, b: typeof a): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  const both = Math.max(0, width) * Math.max(0, height)
  const either = a.width * a.height + b.width * b.height - both
  // Far from the origin, the sums of a narrow rectangle are rounded, and the result could exceed 1.
  if (either > 0) return Math.min(1, both / either)
  return a.x === b.x && a.y === b.y ? 1 : 0
}

/** The mean of the known values; undefined if there are none. */
export function mean(values: (number | undefined)[]): number | undefined {
  const known = values.filter(value => value !== undefined)
  if (known.length === 0) return undefined
  return known.reduce((sum, value) => sum + value, 0) / known.length
}
