import {
  type Static,
  type TLiteral,
  type TProperties,
  type TSchema,
  type TUnion,
  Type,
} from '@sinclair/typebox'

/** A schema of exactly these strings; every list of words in a flow is one. */
type OneOf<Words extends readonly string[]> = TUnion<{
  -readonly [Index in keyof Words]: TLiteral<Words[Index]>
}>

const oneOf = <const Words extends readonly string[]>(words: Words, options = {}) =>
  Type.Union(
    words.map(word => Type.Literal(word)),
    options,
  ) as unknown as OneOf<Words>

const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], { default: null })

const closed = <Fields extends TProperties>(fields: Fields, options = {}) =>
  Type.Object(fields, { additionalProperties: false, ...options })

// Without the u flag, which schema validators do not set: hence code units, not code points.
const wellFormed =
  '^(?![\\s\\S]*(?:\\u0000|[\\uD800-\\uDBFF](?![\\uDC00-\\uDFFF])' +
  '|(?<![\\uD800-\\uDBFF])[\\uDC00-\\uDFFF]))'

/**
 * Text that every store and every JSON parser gives back as it was: no NUL, no half of a surrogate
 * pair. Lengths count UTF-16 units, as the schema library and the browser do.
 */
const text = (minLength: number, maxLength: number, options = {}) =>
  Type.String({
    minLength,
    maxLength,
    pattern: wellFormed,
    description: 'well-formed Unicode text without NUL',
    ...options,
  })

/** The author's own name for a flow, a step or an item; it stays the same over versions. */
export const Key = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9._-]+$',
  description: 'letters, digits, ".", "_" and "-"',
})

const eventName = text(1, 64)

/** Schemes that a browser follows without running what stands behind them. */
const linkSchemes = ['http', 'https', 'mailto', 'tel']

/** A pattern has no flag for it. */
const inAnyCase = (word: string) => word.replace(/[a-z]/g, a => `[${a.toUpperCase()}${a}]`)

/**
 * Where a button or an item leads. A colon before the first slash ends a scheme (RFC 3986, 4.2),
 * and only the harmless ones are taken. Browsers drop leading spaces, and tabs and line breaks
 * anywhere, before they look for the scheme: so a link may have none of these.
 */
const link = text(1, 2_048, {
  pattern:
    `${wellFormed}(?![\\s\\S]*[\\u0000-\\u001F\\u007F])(?!\\s)` +
    `(?:(?:${linkSchemes.map(inAnyCase).join('|')}):|(?![^/?#]*:))`,
  description:
    'a link that begins with http:, https:, mailto: or tel:, or a relative one such as /help, ' +
    'without a space before it or control characters in it',
})

/** One address a flow is shown on. */
export const UrlRule = closed({
  match: oneOf(['exact', 'prefix', 'glob']),
  pattern: text(1, 2_048),
})
export type UrlRule = Static<typeof UrlRule>

const scalar = [text(0, 1_000), Type.Number(), Type.Boolean()] as const

/** One condition on a person's attributes. `value` is null where the operator needs none. */
export const AudienceRule = closed({
  attribute: text(1, 100),
  op: oneOf(['eq', 'neq', 'in', 'nin', 'gt', 'gte', 'lt', 'lte', 'contains', 'exists']),
  value: Type.Union(
    [...scalar, Type.Array(Type.Union([...scalar]), { maxItems: 100 }), Type.Null()],
    {
      default: null,
    },
  ),
})
export type AudienceRule = Static<typeof AudienceRule>

/** Where and to whom a flow is shown: any of the urls (none means everywhere), and the audience. */
export const Targeting = closed(
  {
    urls: Type.Array(UrlRule, { maxItems: 50, default: [] }),
    audience: closed(
      {
        match: oneOf(['all', 'any'], { default: 'all' }),
        rules: Type.Array(AudienceRule, { maxItems: 50, default: [] }),
      },
      { default: { match: 'all', rules: [] } },
    ),
  },
  { default: { urls: [], audience: { match: 'all', rules: [] } } },
)
export type Targeting = Static<typeof Targeting>

/** Letters, digits and one level of brackets: a colour can then never end the rule it is put in. */
const colour = nullable(
  Type.String({
    maxLength: 64,
    pattern: '^(?:#[0-9A-Fa-f]{3,8}|[A-Za-z]+|[A-Za-z-]+\\([A-Za-z0-9 .,%/+_-]*\\))$',
    description: 'a CSS colour such as #1f6feb or rgb(31 111 235)',
  }),
)

/** Colours and corner radius (CSS pixels); what is null is the snippet's own. */
export const Theme = closed({
  accent: colour,
  background: colour,
  text: colour,
  radius: nullable(Type.Integer({ minimum: 0, maximum: 64 })),
})
export type Theme = Static<typeof Theme>

/** The element a step points at, and what happens when the page does not have it. */
export const Target = closed({
  selector: text(1, 1_000),
  text: nullable(text(1, 200)),
  nth: nullable(Type.Integer({ minimum: 0 })),
  waitMs: Type.Integer({ minimum: 0, maximum: 60_000, default: 3_000 }),
  required: Type.Boolean({ default: true }),
  onMissing: oneOf(['skip', 'wait', 'stop'], { default: 'skip' }),
})
export type Target = Static<typeof Target>

/** A button of a step; `href` is for the action "link". */
export const Button = closed({
  label: text(1, 100),
  action: oneOf(['next', 'back', 'complete', 'dismiss', 'link']),
  href: nullable(link),
})
export type Button = Static<typeof Button>

const stepFields = {
  key: Key,
  kind: oneOf(['tooltip', 'modal', 'banner', 'hotspot']),
  title: text(0, 200, { default: '' }),
  body: text(0, 10_000, { default: '' }),
  target: nullable(Target),
  placement: closed(
    {
      side: oneOf(['top', 'right', 'bottom', 'left'], { default: 'bottom' }),
      align: oneOf(['start', 'center', 'end'], { default: 'center' }),
    },
    { default: { side: 'bottom', align: 'center' } },
  ),
  advance: closed(
    {
      on: oneOf(['button', 'click', 'event'], { default: 'button' }),
      event: nullable(eventName),
    },
    { default: { on: 'button', event: null } },
  ),
  buttons: Type.Array(Button, { maxItems: 5, default: [] }),
}

const itemFields = {
  key: Key,
  title: text(1, 200),
  description: nullable(text(0, 10_000)),
  completeOn: nullable(closed({ event: eventName })),
  href: nullable(link),
}

const flowFields = <Step extends TSchema, Item extends TSchema>(step: Step, item: Item) => ({
  key: Key,
  name: text(1, 200),
  kind: oneOf(['tour', 'checklist', 'announcement']),
  priority: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, default: 0 }),
  frequency: oneOf(['once', 'until_completed', 'always'], { default: 'once' }),
  targeting: Targeting,
  theme: nullable(Theme),
  steps: Type.Array(step, { maxItems: 100, default: [] }),
  checklist: nullable(
    closed({
      order: oneOf(['any', 'sequence'], { default: 'any' }),
      items: Type.Array(item, { maxItems: 100 }),
    }),
  ),
})

/** A step as its author writes it, every default filled in. `body` is Markdown. */
export const StepDefinition = closed(stepFields)
export type StepDefinition = Static<typeof StepDefinition>

/** A checklist's item as its author writes it, every default filled in. */
export const ItemDefinition = closed(itemFields)
export type ItemDefinition = Static<typeof ItemDefinition>

/**
 * A flow as its author writes it, every default filled in. Defaults that depend on nothing else are
 * in the schema; `derivedDefaults` has the others.
 */
export const FlowDefinition = closed(flowFields(StepDefinition, ItemDefinition))
export type FlowDefinition = Static<typeof FlowDefinition>

/** Fields whose absence is filled from their neighbours, which have been read and filled before. */
export const derivedDefaults = {
  flow: {
    name: (flow: Pick<FlowDefinition, 'key'>): string => flow.key,
    kind: (flow: Pick<FlowDefinition, 'steps' | 'checklist'>): FlowDefinition['kind'] =>
      flow.checklist !== null && flow.steps.length === 0 ? 'checklist' : 'tour',
  },
  step: {
    kind: (step: Pick<StepDefinition, 'target'>): StepDefinition['kind'] =>
      step.target === null ? 'modal' : 'tooltip',
  },
}

const owned = {
  id: Type.String({ description: 'given by the server, the same over versions' }),
  position: Type.Integer({ minimum: 0, description: 'counted from 0' }),
}

/** A step as the API answers it. */
export const Step = closed({ ...owned, ...stepFields }, { title: 'Step' })
export type Step = Static<typeof Step>

/** A checklist's item as the API answers it. */
export const Item = closed({ ...owned, ...itemFields }, { title: 'Item' })
export type Item = Static<typeof Item>

/** A published flow as the API answers it. */
export const Flow = closed(
  {
    id: owned.id,
    version: Type.Integer({ minimum: 1, description: 'grows by one with every publishing' }),
    publishedAt: Type.String({ description: 'RFC 3339, UTC' }),
    ...flowFields(Step, Item),
  },
  { title: 'Flow' },
)
export type Flow = Static<typeof Flow>
