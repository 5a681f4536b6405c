import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { FlowFingerprint } from './fingerprint.ts'
import { lookFields } from './look-fields.ts'
import { Question } from './question.ts'
import { Locale, textsOf } from './texts/shape.ts'
import { Theme } from './theme.ts'
import { Goal, Rollout, Schedule, When } from './timing.ts'
import { address, closed, eventName, key, link, nullable, oneOf, text } from './values.ts'

/** One address rule of the pages that a flow is shown on. */
export const UrlRule = closed({
  match: oneOf(
    {
      exact: 'the address is the pattern',
      prefix: 'the address begins with the pattern',
      glob: 'the address fits the pattern: * stands for any run without a slash, ** for anything',
    },
    { description: 'How the pattern is compared with the address of the page.' },
  ),
  pattern: text(1, 2_048, {
    description: 'A whole address, or from its path on: https://app.example.com/home or /home.',
  }),
})
export type UrlRule = Static<typeof UrlRule>

const scalar = [text(0, 1_000), Type.Number(), Type.Boolean()] as const

/**
 * One condition on a person's attributes. `value` is null if the operator needs none; `exists` takes false
 * for "must not be there".
 */
export const AudienceRule = closed({
  attribute: text(1, 100, {
    description: 'Name of an attribute that your page tells of the person, such as plan.',
  }),
  op: oneOf(
    {
      eq: 'equals the value',
      neq: 'does not equal the value',
      in: 'is one of the values in the list',
      nin: 'is none of the values in the list',
      gt: 'is greater than the value',
      gte: 'is the value or greater',
      lt: 'is less than the value',
      lte: 'is the value or less',
      contains: 'contains the value',
      exists: 'is there at all, or with "value: false" is not there; needs no value otherwise',
    },
    { description: 'How the attribute is compared with the value.' },
  ),
  value: Type.Union(
    [...scalar, Type.Array(Type.Union([...scalar]), { maxItems: 100 }), Type.Null()],
    {
      default: null,
      description:
        'What the attribute is compared with; a list for "in" and "nin"; for "exists", false means ' +
        'that it must not be there.',
    },
  ),
})
export type AudienceRule = Static<typeof AudienceRule>

/** One condition of a step, on exactly one of an attribute, an answer and an event. The other fields are absent. */
export const StepRule = closed({
  attribute: Type.Optional(
    text(1, 100, { description: 'Name of an attribute that your page tells of the person.' }),
  ),
  answer: Type.Optional(
    key('Key of a step that asks a question: what was answered in this run, if anything was.'),
  ),
  event: Type.Optional(
    eventName({
      description: 'Name of an event: whether the person has tracked it in this browser.',
    }),
  ),
  op: Type.Optional(
    oneOf(
      Object.fromEntries(
        AudienceRule.properties.op.anyOf.map(({ const: word, description }) => [word, description]),
      ) as Record<AudienceRule['op'], string>,
      {
        description: 'How the attribute or answer is compared with the value; no event needs one.',
      },
    ),
  ),
  value: AudienceRule.properties.value,
})
export type StepRule = Static<typeof StepRule>

/** What has to hold for a step to be shown. Absent everywhere if a step does not set it. */
export const StepWhen = Type.Optional(
  closed(
    {
      match: oneOf(
        { all: 'every rule has to hold', any: 'one rule is enough' },
        { default: 'all', description: 'Whether all of the rules have to hold, or any.' },
      ),
      rules: Type.Array(StepRule, {
        minItems: 1,
        maxItems: 20,
        description: 'Conditions on attributes of the person, answers of this run, and events.',
      }),
    },
    {
      description:
        'Leaves the step out where this does not hold when its turn comes: then the next one ' +
        'follows. Without it, the step is always on the way.',
    },
  ),
)

/** Where and to whom a flow is shown: any of the urls (none means everywhere), and the audience. */
export const Targeting = closed(
  {
    urls: Type.Array(UrlRule, {
      maxItems: 50,
      default: [],
      description: 'Pages that show the flow: any of these; none means every page.',
    }),
    audience: closed(
      {
        match: oneOf(
          { all: 'every rule has to hold', any: 'one rule is enough' },
          { default: 'all', description: 'Whether all of the rules have to hold, or any.' },
        ),
        rules: Type.Array(AudienceRule, {
          maxItems: 50,
          default: [],
          description: "Conditions on the person's attributes; none means everybody.",
        }),
      },
      {
        default: { match: 'all', rules: [] },
        description: 'Who sees the flow: everybody, unless there are rules.',
      },
    ),
  },
  {
    default: { urls: [], audience: { match: 'all', rules: [] } },
    description: 'Where and to whom the flow is shown: everywhere and to all, unless set here.',
  },
)
export type Targeting = Static<typeof Targeting>

/**
 * The element that a step points at, how else it is found, and what happens if the page does not have it.
 * If a step does not set `alternates` or `fingerprint`, they are absent everywhere.
 */
export const Target = closed({
  selector: text(1, 1_000, { description: 'CSS selector of the element.' }),
  text: nullable(text(1, 200), 'Text that the element has, to tell it from others.'),
  nth: nullable(
    Type.Integer({ minimum: 0 }),
    'Which of several elements that match, counted from 0.',
  ),
  waitMs: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 3_000,
    description: 'How long the element is waited for, in milliseconds.',
  }),
  required: Type.Boolean({
    default: true,
    description: 'Whether the step needs the element; else it is shown without it.',
  }),
  onMissing: oneOf(
    {
      skip: 'go on with the next step',
      wait: 'wait until the element is there',
      stop: 'end the flow',
    },
    { default: 'skip', description: 'What happens where the page does not have the element.' },
  ),
  alternates: Type.Optional(
    Type.Array(text(1, 1_000, { description: 'CSS selector.' }), {
      minItems: 1,
      maxItems: 5,
      description:
        'Selectors that are tried in their order where the first one has found nothing. Each has ' +
        'to find one element alone: text counts for it, nth does not.',
    }),
  ),
  fingerprint: Type.Optional(FlowFingerprint),
})
export type Target = Static<typeof Target>

/**
 * The part of a target that says which element is meant, without what else helps to find it. Baselines
 * belong to this part.
 */
export function meantBy<T extends Target>({ alternates, fingerprint, ...meant }: T) {
  return meant
}

/** A button of a step; `href` is for the action "link". */
export const Button = closed({
  label: text(1, 100, { description: 'What the button says.' }),
  action: oneOf(
    {
      next: 'goes on to the next step',
      back: 'goes back to the step before',
      complete: 'ends the flow as completed',
      dismiss: 'ends the flow as dismissed',
      link: 'follows href',
    },
    { description: 'What the button does.' },
  ),
  href: nullable(link, 'Where the action "link" leads: https:, http:, mailto:, tel: or relative.'),
  goto: Type.Optional(
    key(
      'Key of the step that the action "next" leads to; without it, the one after this. Releases ' +
        'without this field go on with that one.',
    ),
  ),
})
export type Button = Static<typeof Button>

/** The page that a step is for. Absent everywhere if a step does not set it. */
export const StepPage = Type.Optional(
  closed(UrlRule.properties, {
    description:
      'The page that the step is for. On another one the visitor is told that the tour goes on ' +
      'there, with a link where the address is known (match: exact); without it, the step is for ' +
      'any page that shows the flow.',
  }),
)

const stepFields = {
  key: key(
    'Your own name for the step, unique in the flow. Its funnel hangs from it: keep it over versions.',
  ),
  kind: oneOf(
    {
      tooltip: 'points at an element',
      modal: 'a window in the middle of the page',
      banner: 'a bar across the page',
      hotspot: 'a dot beside an element, which opens',
      slideout: 'a card in a corner, which leaves the page to be used',
    },
    {
      description:
        'How the step looks; where left out, a tooltip if the step has a target, else a modal.',
    },
  ),
  title: text(0, 200, { default: '', description: 'Heading, as plain text.' }),
  body: text(0, 10_000, { default: '', description: 'Text, as Markdown without HTML.' }),
  page: StepPage,
  ...lookFields,
  question: Type.Optional(Question),
  navigate: Type.Optional(
    address(
      "Address of the step's page on your site, such as /settings/people: Next, Back and start() " +
        'lead there. Without page, the step is for this address alone.',
    ),
  ),
  when: StepWhen,
  target: nullable(Target, 'The element that the step points at, and what happens without it.'),
  placement: closed(
    {
      side: oneOf(
        {
          top: 'above the element',
          right: 'right of the element',
          bottom: 'below the element',
          left: 'left of the element',
        },
        {
          default: 'bottom',
          description:
            'On which side of the element the step stands; of a slideout, at which edge (top, else bottom).',
        },
      ),
      align: oneOf(
        {
          start: "in line with the element's left or upper edge",
          center: "in line with the element's middle",
          end: "in line with the element's right or lower edge",
        },
        {
          default: 'center',
          description:
            'How the step lines up along that side; of a slideout, in which corner (start, else end).',
        },
      ),
    },
    {
      default: { side: 'bottom', align: 'center' },
      description: 'Where the step stands, seen from its element.',
    },
  ),
  advance: closed(
    {
      on: oneOf(
        {
          button: 'a button of the step is pressed',
          click: 'the element is clicked',
          event: 'the page reports the event',
        },
        { default: 'button', description: 'What leads to the next step.' },
      ),
      event: nullable(eventName(), 'Name of the event, for "on: event".'),
    },
    { default: { on: 'button', event: null }, description: 'What leads to the next step.' },
  ),
  buttons: Type.Array(Button, {
    maxItems: 5,
    default: [],
    description: 'Buttons below the text, from left to right.',
  }),
}

const itemFields = {
  key: key(
    'Your own name for the item, unique in the flow. Ticks hang from it: keep it over versions.',
  ),
  title: text(1, 200, { description: 'What is to be done, as plain text.' }),
  description: nullable(text(0, 10_000), 'More about it, as Markdown without HTML.'),
  completeOn: nullable(
    closed({ event: eventName({ description: 'Name of the custom event.' }) }),
    'The custom event that ticks the item; without it, a click on the item does. Your back end can too.',
  ),
  href: nullable(link, 'Where the item leads: https:, http:, mailto:, tel: or relative.'),
}

const heading = Type.Optional(
  text(1, 200, { description: 'The heading that visitors read. Without one, the name.' }),
)

const flowFields = <Step extends TSchema, Item extends TSchema>(step: Step, item: Item) => ({
  key: key(
    'Your own name for the flow. Its versions and numbers hang from it: keep it over versions.',
  ),
  name: text(1, 200, { description: 'What your team calls it. Without one, its key.' }),
  title: heading,
  locale: Locale,
  kind: oneOf(
    {
      tour: 'steps, one after another',
      checklist: 'items to tick, in any order or in sequence',
      announcement: 'news, usually one step',
    },
    {
      description:
        'What the flow is; where left out, a checklist if it has one and no steps, else a tour.',
    },
  ),
  priority: Type.Integer({
    minimum: -1_000_000,
    maximum: 1_000_000,
    default: 0,
    description: 'Of several flows for one page, the one with the highest priority comes first.',
  }),
  frequency: oneOf(
    {
      once: 'one time, whatever became of it',
      until_completed: 'again and again until it is completed',
      always: 'every time',
    },
    { default: 'once', description: 'How often a person sees it.' },
  ),
  targeting: Targeting,
  schedule: Type.Optional(Schedule),
  when: Type.Optional(When),
  rollout: Type.Optional(Rollout),
  goal: Type.Optional(Goal),
  theme: nullable(
    Theme,
    "How the flow looks; what is left out is the organisation's theme, else the snippet's own.",
  ),
  steps: Type.Array(step, {
    maxItems: 100,
    default: [],
    description: 'What is shown, one after another.',
  }),
  checklist: nullable(
    closed({
      order: oneOf(
        { any: 'in whatever order', sequence: 'one after another' },
        { default: 'any', description: 'In which order the items can be done.' },
      ),
      items: Type.Array(item, { maxItems: 100, description: 'What there is to do.' }),
    }),
    'Items to tick; the last tick completes the flow.',
  ),
  texts: textsOf(closed({ title: heading }), closed(stepFields), closed(itemFields)),
})

/** The states of a flow: written, shown to visitors, put away. */
export const flowStatuses = ['draft', 'published', 'archived'] as const
export type FlowStatus = (typeof flowStatuses)[number]

/** Where the text of a flow comes from. */
export interface FlowSource {
  repository: string
  commit: string
  /** The path of the file within the repository; null if unknown. */
  path: string | null
}

/** The organisation that a flow was promoted from, in which it was tried. */
export interface PromotedSource {
  /** Its slug. */
  organisation: string
  /** The number of the version there; null for a draft. */
  version: number | null
}

/** Whether a flow comes from another organisation, and not from a repository. */
export const isPromoted = (source: FlowSource | PromotedSource | null): source is PromotedSource =>
  source !== null && 'organisation' in source

/** A step as its author writes it, every default filled in. `body` is Markdown. */
export const StepDefinition = closed(stepFields)
export type StepDefinition = Static<typeof StepDefinition>

/** A checklist's item as its author writes it, every default filled in. */
export const ItemDefinition = closed(itemFields)
export type ItemDefinition = Static<typeof ItemDefinition>

/** Fields of a flow that only its authors read. Drafts and versions have them, pages never get them. */
const authorFields = {}

/**
 * A flow as its author writes it, with every default filled in. Defaults that depend on nothing else are in
 * the schema; the others are in `derivedDefaults`. If `title` is not set, it is absent everywhere.
 */
export const FlowDefinition = closed({
  ...flowFields(StepDefinition, ItemDefinition),
  ...authorFields,
})
/** What pages get has an id, so that it cannot be passed for a definition. */
export type FlowDefinition = Static<typeof FlowDefinition> & { id?: never }

/** Defaults of fields that depend on neighbouring fields, which have been read and filled before. */
export const derivedDefaults = {
  flow: {
    name: (flow: Pick<FlowDefinition, 'key'>): string => flow.key,
    kind: (flow: Pick<FlowDefinition, 'steps' | 'checklist'>): FlowDefinition['kind'] =>
      // While a file is read, either may be of any shape.
      flow.checklist !== null && flow.steps?.length === 0 ? 'checklist' : 'tour',
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

/** A step as pages get it. */
export const Step = closed({ ...owned, ...stepFields }, { title: 'Step' })
export type Step = Static<typeof Step>

/** A checklist's item as pages get it. */
export const Item = closed({ ...owned, ...itemFields }, { title: 'Item' })
export type Item = Static<typeof Item>

/** A published flow as pages get it. */
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
