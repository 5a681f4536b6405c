import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { quoted, shown } from '../text/wording.ts'
import { eventProblems } from './event-rules.ts'
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
import { error, type FlowProblem, warning } from './problem.ts'
import { Question, questionProblems } from './question.ts'
import { unreachable } from './reach-rules.ts'
import { shownAs } from './shown-as.ts'
import { stepProblems } from './step-rules.ts'
import {
  audienceRuleProblems,
  pageProblems,
  targetingProblems,
  urlProblems,
} from './targeting-rules.ts'
import { textsProblems } from './texts/rules.ts'
import { Theme } from './theme.ts'
import { themeProblems } from './theme-rules.ts'
import { Goal, Rollout, Schedule, When } from './timing.ts'
import {
  goalProblems,
  rolloutProblems,
  scheduleProblems,
  timingProblems,
  whenProblems,
} from './timing-rules.ts'
import { stepRuleProblems, wayProblems } from './way-rules.ts'

/**
 * Problems with the meaning of a flow, beyond the shape that its schema checks. Pure, and bounded by the
 * flow's size.
 */
export function flowProblems(flow: FlowDefinition): FlowProblem[] {
  return [
    ...emptiness(flow),
    ...notShown(flow),
    ...keyAsHeading(flow),
    ...repeatedKeys(flow.steps, '/steps'),
    ...repeatedKeys(flow.checklist?.items ?? [], '/checklist/items'),
    ...[...partsOf(flow)].flatMap(({ schema, value, path }) =>
      partProblems(schema, value).map(problem => ({ ...problem, path: path + problem.path })),
    ),
    ...timingProblems(flow),
    ...unreachable(flow),
    ...textsProblems(flow),
    ...wayProblems(flow),
  ]
}

/** A part of a flow that has a schema of its own. */
export interface FlowPart {
  schema: TSchema
  value: unknown
  /** JSON pointer within whatever contains it. */
  path: string
}

function* partsOf({
  targeting,
  theme,
  steps,
  checklist,
  ...rest
}: FlowDefinition): Iterable<FlowPart> {
  const { schedule, when, rollout, goal } = rest
  const each = function* (schema: TSchema, values: readonly unknown[], path: string) {
    for (const [index, value] of values.entries()) yield { schema, value, path: `${path}/${index}` }
  }
  yield { schema: Targeting, value: targeting, path: '/targeting' }
  yield* each(UrlRule, targeting.urls, '/targeting/urls')
  yield* each(AudienceRule, targeting.audience.rules, '/targeting/audience/rules')
  if (theme) yield { schema: Theme, value: theme, path: '/theme' }
  if (schedule) yield { schema: Schedule, value: schedule, path: '/schedule' }
  if (when) yield { schema: When, value: when, path: '/when' }
  if (rollout) yield { schema: Rollout, value: rollout, path: '/rollout' }
  if (goal) yield { schema: Goal, value: goal, path: '/goal' }
  yield* each(StepDefinition, steps, '/steps')
  for (const [index, { page, question, when }] of steps.entries()) {
    if (page) yield { schema: StepPage, value: page, path: `/steps/${index}/page` }
    if (question) yield { schema: Question, value: question, path: `/steps/${index}/question` }
    yield* each(StepRule, when?.rules ?? [], `/steps/${index}/when/rules`)
  }
  yield* each(ItemDefinition, checklist?.items ?? [], '/checklist/items')
}

/** The rules for parts that can be judged without the rest of the flow. */
const partRules = new Map<TSchema, (part: never) => Iterable<FlowProblem>>([
  [Targeting, targetingProblems],
  [UrlRule, urlProblems],
  [StepPage, pageProblems],
  [Question, questionProblems],
  [StepRule, stepRuleProblems],
  [AudienceRule, audienceRuleProblems],
  [Theme, themeProblems],
  [Schedule, scheduleProblems],
  [When, whenProblems],
  [Rollout, rolloutProblems],
  [Goal, goalProblems],
  [StepDefinition, stepProblems],
  [ItemDefinition, itemProblems],
])

/**
 * Problems of a part by itself, whatever the rest of the flow is like. Paths are within the part. Nested
 * parts are not included, because they are judged where they are.
 */
export function partProblems(schema: TSchema, part: unknown): FlowProblem[] {
  return [...(partRules.get(schema)?.(part as never) ?? [])]
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

/** A flow's kind decides whether its steps or its items are shown: without any, it shows nothing. */
function* emptiness({ kind, steps, checklist }: FlowDefinition): Iterable<FlowProblem> {
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
function* notShown(flow: FlowDefinition): Iterable<FlowProblem> {
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
function* keyAsHeading(flow: FlowDefinition): Iterable<FlowProblem> {
  const { key, name, title } = flow
  if (shownAs(flow) !== 'checklist' || title !== undefined || name !== key) return
  const message = `Visitors read the key ${quoted(key)} as the heading of this list: add a title`
  yield warning('key_as_heading', '/title', message)
}

/** In a file these were found earlier, and reported with their lines. */
function* repeatedKeys(entries: readonly { key: string }[], path: string): Iterable<FlowProblem> {
  const keys = new Set<string>()
  for (const [index, { key }] of entries.entries()) {
    if (keys.has(key)) {
      const message = `The key ${quoted(key)} is used already: change it`
      yield error('repeated_key', `${path}/${index}/key`, message)
    }
    keys.add(key)
  }
}
