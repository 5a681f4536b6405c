import { Type } from '@sinclair/typebox'

/** How much of a fingerprint is kept. */
export const fingerprintBounds = {
  longestString: 512,
  mostClasses: 50,
  mostAttributes: 30,
  mostAncestors: 10,
  /** Beyond any real page; keeps the arithmetic on rectangles finite. */
  farthestPixel: 10_000_000,
} as const

const { longestString, mostClasses, mostAttributes, mostAncestors, farthestPixel } =
  fingerprintBounds

/** An input's `value` is never among them, because Cairn must not learn what people type. */
export const keptAttributes: ReadonlySet<string> = new Set([
  'name',
  'type',
  'for',
  'href',
  'placeholder',
  'title',
])

const text = (description: string, ...examples: string[]) =>
  Type.Optional(
    Type.String({
      maxLength: longestString,
      description,
      ...(examples.length > 0 && { examples }),
    }),
  )

const place = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }))

/** The attribute that tests find an element by (`data-testid` and similar). */
export const TestId = Type.Object({
  attr: Type.String({ maxLength: longestString, description: "The attribute's name." }),
  value: Type.String({ maxLength: longestString, description: 'Its value.' }),
})

/** An element around the target. */
export const Ancestor = Type.Object({
  tag: text('Its tag.'),
  id: text('Its id.'),
  role: text('Its role.'),
  testId: text('The value of its test id.'),
  nth: place('Its place among its siblings, from 0.'),
})

const pixels = { minimum: -farthestPixel, maximum: farthestPixel }
const extent = { minimum: 0, maximum: farthestPixel }

const Rect = Type.Object(
  {
    x: Type.Number(pixels),
    y: Type.Number(pixels),
    width: Type.Number(extent),
    height: Type.Number(extent),
  },
  { description: 'Where it is on the page, in CSS pixels; reported, never judged by.' },
)

/** What a page reports about the element that a step points at: the parts that `allowedFingerprint` keeps. */
export const Fingerprint = Type.Object(
  {
    selector: text(
      'A CSS selector that finds it. Not cut: a longer one is dropped.',
      '#new-project',
    ),
    matchCount: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'How many elements the selector matched; 0 where absent.',
      examples: [1],
    }),
    tag: text('Its tag.', 'button'),
    id: text('Its id.', 'new-project'),
    testId: Type.Optional(TestId),
    name: text('Its accessible name.', 'New project'),
    role: text('Its role.', 'button'),
    ariaLabel: text('Its `aria-label`.'),
    text: text('Its text.', 'New project'),
    textHash: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          'In place of the text: the SHA-256 of it, trimmed and with white space folded, in hex.',
      }),
    ),
    classes: Type.Optional(
      Type.Array(Type.String({ maxLength: longestString }), { maxItems: mostClasses }),
    ),
    attributes: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: longestString }), {
        maxProperties: mostAttributes,
        description:
          `Kept are ${[...keptAttributes].map(name => `\`${name}\``).join(', ')} and those that ` +
          'begin with `data-test`; of a link its path.',
        examples: [{ type: 'button' }],
      }),
    ),
    ancestors: Type.Optional(
      Type.Array(Ancestor, {
        maxItems: mostAncestors,
        description: 'The elements around it, its parent first.',
        examples: [[{ tag: 'header' }]],
      }),
    ),
    nthOfType: place('Its place among its siblings of the same tag.'),
    rect: Type.Optional(Rect),
  },
  {
    title: 'Fingerprint',
    description:
      'What a page tells of an element. Only what is named here is kept; parts of another type are ' +
      'dropped, and longer texts are cut, so that one odd part does not cost the whole.',
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
