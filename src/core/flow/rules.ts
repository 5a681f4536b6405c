import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { typeOf } from '../shape-problems.ts'
import { quoted, shown } from '../text/wording.ts'
import { branchOf } from './authoring.ts'
import {
  AudienceRule,
  FlowDefinition,
  ItemDefinition,
  StepDefinition,
  StepPage,
  StepRule,
  Targeting,
  UrlRule,
} from './flow.ts'
import { markdownProblems } from './markdown-rules.ts'
import { pathProblems, stepRuleProblems } from './path-rules.ts'
import { error, type FlowProblem, warning } from './problem.ts'
import { questionProblems } from './question.ts'
import { shownAs } from './shown-as.ts'
import { eventProblems, stepProblems } from './step-rules.ts'
import {
  audienceRuleProblems,
  neverBegins,
  pageProblems,
  targetingProblems,
  urlProblems,
} from './targeting-rules.ts'
import { localeProblems, textsProblems } from './texts/rules.ts'
import { Theme } from './theme.ts'
import { themeProblems } from './theme-rules.ts'
import type { Schedule } from './timing.ts'
import {
  goalProblems,
  rolloutProblems,
  scheduleProblems,
  timingProblems,
  whenProblems,
  zoneProblems,
} from './timing-rules.ts'

/**
 * Problems with the meaning of a flow, beyond the shape that its schema checks. Pure, and bounded by the
 * flow's size.
 */
export function flowProblems(flow: FlowDefinition): FlowProblem[] {
  return [...partsOf(FlowDefinition, flow)].flatMap(part => problemsOf(part))
}

/** Problems of a part, with their paths from where its own path begins. */
export const problemsOf = ({ schema, value, path }: FlowPart, wrong?: ReadonlySet<string>) =>
  partProblems(schema, value, wrong).map(problem => ({ ...problem, path: path + problem.path }))

/** A part of a flow that has a schema of its own. */
export interface FlowPart {
  schema: TSchema
  value: unknown
  /** JSON pointer within whatever contains it. */
  path: string
}

// `Type.Optional` makes another schema, so only here are these the ones that `partsOf` walks along.
const { properties: inFlow } = FlowDefinition
const { properties: inStep } = StepDefinition

/** Every mapping in a value, with its schema; also where some of it does not fit. */
export function* partsOf(schema: TSchema, value: unknown, path = ''): Iterable<FlowPart> {
  const branch = branchOf(schema, typeOf(value))
  if (Array.isArray(value)) {
    if (branch.type !== 'array' || value.length > (branch.maxItems ?? Infinity)) return
    for (const [index, one] of value.entries())
      yield* partsOf(branch.items, one, `${path}/${index}`)
  } else if (branch.properties && typeof value === 'object' && value !== null) {
    yield { schema: branch, value, path }
    for (const [name, property] of Object.entries<TSchema>(branch.properties)) {
      const field = Object.hasOwn(value, name) ? value[name as keyof typeof value] : undefined
      if (field !== undefined) yield* partsOf(property, field, `${path}/${name}`)
    }
  }
}

type Rule<Part> = (part: Part) => Iterable<FlowProblem>

/** A rule that looks at these fields only, so that others may be wrong. Without fields, at the whole part. */
interface PartRule {
  fields?: readonly string[]
  problems: Rule<never>
}

const rulesFor =
  <Part>() =>
  <Name extends string & keyof Part>(fields: Name[], ...rules: Rule<Pick<Part, Name>>[]) =>
    rules.map((problems): PartRule => ({ fields, problems }))

const flowRules = rulesFor<FlowDefinition>()
const scheduleRules = rulesFor<Schedule>()

const whole = (problems: Rule<never>): PartRule[] => [{ problems }]

/** The rules for parts that can be judged without what they are in. */
const partRules = new Map<TSchema, readonly PartRule[]>([
  [
    FlowDefinition,
    [
      // A flow that is barely begun has enough to be told.
      ...whole(emptiness),
      ...flowRules(['kind', 'steps', 'checklist'], notShown),
      ...flowRules(['key', 'name', 'title', 'kind', 'steps', 'checklist'], keyAsHeading),
      ...flowRules(['steps', 'checklist'], repeatedKeys),
      ...flowRules(['key', 'when', 'rollout', 'goal'], timingProblems),
      ...flowRules(['steps', 'targeting'], neverBegins),
      ...flowRules(['locale', 'texts'], localeProblems),
      ...flowRules(
        ['locale', 'texts', 'name', 'title', 'kind', 'steps', 'checklist'],
        textsProblems,
      ),
      ...flowRules(['steps'], pathProblems),
    ],
  ],
  [Targeting, whole(targetingProblems)],
  [UrlRule, whole(urlProblems)],
  [StepPage, whole(pageProblems)],
  [inStep.question, whole(questionProblems)],
  [StepRule, whole(stepRuleProblems)],
  [AudienceRule, whole(audienceRuleProblems)],
  [Theme, whole(themeProblems)],
  [
    inFlow.schedule,
    [
      ...scheduleRules(['timezone'], zoneProblems),
      ...scheduleRules(['from', 'to', 'timezone'], scheduleProblems),
    ],
  ],
  [inFlow.when, whole(whenProblems)],
  [inFlow.rollout, whole(rolloutProblems)],
  [inFlow.goal, whole(goalProblems)],
  [StepDefinition, whole(stepProblems)],
  [ItemDefinition, whole(itemProblems)],
])

/**
 * Problems of a part by itself, whatever the rest of the flow is like. Paths are within the part. Nested
 * parts are not included, because they are judged where they are.
 *
 * @param wrong the names of its fields whose shape is wrong
 */
function partProblems(
  schema: TSchema,
  part: unknown,
  wrong: ReadonlySet<string> = new Set(),
): FlowProblem[] {
  return (partRules.get(schema) ?? [])
    .filter(({ fields }) => (fields ? wrong.isDisjointFrom(new Set(fields)) : wrong.size === 0))
    .flatMap(({ problems }) => [...problems(part as never)])
}

/**
 * Problems of a checklist item by itself. Without `completeOn`, a click on the item ticks it, with or
 * without a link. An item that waits for an event that cannot come is never ticked.
 */
function* itemProblems({ completeOn, description }: ItemDefinition): Iterable<FlowProblem> {
  if (completeOn !== null) {
    yield* eventProblems(completeOn.event, '/completeOn/event', {
      code: 'never_completed',
      consequence: 'Nothing can complete this item',
    })
  }
  yield* markdownProblems(description ?? '', '/description')
}

/**
 * The errors of something that was stored as a flow, perhaps by another version of Cairn: errors of its
 * shape, or, if the shape is right, of its meaning.
 */
export function storedFlowErrors(stored: unknown): FlowProblem[] {
  if (Value.Check(FlowDefinition, stored)) {
    return flowProblems(stored).filter(({ severity }) => severity === 'error')
  }
  // What is stored may have fields of any name.
  const paths = new Set([...Value.Errors(FlowDefinition, stored)].map(({ path }) => shown(path)))
  const message = 'This does not have the shape that a flow has now: push its file again'
  return [...paths].slice(0, 20).map(path => error('invalid_value', path, message))
}

/** The fields that decide what pages show of a flow. */
type Shown = Pick<FlowDefinition, 'kind' | 'steps' | 'checklist'>

/** A flow's kind decides whether its steps or its items are shown: without any, it shows nothing. */
function* emptiness({ kind, steps, checklist }: Shown): Iterable<FlowProblem> {
  const hasItems = checklist !== null && checklist.items.length > 0
  if (kind === 'checklist' && !hasItems) {
    const instead = steps.length > 0 ? ', or write "kind: tour" to show the steps' : ''
    const message = `The flow shows nothing: add an item to its checklist${instead}`
    yield error('empty_flow', '/checklist/items', message)
  }
  if (kind !== 'checklist' && steps.length === 0) {
    const instead = hasItems
      ? 'write "kind: checklist" to show the items'
      : 'a checklist with an item'
    yield error('empty_flow', '/steps', `The flow shows nothing: add a step, or ${instead}`)
  }
}

/** If a flow has both steps and items, the snippet shows only one kind. */
function* notShown(flow: Shown): Iterable<FlowProblem> {
  const { steps, checklist } = flow
  if (steps.length === 0 || (checklist?.items.length ?? 0) === 0) return
  const advice = 'make a flow of its own of them'
  if (shownAs(flow) === 'steps') {
    const message = `Pages show a tour's steps and not its items, which only events and your back end tick: ${advice}`
    yield warning('items_not_shown', '/checklist/items', message)
  } else {
    const message = `Pages show a checklist's items and not its steps: ${advice}`
    yield warning('steps_not_shown', '/steps', message)
  }
}

/** A list has a heading, and a key is not a text for visitors. */
function* keyAsHeading(
  flow: Shown & Pick<FlowDefinition, 'key' | 'name' | 'title'>,
): Iterable<FlowProblem> {
  const { key, name, title } = flow
  if (shownAs(flow) !== 'checklist' || title !== undefined || name !== key) return
  const message = `Visitors read the key ${quoted(key)} as the heading of this list: add a title`
  yield warning('key_as_heading', '/title', message)
}

function* repeatedKeys({
  steps,
  checklist,
}: Pick<FlowDefinition, 'steps' | 'checklist'>): Iterable<FlowProblem> {
  const lists = { '/steps': steps, '/checklist/items': checklist?.items ?? [] }
  for (const [path, entries] of Object.entries(lists)) {
    const keys = new Set<string>()
    for (const [index, { key }] of entries.entries()) {
      if (keys.has(key)) {
        const message = `The key ${quoted(key)} is used already: change it`
        yield error('repeated_key', `${path}/${index}/key`, message)
      }
      keys.add(key)
    }
  }
}
