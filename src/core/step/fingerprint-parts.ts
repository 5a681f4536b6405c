import { folded, hashOfFolded } from '../text/text-hash.ts'
import type { Ancestor, Fingerprint, TestId } from './fingerprint.ts'
import { fingerprintBounds, keptAttributes } from './fingerprint-shape.ts'

const { longestString, mostClasses, mostAttributes, mostAncestors, farthestPixel } =
  fingerprintBounds

/**
 * The parts of a fingerprint that are kept, within their bounds. Everything else is dropped, including
 * parts of a wrong type. Longer strings are cut, except for a selector and an `href`: cut, these would name
 * something else, so they are dropped. Applying this twice changes nothing.
 *
 * @param raw a fingerprint as sent. A `matchCount` that is not a count becomes 0: such a fingerprint is
 *   neither a baseline nor a suggestion
 */
export function allowedFingerprint(raw: Readonly<Record<string, unknown>>): Fingerprint {
  const text = typeof raw.text === 'string' ? folded(raw.text) : undefined
  return present({
    selector: wholeOf(raw.selector),
    matchCount: countOf(raw.matchCount) ?? 0,
    tag: lowerOf(raw.tag),
    id: stringOf(raw.id),
    testId: testIdOf(raw.testId),
    name: wordsOf(raw.name),
    role: lowerOf(raw.role),
    ariaLabel: wordsOf(raw.ariaLabel),
    text: stringOf(text),
    textHash: textHashOf(text, raw.textHash),
    classes: classesOf(raw.classes),
    attributes: attributesOf(raw.attributes),
    ancestors: ancestorsOf(raw.ancestors),
    nthOfType: countOf(raw.nthOfType),
    rect: rectOf(raw.rect),
  })
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? cut(value) || undefined : undefined
}

/** HTML ignores the case of these. Cut last, because some letters are longer in lower case. */
function lowerOf(value: unknown): string | undefined {
  return typeof value === 'string' ? stringOf(value.toLowerCase()) : undefined
}

function wordsOf(value: unknown): string | undefined {
  return typeof value === 'string' ? stringOf(folded(value)) : undefined
}

/** A string that would be meaningless if it were cut. */
function wholeOf(value: unknown): string | undefined {
  const usable = typeof value === 'string' && value.trim() !== '' && value.length <= longestString
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

/** @param text folded */
function textHashOf(text: string | undefined, sent: unknown): string | undefined {
  // The hash of a cut text would differ from the hash that a page sends in place of the text.
  if (text !== undefined && text.length > longestString) return hashOfFolded(text)
  const hash = typeof sent === 'string' ? sent.toLowerCase() : ''
  return /^[0-9a-f]{64}$/.test(hash) ? hash : undefined
}

function classesOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const classes = new Set(value.slice(0, mostClasses).map(stringOf))
  return someOf([...classes].filter(name => name !== undefined))
}

function attributesOf(value: unknown): Record<string, string> | undefined {
  if (!isRecord(value)) return undefined
  const kept = new Map<string, string>()
  for (const [key, sent] of Object.entries(value)) {
    if (kept.size === mostAttributes) break
    const name = key.toLowerCase()
    if (name.length > longestString) continue
    if (!keptAttributes.has(name) && !name.startsWith('data-test')) continue
    const text = name === 'href' ? pathOf(sent) : stringOf(sent)
    if (text !== undefined) kept.set(name, text)
  }
  return kept.size > 0 ? Object.fromEntries(kept) : undefined
}

/** The path of a link. A query may contain a token, and `mailto:` and similar links have no path. */
function pathOf(href: unknown): string | undefined {
  if (typeof href !== 'string' || href === '') return undefined
  const url = URL.parse(href, 'https://page.invalid/')
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  // Two leading slashes would be read as a host when this is parsed again.
  return wholeOf(url.pathname.replace(/^\/+/, '/'))
}

function ancestorsOf(value: unknown): Ancestor[] | undefined {
  if (!Array.isArray(value)) return undefined
  return someOf(value.slice(0, mostAncestors).filter(isRecord).map(ancestorOf))
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
  if (typeof value !== 'number' || !(Math.abs(value) <= farthestPixel)) return undefined
  // JSON has no -0, and a kept fingerprint must be the same after a round trip through JSON.
  return value + 0
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function someOf<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined
}

/** Drops parts that are undefined, so that a fingerprint is the same after a round trip through JSON. */
function present<T extends object>(parts: T): T {
  return Object.fromEntries(Object.entries(parts).filter(([, v]) => v !== undefined)) as T
}

function cut(text: string): string {
  if (text.length <= longestString) return text
  // Never cuts through a character, and leaves no space at the end that folding would remove.
  const start = text.slice(0, longestString)
  return start.replace(/[\uD800-\uDBFF]$/, '').trimEnd()
}
