import { isMapping, isSame, type Mapping, type Plain } from '../plain.ts'

/** Changes that a page on which an author builds proposes, and how a flow is with them. */

/** Fields of a step that a page may set: what people read, where the step stands, and how it goes on. */
export const settableFields = [
  'title',
  'body',
  'kind',
  'placement',
  'buttons',
  'question',
  'media',
  'advance',
] as const
export type SettableField = (typeof settableFields)[number]

/** An element, by selectors that find it. */
export interface Pointed {
  selector: string
  alternates?: string[]
}

export type ProposedChange =
  /** Null removes the field. */
  | { do: 'set'; step: string; field: SettableField; value: Plain }
  | { do: 'target'; step: string; target: Pointed | null }
  /** `after` is the key of the step before it, null for the first place. */
  | {
      do: 'add'
      after: string | null
      step: { key: string; title: string; target: Pointed | null }
    }
  | { do: 'move'; step: string; after: string | null }
  | { do: 'delete'; step: string }
  | { do: 'undo' }

type Step = Mapping
const stepsOf = ({ steps }: Mapping): Step[] =>
  Array.isArray(steps) ? steps.map(step => (isMapping(step) ? step : {})) : []
const placeOf = (steps: readonly Step[], key: string) => steps.findIndex(step => step.key === key)

/** A step without a field, or with another value of it. */
function withField(step: Step, field: string, value: Plain | undefined): Step {
  const { [field]: _, ...others } = step
  return value === null || value === undefined ? others : { ...step, [field]: value }
}

const withSteps = (flow: Mapping, steps: Step[]): Mapping => ({ ...flow, steps })

const withStep = (flow: Mapping, key: string, make: (step: Step) => Step): Mapping =>
  withSteps(
    flow,
    stepsOf(flow).map(step => (step.key === key ? make(step) : step)),
  )

function withoutStep(flow: Mapping, key: string): Mapping {
  return withSteps(
    flow,
    stepsOf(flow).filter(step => step.key !== key),
  )
}

/** With a step after another one; last if that one is gone. */
function withStepAfter(flow: Mapping, step: Step, after: string | null): Mapping {
  const steps = stepsOf(flow).filter(({ key }) => key !== step.key)
  const place = after === null ? 0 : placeOf(steps, after) + 1 || steps.length
  return withSteps(flow, steps.toSpliced(place, 0, step))
}

/** What else finds an element, or remembers it, goes with it. How long it is waited for stays. */
function pointedAt(step: Step, target: Pointed | null): Step {
  if (target === null) return withField(step, 'target', null)
  const before = isMapping(step.target) ? step.target : {}
  const kept = ['waitMs', 'required', 'onMissing'].filter(name => Object.hasOwn(before, name))
  const rest = Object.fromEntries(kept.map(name => [name, before[name]!]))
  return { ...step, target: { ...rest, ...(target as unknown as Mapping) } }
}

/** A flow after a change, and the way back. */
export interface Applied {
  flow: Mapping
  undo(flow: Mapping): Mapping
}

/**
 * Applies a change. Applied twice, it changes nothing more.
 *
 * @returns null if nothing changes: the step is gone, or it is so already
 */
export function applied(
  flow: Mapping,
  change: Exclude<ProposedChange, { do: 'undo' }>,
): Applied | null {
  const steps = stepsOf(flow)
  const made = madeBy(flow, steps, change)
  return made === null || isSame(made.flow, flow) ? null : made
}

function madeBy(
  flow: Mapping,
  steps: Step[],
  change: Exclude<ProposedChange, { do: 'undo' }>,
): Applied | null {
  if (change.do === 'add') {
    const { key, title, target } = change.step
    if (placeOf(steps, key) >= 0) return null
    const added = pointedAt({ key, ...(title !== '' && { title }) }, target)
    return {
      flow: withStepAfter(flow, added, change.after),
      undo: now => withoutStep(now, key),
    }
  }
  const key = change.step
  const place = placeOf(steps, key)
  const step = steps[place]
  if (!step) return null
  const before = steps[place - 1]?.key
  const previous = typeof before === 'string' ? before : null
  switch (change.do) {
    case 'set':
      return {
        flow: withStep(flow, key, one => withField(one, change.field, change.value)),
        undo: now => withStep(now, key, one => withField(one, change.field, step[change.field])),
      }
    case 'target':
      return {
        flow: withStep(flow, key, one => pointedAt(one, change.target)),
        undo: now => withStep(now, key, one => withField(one, 'target', step.target)),
      }
    case 'move':
      if (change.after === key) return null
      return {
        flow: withStepAfter(flow, step, change.after),
        undo: now => withStepAfter(now, stepsOf(now)[placeOf(stepsOf(now), key)] ?? step, previous),
      }
    case 'delete':
      return {
        flow: withoutStep(flow, key),
        undo: now => withStepAfter(now, step, previous),
      }
  }
}
