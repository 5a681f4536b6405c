import { createHash } from 'node:crypto'
import { fourDecimals } from './rate.ts'

/** The attribute that tests find an element by (`data-testid` and its like) and its value. */
export type TestId = { attr: string; value: string }

/** An element around the target. `testId` is the value alone, `nth` its place among its siblings. */
export type Ancestor = { tag?: string; id?: string; role?: string; testId?: string; nth?: number }

/**
 * What a page tells of the element that a step points at. `name` is the accessible name; `text` and
 * `textHash` are two ways to tell the same (see {@link textHash}); `ancestors` begin with the
 * parent; `nthOfType` and `rect` (CSS pixels) say where it is. Only `matchCount`, the number of
 * elements that `selector` matched, is always there.
 */
export type Fingerprint = {
  selector?: string
  matchCount: number
  tag?: string
  id?: string
  testId?: TestId
  name?: string
  role?: string
  ariaLabel?: string
  text?: string
  textHash?: string
  classes?: string[]
  attributes?: Record<string, string>
  ancestors?: Ancestor[]
  nthOfType?: number
  rect?: { x: number; y: number; width: number; height: number }
}

/** What two fingerprints are compared by, and how much of the score each part decides. */
export const SIGNAL_WEIGHTS = {
  testId: 0.2,
  id: 0.2,
  tag: 0.1,
  roleAndName: 0.15,
  text: 0.15,
  ancestors: 0.15,
  attributes: 0.05,
  // Layouts move with every viewport. Reported for those who look into a drift, never judged by.
  position: 0,
} as const

/** A part of a comparison. */
export type Signal = keyof typeof SIGNAL_WEIGHTS

/**
 * How like its baseline an element is. `score` and each of `signals` are 0 to 1 with four decimals;
 * `signals` has a {@link Signal} only if it was compared.
 */
export type Comparison = {
  status: 'match' | 'drift' | 'gone'
  score: number
  signals: Record<string, number>
}

const MATCH_FROM = 0.85
const DRIFT_FROM = 0.5

const LONGEST_STRING = 512
const MOST_CLASSES = 50
const MOST_ATTRIBUTES = 30
const MOST_ANCESTORS = 10
const MOST_CANDIDATES = 20
/** Beyond any real page; keeps the arithmetic on rectangles finite. */
const FARTHEST_PIXEL = 10_000_000

/** An input's `value` is never among them: what people type is none of our business. */
const KEPT_ATTRIBUTES = new Set(['name', 'type', 'for', 'href', 'placeholder', 'title'])
/** Attributes that hold words, which change with the page's language. */
const WORDED_ATTRIBUTES = new Set(['placeholder', 'title'])

/**
 * The parts of a fingerprint that are kept, within their bounds; anything else is dropped, parts of
 * a wrong type too. Longer strings are cut, but for a selector and an `href`, which would then name
 * something else and are dropped. Applying it twice changes nothing.
 *
 * @param raw a fingerprint as sent. A `matchCount` that is not a count becomes 0: such a fingerprint
 *   is neither a baseline nor a suggestion
 */
export function allowedFingerprint(raw: Readonly<Record<string, unknown>>): Fingerprint {
  return present({
    selector: wholeOf(raw.selector),
    matchCount: countOf(raw.matchCount) ?? 0,
    tag: lowerOf(raw.tag),
    id: stringOf(raw.id),
    testId: testIdOf(raw.testId),
    name: wordsOf(raw.name),
    role: lowerOf(raw.role),
    ariaLabel: wordsOf(raw.ariaLabel),
    text: wordsOf(raw.text),
    textHash: textHashOf(raw),
    classes: classesOf(raw.classes),
    attributes: attributesOf(raw.attributes),
    ancestors: ancestorsOf(raw.ancestors),
    nthOfType: countOf(raw.nthOfType),
    rect: rectOf(raw.rect),
  })
}

/**
 * What `textHash` holds: the lower-case hex SHA-256 of the text, trimmed and with every run of white
 * space folded to one space. So a page that may not send its text can still be compared.
 */
export function textHash(text: string): string {
  return createHash('sha256').update(fold(text)).digest('hex')
}

/**
 * Compares an element with its baseline.
 *
 * A signal absent on both sides leaves the sum; one that only one side has scores 0. In another
 * locale no words are compared: the text, the accessible name, `placeholder` and `title`. When the
 * test id is another one, an equal text can lower the score but not raise it: rows of a table all
 * say "Delete". With nothing at all to compare, nothing has been seen to change: 1.
 *
 * @param baseline as {@link allowedFingerprint} gives it
 * @param seen the same; `null` when the element was looked for and is not there
 */
export function compareFingerprints(
  baseline: Fingerprint,
  seen: Fingerprint | null,
  { sameLocale }: { sameLocale: boolean },
): Comparison {
  if (seen === null) return { status: 'gone', score: 0, signals: {} }

  const found: Record<Signal, number | undefined> = {
    testId: testIdLikeness(baseline.testId, seen.testId),
    id: equality(baseline.id, seen.id),
    tag: equality(baseline.tag, seen.tag),
    roleAndName: mean([
      equality(baseline.role, seen.role),
      sameLocale ? wordLikeness(nameOf(baseline), nameOf(seen)) : undefined,
    ]),
    text: sameLocale ? textLikeness(baseline, seen) : undefined,
    ancestors: likeness(baseline.ancestors, seen.ancestors, ancestryLikeness),
    attributes: mean([
      jaccard(attributeSet(baseline, sameLocale), attributeSet(seen, sameLocale)),
      jaccard(new Set(baseline.classes), new Set(seen.classes)),
    ]),
    position: mean([
      equality(baseline.nthOfType, seen.nthOfType),
      likeness(baseline.rect, seen.rect, overlap),
    ]),
  }

  const anotherTestId = baseline.testId && seen.testId && found.testId === 0
  const lowest = anotherTestId
    ? Math.min(weigh(found), weigh({ ...found, text: undefined }))
    : weigh(found)
  // Judged by the rounded score, so that what the answer shows and what it says cannot disagree.
  const score = fourDecimals(lowest)
  const status = score >= MATCH_FROM ? 'match' : score >= DRIFT_FROM ? 'drift' : 'gone'
  const signals: Comparison['signals'] = {}
  for (const [signal, value] of entriesOf(found)) signals[signal] = fourDecimals(value)
  return { status, score, signals }
}

/**
 * The selector to put in place of a step's own: that of the one candidate that is the baseline's
 * element for all we can see (`match`), that its selector matches alone, and that no candidate with
 * another selector equals. Never a selector that the caller did not send.
 *
 * @param candidates as {@link allowedFingerprint} gives them; the first 20 are looked at
 * @returns `null` when there is no such candidate
 */
export function suggestSelector(
  baseline: Fingerprint,
  candidates: readonly Fingerprint[],
  options: { sameLocale: boolean },
): string | null {
  const scored = candidates.slice(0, MOST_CANDIDATES).map(candidate => {
    const { score, signals } = compareFingerprints(baseline, candidate, options)
    // Its score of 1 for want of anything to compare is no reason to suggest anything.
    const compared = entriesOf(signals).some(([signal]) => SIGNAL_WEIGHTS[signal] > 0)
    return { candidate, score: compared ? score : 0 }
  })
  const top = Math.max(0, ...scored.map(({ score }) => score))
  if (top < MATCH_FROM) return null
  const best = scored.filter(({ score }) => score === top).map(({ candidate }) => candidate)
  const selector = best[0]!.selector
  const alone = best.every(other => other.selector === selector && other.matchCount === 1)
  return alone && selector !== undefined ? selector : null
}

// What is kept

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? cut(value) || undefined : undefined
}

/** HTML does not mind the case of these. Cut last: some letters are longer in lower case. */
function lowerOf(value: unknown): string | undefined {
  return typeof value === 'string' ? stringOf(value.toLowerCase()) : undefined
}

function wordsOf(value: unknown): string | undefined {
  return typeof value === 'string' ? stringOf(fold(value)) : undefined
}

/** A string that means nothing when it is cut. */
function wholeOf(value: unknown): string | undefined {
  const usable = typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_STRING
  return usable ? value : undefined
}

function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

function testIdOf(value: unknown): TestId | undefined {
  if (!isRecord(value)) return undefined
  const attr = lowerOf(value.attr)
  const id = stringOf(value.value)
  return attr && id ? { attr, value: id } : undefined
}

function textHashOf(raw: Readonly<Record<string, unknown>>): string | undefined {
  // A text that is cut would no longer hash to what a page that sends the hash alone says.
  if (typeof raw.text === 'string' && fold(raw.text).length > LONGEST_STRING) {
    return textHash(raw.text)
  }
  const hash = typeof raw.textHash === 'string' ? raw.textHash.toLowerCase() : ''
  return /^[0-9a-f]{64}$/.test(hash) ? hash : undefined
}

function classesOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const classes = new Set(value.slice(0, MOST_CLASSES).map(stringOf))
  return someOf([...classes].filter(name => name !== undefined))
}

function attributesOf(value: unknown): Record<string, string> | undefined {
  if (!isRecord(value)) return undefined
  const kept = new Map<string, string>()
  for (const [key, sent] of Object.entries(value)) {
    if (kept.size === MOST_ATTRIBUTES) break
    const name = key.toLowerCase()
    if (name.length > LONGEST_STRING) continue
    if (!KEPT_ATTRIBUTES.has(name) && !name.startsWith('data-test')) continue
    const text = name === 'href' ? pathOf(sent) : stringOf(sent)
    if (text !== undefined) kept.set(name, text)
  }
  return kept.size > 0 ? Object.fromEntries(kept) : undefined
}

/** The path of a link; a query can hold a token, and `mailto:` and its like hold no path. */
function pathOf(href: unknown): string | undefined {
  if (typeof href !== 'string' || href === '') return undefined
  const url = URL.parse(href, 'https://page.invalid/')
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  // Two leading slashes would be read as a host the next time.
  return wholeOf(url.pathname.replace(/^\/+/, '/'))
}

function ancestorsOf(value: unknown): Ancestor[] | undefined {
  if (!Array.isArray(value)) return undefined
  return someOf(value.slice(0, MOST_ANCESTORS).filter(isRecord).map(ancestorOf))
}

function ancestorOf(raw: Record<string, unknown>): Ancestor {
  return present({
    tag: lowerOf(raw.tag),
    id: stringOf(raw.id),
    role: lowerOf(raw.role),
    testId: testIdOf(raw.testId)?.value ?? stringOf(raw.testId),
    nth: countOf(raw.nth),
  })
}

function rectOf(value: unknown): Fingerprint['rect'] {
  if (!isRecord(value)) return undefined
  const [x, y] = [pixelsOf(value.x), pixelsOf(value.y)]
  const [width, height] = [pixelsOf(value.width), pixelsOf(value.height)]
  if (x === undefined || y === undefined || width === undefined || height === undefined) return
  return width >= 0 && height >= 0 ? { x, y, width, height } : undefined
}

function pixelsOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || !(Math.abs(value) <= FARTHEST_PIXEL)) return undefined
  // JSON has no -0, and a kept fingerprint reads the same from JSON.
  return value + 0
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function someOf<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined
}

/** Without the parts that are undefined, so that a fingerprint reads the same from JSON. */
function present<T extends object>(parts: T): T {
  return Object.fromEntries(Object.entries(parts).filter(([, v]) => v !== undefined)) as T
}

function fold(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

function cut(text: string): string {
  if (text.length <= LONGEST_STRING) return text
  // Never through the middle of a character, nor leaving a space that folding would take.
  const start = text.slice(0, LONGEST_STRING)
  return start.replace(/[\uD800-\uDBFF]$/, '').trimEnd()
}

// How like two parts are: 0 to 1, undefined when neither side has the part

function likeness<T>(
  a: T | undefined,
  b: T | undefined,
  compare: (a: T, b: T) => number,
): number | undefined {
  if (a === undefined && b === undefined) return undefined
  return a === undefined || b === undefined ? 0 : compare(a, b)
}

function equality(a: string | number | undefined, b: typeof a): number | undefined {
  return likeness(a, b, (x, y) => (x === y ? 1 : 0))
}

function testIdLikeness(a: TestId | undefined, b: TestId | undefined): number | undefined {
  return likeness(a, b, (x, y) => (x.attr === y.attr && x.value === y.value ? 1 : 0))
}

function nameOf({ name, ariaLabel }: Fingerprint): string | undefined {
  return name ?? ariaLabel
}

function wordLikeness(a: string | undefined, b: string | undefined): number | undefined {
  return likeness(a, b, bigramDice)
}

function textLikeness(a: Fingerprint, b: Fingerprint): number | undefined {
  if (a.text === undefined && a.textHash === undefined) return equality(undefined, hashOf(b))
  if (hashOf(a) === hashOf(b)) return 1
  // Two hashes that differ say nothing of how much the texts do.
  return a.text !== undefined && b.text !== undefined ? bigramDice(a.text, b.text) : 0
}

function hashOf(print: Fingerprint): string | undefined {
  if (print.textHash !== undefined) return print.textHash
  return print.text === undefined ? undefined : textHash(print.text)
}

/** Dice's coefficient over pairs of neighbouring characters: cheap, and a typo costs little. */
function bigramDice(a: string, b: string): number {
  if (a === b) return 1
  const left = a.toLowerCase()
  const right = b.toLowerCase()
  if (left === right) return 1
  if (left.length < 2 || right.length < 2) return 0
  const unpaired = new Map<string, number>()
  for (let i = 1; i < left.length; i++) {
    const pair = left.slice(i - 1, i + 1)
    unpaired.set(pair, (unpaired.get(pair) ?? 0) + 1)
  }
  let shared = 0
  for (let i = 1; i < right.length; i++) {
    const pair = right.slice(i - 1, i + 1)
    const times = unpaired.get(pair) ?? 0
    if (times === 0) continue
    unpaired.set(pair, times - 1)
    shared++
  }
  return (2 * shared) / (left.length + right.length - 2)
}

/**
 * The best alignment of two rows of ancestors, which may leave ancestors out but not change their
 * order (Needleman and Wunsch, 1970, gaps free): one more wrapper costs little, another page a lot.
 */
function ancestryLikeness(a: Ancestor[], b: Ancestor[]): number {
  let above = new Array<number>(b.length + 1).fill(0)
  for (const mine of a) {
    const row = [0]
    for (const [j, theirs] of b.entries()) {
      const paired = above[j]! + ancestorLikeness(mine, theirs)
      row.push(Math.max(paired, above[j + 1]!, row[j]!))
    }
    above = row
  }
  return (2 * above[b.length]!) / (a.length + b.length)
}

function ancestorLikeness(a: Ancestor, b: Ancestor): number {
  const parts = ['tag', 'id', 'role', 'testId', 'nth'] as const
  return mean(parts.map(part => equality(a[part], b[part]))) ?? 1
}

function attributeSet({ attributes = {} }: Fingerprint, sameLocale: boolean): Set<string> {
  const compared = Object.entries(attributes).filter(
    ([name]) => sameLocale || !WORDED_ATTRIBUTES.has(name),
  )
  return new Set(compared.map(([name, value]) => `${name}=${value}`))
}

function jaccard(a: Set<string>, b: Set<string>): number | undefined {
  const all = a.union(b).size
  return all === 0 ? undefined : a.intersection(b).size / all
}

/** The part of two rectangles' area that both cover. */
function overlap(a: NonNullable<Fingerprint['rect']>, b: typeof a): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  const both = Math.max(0, width) * Math.max(0, height)
  const either = a.width * a.height + b.width * b.height - both
  // Far from the origin a narrow rectangle's sums are rounded, and could overlap more than wholly.
  if (either > 0) return Math.min(1, both / either)
  return a.x === b.x && a.y === b.y ? 1 : 0
}

function mean(values: (number | undefined)[]): number | undefined {
  const known = values.filter(value => value !== undefined)
  if (known.length === 0) return undefined
  return known.reduce((sum, value) => sum + value, 0) / known.length
}

function weigh(signals: Partial<Record<Signal, number>>): number {
  let sum = 0
  let weights = 0
  for (const [signal, value] of entriesOf(signals)) {
    sum += SIGNAL_WEIGHTS[signal] * value
    weights += SIGNAL_WEIGHTS[signal]
  }
  return weights === 0 ? 1 : sum / weights
}

function entriesOf(signals: Partial<Record<Signal, number>>): [Signal, number][] {
  const entries = Object.entries(signals) as [Signal, number | undefined][]
  return entries.filter((entry): entry is [Signal, number] => entry[1] !== undefined)
}
