import { type Static, type TSchema, type TString, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { folded, hashOfFolded } from '../text/text-hash.ts'

const maxLength = 512
const maxAttributes = 30
/** Beyond any real page; keeps the arithmetic on rectangles finite. */
const maxPixel = 10_000_000

/** An input's `value` is never among them, because Cairn must not learn what people type. */
const keptAttributes = ['name', 'type', 'for', 'href', 'placeholder', 'title'] as const

/** A text of a fingerprint, of the length that its holder allows. */
type PartText = (description: string, options?: { examples?: string[] }) => TString

const place = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }))

/**
 * The parts by which an element is recognised, both in what a page reports and in a flow. The two differ in
 * how long each may be.
 */
export function recognisableParts(
  text: PartText,
  bounds: { maxClasses: number; maxAncestors: number },
  options: { additionalProperties?: false },
) {
  const Ancestor = Type.Object(
    {
      tag: Type.Optional(text('Tag.')),
      id: Type.Optional(text('ID.')),
      role: Type.Optional(text('Role.')),
      testId: Type.Optional(text('Value of the test ID.')),
      nth: place('Position among its siblings, from 0.'),
    },
    options,
  )
  const TestId = Type.Object(
    {
      attr: text('Name of the attribute, such as data-test.'),
      value: text('Its value.'),
    },
    { ...options, description: 'The attribute by which tests find the element.' },
  )
  return {
    tag: Type.Optional(text('Tag.', { examples: ['button'] })),
    id: Type.Optional(text('ID.', { examples: ['new-project'] })),
    testId: Type.Optional(TestId),
    role: Type.Optional(text('Role.', { examples: ['button'] })),
    name: Type.Optional(text('Accessible name.', { examples: ['New project'] })),
    classes: Type.Optional(
      Type.Array(text('A class.'), { maxItems: bounds.maxClasses, description: 'Classes.' }),
    ),
    ancestors: Type.Optional(
      Type.Array(Ancestor, {
        maxItems: bounds.maxAncestors,
        description: 'The elements around it, the parent first.',
        examples: [[{ tag: 'header' }]],
      }),
    ),
  }
}

const reported: PartText = (description, options) =>
  Type.String({ maxLength, description, ...options })

const parts = recognisableParts(reported, { maxClasses: 50, maxAncestors: 10 }, {})
const pixels = { minimum: -maxPixel, maximum: maxPixel }
const extent = { minimum: 0, maximum: maxPixel }

/** What a page reports about the element that a step points at: the parts that `allowedFingerprint` keeps. */
export const Fingerprint = Type.Object(
  {
    ...parts,
    selector: Type.Optional(
      reported('A CSS selector that finds it. Dropped if it is longer.', {
        examples: ['#new-project'],
      }),
    ),
    matchCount: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'How many elements the selector matches. Default: 0.',
      examples: [1],
    }),
    ariaLabel: Type.Optional(reported('`aria-label`.')),
    text: Type.Optional(reported('Text.', { examples: ['New project'] })),
    textHash: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          'Instead of the text: the SHA-256 of the trimmed text with white space folded, in hex.',
      }),
    ),
    attributes: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength }), {
        maxProperties: maxAttributes,
        description:
          `Only ${keptAttributes.map(name => `\`${name}\``).join(', ')} and attributes that ` +
          'begin with `data-test` are kept. Of a link, only the path is kept.',
        examples: [{ type: 'button' }],
      }),
    ),
    nthOfType: place('Position among its siblings of the same tag, from 0.'),
    rect: Type.Optional(
      Type.Object(
        {
          x: Type.Number(pixels),
          y: Type.Number(pixels),
          width: Type.Number(extent),
          height: Type.Number(extent),
        },
        { description: 'Position on the page, in CSS pixels. Does not affect the score.' },
      ),
    ),
  },
  {
    title: 'Fingerprint',
    description:
      'What an element is like on a page. Unknown fields and fields of another type are ignored, and ' +
      'long texts are cut.',
    examples: [
      {
        selector: '[data-test=new-project]',
        matchCount: 1,
        tag: 'button',
        testId: { attr: 'data-test', value: 'new-project' },
        role: 'button',
        name: 'New project',
        text: 'New project',
        ancestors: [{ tag: 'header' }],
        rect: { x: 912, y: 24, width: 120, height: 36 },
      },
    ],
  },
)
export type Fingerprint = Static<typeof Fingerprint>
export type TestId = NonNullable<Fingerprint['testId']>
export type Ancestor = NonNullable<Fingerprint['ancestors']>[number]

/**
 * The parts of a fingerprint that are kept, within their bounds. Everything else is dropped, including
 * parts of a wrong type. Longer strings are cut, except for a selector and an `href`: cut, these would name
 * something else, so they are dropped. Applying this twice changes nothing.
 *
 * @param raw a fingerprint as sent. A `matchCount` that is not a count becomes 0: such a fingerprint is
 *   neither a baseline nor a suggestion
 */
export function allowedFingerprint(raw: Readonly<Record<string, unknown>>): Fingerprint {
  const text = typeof raw.text === 'string' ? folded(raw.text) : ''
  const { testId, classes, ancestors } = raw
  return fitted(Fingerprint, {
    ...raw,
    ...{ selector: complete(raw.selector), tag: lower(raw.tag), id: cut(raw.id) },
    ...{ role: lower(raw.role), name: cutFolded(raw.name), ariaLabel: cutFolded(raw.ariaLabel) },
    testId: isRecord(testId) && { attr: lower(testId.attr), value: cut(testId.value) },
    text: cut(text),
    // The hash of a cut text would differ from the hash that a page sends in place of the text.
    textHash: text.length > maxLength ? hashOfFolded(text) : lower(raw.textHash),
    classes: Array.isArray(classes) && classes.map(cut),
    ancestors: Array.isArray(ancestors) && ancestors.map(allowedAncestor),
    attributes: attributesOf(raw.attributes),
    matchCount: fitted(Fingerprint.properties.matchCount, raw.matchCount) ?? 0,
  }) as Fingerprint
}

function allowedAncestor(sent: unknown): object | undefined {
  if (!isRecord(sent)) return undefined
  const { tag, id, role, testId, nth } = sent
  // A page may send the test id with or without its attribute.
  const value = isRecord(testId) ? testId.value : testId
  return { tag: lower(tag), id: cut(id), role: lower(role), testId: cut(value), nth }
}

function cut(sent: unknown): string | undefined {
  if (typeof sent !== 'string') return undefined
  if (sent.length <= maxLength) return sent || undefined
  // Never cuts through a character, and leaves no space at the end that folding would remove.
  const start = sent.slice(0, maxLength)
  return start.replace(/[\uD800-\uDBFF]$/, '').trimEnd() || undefined
}

/** HTML ignores the case of these. Cut last, because some letters are longer in lower case. */
const lower = (sent: unknown) => (typeof sent === 'string' ? cut(sent.toLowerCase()) : undefined)

const cutFolded = (sent: unknown) => (typeof sent === 'string' ? cut(folded(sent)) : undefined)

/** A text that would mean something else if it were cut. */
function complete(sent: unknown): string | undefined {
  const isKept = typeof sent === 'string' && sent.trim() !== '' && sent.length <= maxLength
  return isKept ? sent : undefined
}

/**
 * As much of a value as fits a schema, so that one odd part does not cost the others; undefined if nothing
 * does. A list keeps its entries that fit, and a mapping its fields, unless a required one is missing.
 */
export function fitted(schema: TSchema, value: unknown): unknown {
  if (schema.type === 'array') return Array.isArray(value) ? fittedList(schema, value) : undefined
  if (schema.properties) return isRecord(value) ? fittedFields(schema, value) : undefined
  if (!Value.Check(schema, value)) return undefined
  // JSON has no -0, and a kept fingerprint must be the same after a round trip through JSON.
  return typeof value === 'number' ? value + 0 : value
}

function fittedList(schema: TSchema, list: unknown[]): unknown[] | undefined {
  const entries = list.map(entry => fitted(schema.items, entry))
  const some = new Set(entries.filter(entry => entry !== undefined))
  return some.size > 0 ? [...some].slice(0, schema.maxItems) : undefined
}

function fittedFields(schema: TSchema, value: Record<string, unknown>): object | undefined {
  const fields = new Map<string, unknown>()
  for (const [name, ofField] of Object.entries<TSchema>(schema.properties)) {
    const part = fitted(ofField, value[name])
    const isEmpty = isRecord(part) && Object.keys(part).length === 0
    if (part !== undefined && !isEmpty) fields.set(name, part)
  }
  const required: string[] = schema.required ?? []
  return required.every(name => fields.has(name)) ? Object.fromEntries(fields) : undefined
}

function attributesOf(sent: unknown): Record<string, string> | undefined {
  if (!isRecord(sent)) return undefined
  const kept = new Map<string, string>()
  for (const [key, value] of Object.entries(sent)) {
    if (kept.size === maxAttributes) break
    const name = key.toLowerCase()
    if (name.length > maxLength) continue
    const isKept = (keptAttributes as readonly string[]).includes(name)
    if (!isKept && !name.startsWith('data-test')) continue
    const text = name === 'href' ? pathOf(value) : cut(value)
    if (text !== undefined) kept.set(name, text)
  }
  return Object.fromEntries(kept)
}

/** The path of a link. A query may contain a token, and `mailto:` and similar links have no path. */
function pathOf(href: unknown): string | undefined {
  if (typeof href !== 'string' || href === '') return undefined
  const url = URL.parse(href, 'https://page.invalid/')
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  // Two leading slashes would be read as a host when this is parsed again.
  return complete(url.pathname.replace(/^\/+/, '/'))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
