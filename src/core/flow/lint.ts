import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { typeOf } from '../shape-problems.ts'
import { quoted, shown } from '../text/wording.ts'
import { branchOf } from './authoring.ts'
import { FlowDefinition, ItemDefinition } from './flow.ts'
import { itemsOf } from './items.ts'
import { conditionRules, eventRule } from './lint-conditions.ts'
import { startsIn } from './lint-references.ts'
import { errorIf, type LintRules, onFields, onWhole, repeatedKeys, warnIf } from './lint-rule.ts'
import { stepRules } from './lint-steps.ts'
import { markdownRules } from './markdown-rules.ts'
import { error, type FlowProblem } from './problem.ts'
import { shownAs } from './shown-as.ts'
import { textRules } from './texts/rules.ts'
import { Theme } from './theme.ts'
import { lowContrasts, wrongColours } from './theme-rules.ts'

/**
 * The rules about the meaning of a flow, beyond the shape that its schema checks. Pure, and bounded by the
 * flow's size.
 */

/** A part of a flow that has a schema of its own. */
export interface FlowPart {
  schema: TSchema
  value: unknown
  /** JSON pointer within whatever contains it. */
  path: string
}

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

/**
 * Problems of a part by itself, with their paths from where its own path begins. Nested parts are not
 * included, because they are checked where they are.
 *
 * @param wrong the names of its fields whose shape is wrong
 */
export const problemsOf = (
  { schema, value, path }: FlowPart,
  wrong: ReadonlySet<string> = new Set(),
): FlowProblem[] =>
  (rulesBySchema.get(schema) ?? [])
    .filter(({ fields }) => (fields ? wrong.isDisjointFrom(new Set(fields)) : wrong.size === 0))
    .flatMap(({ rules }) => rules.flatMap(rule => rule(value as never)))
    .map(problem => ({ ...problem, path: path + problem.path }))

export const flowProblems = (flow: FlowDefinition): FlowProblem[] =>
  [...partsOf(FlowDefinition, flow)].flatMap(part => problemsOf(part))

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

const hasBoth = (flow: Pick<FlowDefinition, 'kind' | 'steps' | 'checklist'>) =>
  flow.steps.length > 0 && (flow.checklist?.items ?? []).length > 0

/** What an item of a launcher can be, of which it is exactly one. */
const offers = ({ href, flow, announcements }: ItemDefinition) =>
  [href !== null, flow !== undefined, announcements !== undefined].filter(Boolean).length

const flowRules: readonly LintRules[] = [
  // A flow that is barely begun has enough to fix.
  onWhole(
    FlowDefinition,
    errorIf(
      'empty_flow /checklist/items',
      flow => flow.kind === 'checklist' && itemsOf(flow).length === 0,
      (_, { steps }) =>
        `The flow shows nothing: add an item to its checklist${steps.length > 0 ? ', or write "kind: tour" to show the steps' : ''}`,
    ),
    errorIf(
      'empty_flow /steps',
      ({ kind, steps }) => kind !== 'checklist' && kind !== 'launcher' && steps.length === 0,
      (_, flow) =>
        `The flow shows nothing: add a step, or ${itemsOf(flow).length > 0 ? 'write "kind: checklist" to show the items' : 'a checklist with an item'}`,
    ),
  ),
  onFields(
    FlowDefinition,
    ['kind', 'steps', 'checklist', 'launcher'],
    errorIf(
      'empty_flow /launcher/items',
      ({ kind, launcher }) => kind === 'launcher' && !launcher?.items.length,
      'The launcher offers nothing: add an item with href, flow or announcements',
    ),
    warnIf(
      'not_a_launcher /launcher',
      ({ kind, launcher }) => launcher !== undefined && kind !== 'launcher',
      'Only a flow of "kind: launcher" has a launcher: write that, or remove the launcher',
    ),
    errorIf(
      'launcher_has_more',
      ({ kind, steps, checklist }) =>
        kind !== 'launcher'
          ? []
          : [
              ...(steps.length > 0 ? [{ path: '/steps' }] : []),
              ...(checklist ? [{ path: '/checklist' }] : []),
            ],
      'A launcher has items alone: move this to a flow of its own, and name it in an item',
    ),
    warnIf(
      'items_not_shown /checklist/items',
      flow => hasBoth(flow) && shownAs(flow) === 'steps',
      "Pages show a tour's steps and not its items, which only events and your back end tick: move them to a flow of their own",
    ),
    warnIf(
      'steps_not_shown /steps',
      flow => hasBoth(flow) && shownAs(flow) === 'checklist',
      "Pages show a checklist's items and not its steps: move them to a flow of their own",
    ),
  ),
  onFields(
    FlowDefinition,
    ['kind', 'frequency'],
    errorIf(
      'launcher_frequency /frequency',
      ({ kind, frequency }) => kind === 'launcher' && frequency !== 'always',
      'A launcher stays after it was opened: write "frequency: always", or remove it',
    ),
  ),
  onFields(
    FlowDefinition,
    ['key', 'name', 'title', 'kind', 'steps', 'checklist'],
    warnIf(
      'key_as_heading /title',
      flow => shownAs(flow) !== 'steps' && flow.title === undefined && flow.name === flow.key,
      (_, { key }) => `Visitors read the key ${quoted(key)} as the heading: add a title`,
    ),
  ),
  onFields(
    FlowDefinition,
    ['key', 'steps', 'checklist', 'launcher'],
    errorIf('starts_itself', flow =>
      startsIn(flow)
        .filter(({ named }) => named === flow.key)
        .map(({ path }) => ({ path, message: 'The flow would start itself: name another flow' })),
    ),
  ),
  onFields(
    FlowDefinition,
    ['steps', 'checklist', 'launcher'],
    warnIf(
      'announcements_elsewhere',
      ({ checklist }) =>
        (checklist?.items ?? []).flatMap(({ announcements }, at) =>
          announcements ? [{ path: `/checklist/items/${at}/announcements` }] : [],
        ),
      'Only a launcher lists announcements: move this item to one',
    ),
    errorIf(
      'what_it_opens',
      ({ launcher }) =>
        (launcher?.items ?? []).flatMap((item, at) =>
          offers(item) === 1 ? [] : [{ path: `/launcher/items/${at}` }],
        ),
      'An item of a launcher opens one thing: write exactly one of href, flow and announcements',
    ),
    warnIf(
      'nothing_to_tick',
      ({ launcher }) =>
        (launcher?.items ?? []).flatMap(({ completeOn }, at) =>
          completeOn ? [{ path: `/launcher/items/${at}/completeOn` }] : [],
        ),
      'Items of a launcher are not ticked: remove completeOn',
    ),
    repeatedKeys('/launcher/items', ({ launcher }) => launcher?.items ?? []),
    errorIf(
      'repeated_key /launcher/items',
      ({ steps, launcher }) =>
        (launcher?.items ?? []).flatMap(({ key }, at) =>
          steps.some(step => step.key === key) ? [{ path: `/${at}/key` }] : [],
        ),
      'A step has this key: change it',
    ),
    repeatedKeys('/steps', ({ steps }) => steps),
    repeatedKeys('/checklist/items', ({ checklist }) => checklist?.items ?? []),
  ),
  onWhole(
    ItemDefinition,
    eventRule(
      'never_completed /completeOn/event',
      ({ completeOn }) => completeOn?.event,
      'Nothing can complete this item',
    ),
    warnIf(
      'unused_href /href',
      ({ href, flow }) => href !== null && flow !== undefined,
      'The item starts a flow, so the link has no effect: remove href or flow',
    ),
    ...markdownRules('/description', ({ description }: ItemDefinition) => description ?? ''),
  ),
  onWhole(Theme, errorIf('invalid_value', wrongColours), warnIf('low_contrast', lowContrasts)),
]

const rulesBySchema = Map.groupBy(
  [...flowRules, ...stepRules, ...conditionRules, ...textRules],
  ({ schema }) => schema,
)
