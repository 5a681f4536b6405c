import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { FlowFingerprint } from './fingerprint.ts'
import { Question } from './question.ts'
import { Locale, textsOf } from './texts/shape.ts'
import { lookFields, Theme } from './theme.ts'
import { Goal, Rollout, Schedule, When } from './timing.ts'
import { address, closed, eventName, key, link, nullable, oneOf, text } from './values.ts'

/** One address rule of the pages that a flow is shown on. */
export const UrlRule = closed({
  match: oneOf(
    {
      exact: 'the address equals the pattern',
      prefix: 'the address starts with the pattern',
      glob: 'the address matches the pattern: * matches anything but a slash, ** matches anything',
      regex: 'the whole path matches the regular expression, of at most 200 characters',
    },
    { description: "How the pattern is compared with the page's URL." },
  ),
  pattern: text(1, 2_048, {
    description: 'A complete URL or a path: https://app.example.com/home or /home.',
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
    description: 'Name of an attribute that your page sends about the person, such as plan.',
  }),
  op: oneOf(
    {
      eq: 'equals the value',
      neq: 'does not equal the value',
      in: 'is one of the values in the list',
      nin: 'is not one of the values in the list',
      gt: 'is greater than the value',
      gte: 'is greater than or equal to the value',
      lt: 'is less than the value',
      lte: 'is less than or equal to the value',
      contains: 'contains the value',
      exists: 'is set, or with "value: false" is not set',
    },
    { description: 'How the attribute is compared with the value.' },
  ),
  value: Type.Union(
    [...scalar, Type.Array(Type.Union([...scalar]), { maxItems: 100 }), Type.Null()],
    {
      default: null,
      description:
        'What the attribute is compared with. A list for "in" and "nin". For "exists", false means ' +
        'that it must not be set.',
    },
  ),
})
export type AudienceRule = Static<typeof AudienceRule>

/** One condition of a step, on exactly one of an attribute, an answer and an event. The other fields are absent. */
export const StepRule = closed({
  attribute: Type.Optional(
    text(1, 100, { description: 'Name of an attribute that your page sends about the person.' }),
  ),
  answer: Type.Optional(
    key('Key of a step with a question: compares its answer in this run, if there is one.'),
  ),
  event: Type.Optional(
    eventName({
      description: 'Name of an event: checks whether the person has tracked it in this browser.',
    }),
  ),
  op: Type.Optional(
    oneOf(
      Object.fromEntries(
        AudienceRule.properties.op.anyOf.map(({ const: word, description }) => [word, description]),
      ) as Record<AudienceRule['op'], string>,
      {
        description: 'How the attribute or answer is compared with the value. Events need none.',
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
        { all: 'every rule must match', any: 'one matching rule is enough' },
        { default: 'all', description: 'Whether all rules must match, or any of them.' },
      ),
      rules: Type.Array(StepRule, {
        minItems: 1,
        maxItems: 20,
        description: 'Conditions on attributes of the person, answers in this run, and events.',
      }),
    },
    {
      description:
        'Shows the step only if this is true when its turn comes. Otherwise the next step follows. ' +
        'Without it, the step is always shown.',
    },
  ),
)

/** Where and to whom a flow is shown: any of the urls (none means everywhere), and the audience. */
export const Targeting = closed(
  {
    urls: Type.Array(UrlRule, {
      maxItems: 50,
      default: [],
      description: 'Pages that show the flow: any of these. An empty list means every page.',
    }),
    audience: closed(
      {
        match: oneOf(
          { all: 'every rule must match', any: 'one matching rule is enough' },
          { default: 'all', description: 'Whether all rules must match, or any of them.' },
        ),
        rules: Type.Array(AudienceRule, {
          maxItems: 50,
          default: [],
          description: "Conditions on the person's attributes. An empty list means everybody.",
        }),
      },
      {
        default: { match: 'all', rules: [] },
        description: 'Who sees the flow. Defaults to everybody.',
      },
    ),
  },
  {
    default: { urls: [], audience: { match: 'all', rules: [] } },
    description: 'Where the flow is shown, and to whom. Defaults to everywhere and everybody.',
  },
)
export type Targeting = Static<typeof Targeting>

/**
 * The element that a step points at, how else it is found, and what happens if the page does not have it.
 * If a step does not set `alternates` or `fingerprint`, they are absent everywhere.
 */
export const Target = closed({
  selector: text(1, 1_000, { description: 'CSS selector of the element.' }),
  text: nullable(text(1, 200), 'Text of the element, if the selector also finds others.'),
  nth: nullable(
    Type.Integer({ minimum: 0 }),
    'Which of several matching elements, counted from 0.',
  ),
  waitMs: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 3_000,
    description: 'How long to wait for the element, in milliseconds.',
  }),
  required: Type.Boolean({
    default: true,
    description: 'Whether the step needs the element. If not, it is shown without it.',
  }),
  onMissing: oneOf(
    {
      skip: 'continue with the next step',
      wait: 'wait until the element is there',
      stop: 'end the flow',
    },
    { default: 'skip', description: 'What happens if the page does not have the element.' },
  ),
  alternates: Type.Optional(
    Type.Array(text(1, 1_000, { description: 'CSS selector.' }), {
      minItems: 1,
      maxItems: 5,
      description:
        'Selectors that are tried in order if the first one finds nothing. Each must find exactly ' +
        'one element. `text` applies to them, `nth` does not.',
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

const startedFlow = (description: string) => Type.Optional(key(description))

/** A button of a step; `href` is for the action "link", `flow` for "start". */
export const Button = closed({
  label: text(1, 100, { description: 'Text of the button.' }),
  action: oneOf(
    {
      next: 'goes to the next step',
      back: 'goes back to the previous step',
      complete: 'ends the flow as completed',
      dismiss: 'ends the flow as dismissed',
      link: 'opens href',
      start: 'ends the flow as completed and starts another flow',
    },
    { description: 'What the button does.' },
  ),
  href: nullable(link, 'Where the action "link" leads: https:, http:, mailto:, tel: or relative.'),
  goto: Type.Optional(
    key('Key of the step that the action "next" leads to. Defaults to the step after this one.'),
  ),
  flow: startedFlow(
    'Key of the flow that the action "start" starts, whatever its own rules say, if it is published.',
  ),
})
export type Button = Static<typeof Button>

/** The page that a step is for. Absent everywhere if a step does not set it. */
export const StepPage = Type.Optional(
  closed(UrlRule.properties, {
    description:
      'The page of the step. On other pages, visitors read that the tour continues there, with a ' +
      'link if the address is exact. Without it, the step is shown on any page of the flow.',
  }),
)

const stepFields = {
  key: key(
    'Your name for the step, unique in the flow. Keep it over versions: its results belong to it.',
  ),
  kind: oneOf(
    {
      tooltip: 'points at an element',
      modal: 'a window in the middle of the page',
      banner: 'a bar across the page',
      hotspot: 'a dot beside an element that opens a card',
      slideout: 'a card in a corner, while the page can be used',
    },
    {
      description:
        'How the step looks. Defaults to a tooltip if the step has a target, otherwise to a modal.',
    },
  ),
  title: text(0, 200, { default: '', description: 'Heading, as plain text.' }),
  body: text(0, 10_000, { default: '', description: 'Text, as Markdown without HTML.' }),
  page: StepPage,
  ...lookFields,
  question: Type.Optional(Question),
  navigate: Type.Optional(
    address(
      "Address of the step's page on your site, such as /settings/people. Next, Back and start() " +
        'lead there. Without `page`, the step is only shown at this address.',
    ),
  ),
  when: StepWhen,
  target: nullable(Target, 'The element that the step points at.'),
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
            'Side of the element on which the step is placed. For a slideout, the edge of the window: top or bottom.',
        },
      ),
      align: oneOf(
        {
          start: "at the element's left or upper edge",
          center: "at the element's middle",
          end: "at the element's right or lower edge",
        },
        {
          default: 'center',
          description: 'Alignment along that side. For a slideout, the corner: start or end.',
        },
      ),
    },
    {
      default: { side: 'bottom', align: 'center' },
      description: 'Where the step is placed, relative to its element.',
    },
  ),
  advance: closed(
    {
      on: oneOf(
        {
          button: 'a button of the step is pressed',
          click: 'the element is clicked',
          event: 'the page tracks the event',
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
    'Your own name for the item, unique in the flow. Keep it over versions: its ticks belong to it.',
  ),
  title: text(1, 200, { description: 'What to do or to open, as plain text.' }),
  description: nullable(text(0, 10_000), 'More about it, as Markdown without HTML.'),
  completeOn: nullable(
    closed({ event: eventName({ description: 'Name of the custom event.' }) }),
    'The custom event that ticks the item. Without it, a click on the item does. Your back end can tick it too.',
  ),
  href: nullable(link, 'Where the item leads: https:, http:, mailto:, tel: or relative.'),
  flow: startedFlow(
    'Key of a flow that the item starts when it is pressed, whatever its own rules say, if it is published.',
  ),
  announcements: Type.Optional(
    Type.Literal(true, {
      description:
        "In a launcher: lists the person's announcements, newest first, and marks those that they have not read.",
    }),
  ),
}

const launcherFields = <Item extends TSchema>(item: Item) => ({
  target: Type.Optional(
    text(1, 1_000, {
      description:
        'CSS selector of your own element that opens it, such as a Help link. Without it, a button in the corner does.',
    }),
  ),
  icon: oneOf(
    { help: 'a question mark', book: 'a book', bulb: 'a light bulb', gift: 'a gift' },
    { default: 'help', description: 'Icon of the button.' },
  ),
  iconOnly: Type.Boolean({
    default: false,
    description: 'Whether the button shows its icon alone. Otherwise the title is beside it.',
  }),
  side: oneOf(
    { start: 'where lines of text begin', end: 'where lines of text end' },
    { default: 'end', description: 'Bottom corner of the page where the button is.' },
  ),
  items: Type.Array(item, {
    maxItems: 20,
    description:
      'What it offers, in order. Each item has exactly one of href, flow and announcements.',
  }),
})

const heading = Type.Optional(
  text(1, 200, { description: 'The heading that visitors read. Defaults to the name.' }),
)

const flowFields = <Step extends TSchema, Item extends TSchema>(step: Step, item: Item) => ({
  key: key('Your own name for the flow. Keep it: its versions and results belong to it.'),
  name: text(1, 200, { description: 'What your team calls it. Defaults to the key.' }),
  title: heading,
  locale: Locale,
  kind: oneOf(
    {
      tour: 'steps in order',
      checklist: 'items to tick, in any order or in sequence',
      announcement: 'news, usually one step',
      launcher: 'a button that opens links, flows and news',
    },
    {
      description:
        'Kind of flow. Without steps it defaults to a launcher or a checklist if it has one, otherwise to a tour.',
    },
  ),
  priority: Type.Integer({
    minimum: -1_000_000,
    maximum: 1_000_000,
    default: 0,
    description: 'If several flows match a page, the one with the highest priority comes first.',
  }),
  frequency: oneOf(
    {
      once: 'one time, whether completed or not',
      until_completed: 'until it is completed',
      always: 'every time',
    },
    {
      description:
        'How often a person sees it. Defaults to always for a launcher, otherwise to once.',
    },
  ),
  targeting: Targeting,
  schedule: Type.Optional(Schedule),
  when: Type.Optional(When),
  rollout: Type.Optional(Rollout),
  goal: Type.Optional(Goal),
  theme: nullable(
    Theme,
    "How the flow looks. Fields that are left out default to the organisation's theme.",
  ),
  steps: Type.Array(step, {
    maxItems: 100,
    default: [],
    description: 'What is shown, in order.',
  }),
  checklist: nullable(
    closed({
      order: oneOf(
        { any: 'in any order', sequence: 'in order' },
        { default: 'any', description: 'Order in which the items can be ticked.' },
      ),
      items: Type.Array(item, { maxItems: 100, description: 'What to do.' }),
    }),
    'Items to tick. The last tick completes the flow.',
  ),
  launcher: Type.Optional(
    closed(launcherFields(item), {
      description:
        'A button that opens a resource centre, under the title. Only for kind launcher.',
    }),
  ),
  texts: textsOf(closed({ title: heading }), closed(stepFields), closed(itemFields)),
})

export const flowKinds = ['tour', 'checklist', 'announcement', 'launcher'] as const

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

const { key: ownKey, name, ...otherFields } = flowFields(StepDefinition, ItemDefinition)

/**
 * A flow as its author writes it, with every default filled in. Defaults that depend on nothing else are in
 * the schema; the others are in `derivedDefaults`. If `title` is not set, it is absent everywhere. Files have
 * the fields in this order: after the steps, nobody would find those of authors.
 */
export const FlowDefinition = closed({ key: ownKey, name, ...authorFields, ...otherFields })
/** What pages get has an id, so that it cannot be passed for a definition. */
export type FlowDefinition = Static<typeof FlowDefinition> & { id?: never }

/** Defaults of fields that depend on neighbouring fields, which have been read and filled before. */
export const derivedDefaults = {
  flow: {
    name: (flow: Pick<FlowDefinition, 'key'>): string => flow.key,
    kind: (
      flow: Pick<FlowDefinition, 'steps' | 'checklist' | 'launcher'>,
    ): FlowDefinition['kind'] => {
      // While a file is read, each may be of any shape.
      if (flow.steps?.length !== 0) return 'tour'
      return flow.launcher ? 'launcher' : flow.checklist !== null ? 'checklist' : 'tour'
    },
    frequency: ({
      kind,
      launcher,
    }: Pick<FlowDefinition, 'kind' | 'launcher'>): FlowDefinition['frequency'] =>
      kind === 'launcher' || launcher ? 'always' : 'once',
  },
  step: {
    kind: (step: Pick<StepDefinition, 'target'>): StepDefinition['kind'] =>
      step.target === null ? 'modal' : 'tooltip',
  },
}

const owned = {
  id: Type.String({ description: 'Set by the server. Stays the same over versions.' }),
  position: Type.Integer({ minimum: 0, description: 'Position, counted from 0.' }),
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
    version: Type.Integer({
      minimum: 1,
      description: 'Grows by one each time the flow is published.',
    }),
    publishedAt: Type.String({ description: 'When the version was published, RFC 3339 in UTC.' }),
    ...flowFields(Step, Item),
  },
  { title: 'Flow' },
)
export type Flow = Static<typeof Flow>
