import type { StepDefinition } from './flow.ts'

type Step = Pick<StepDefinition, 'key' | 'advance' | 'buttons' | 'when' | 'target'>

/** Whether steps may come in another order than they are written in, or be left out. */
export const hasBranches = (steps: readonly Pick<Step, 'when' | 'buttons'>[]): boolean =>
  steps.some(
    ({ when, buttons }) => when !== undefined || buttons.some(({ goto }) => goto !== undefined),
  )

/**
 * Where a step leads on to, as indexes; the number of steps stands for the end. Without a goto that is the
 * next step. A goto to a step that does not exist leads to the next one too.
 */
export function exitsOf(steps: readonly Step[], at: number): number[] {
  const { advance, buttons } = steps[at]!
  const leading = buttons.filter(({ action }) => action === 'next' || action === 'link')
  const exits = leading.map(({ action, goto }) =>
    goto === undefined || action !== 'next' ? at + 1 : placeOf(steps, goto, at + 1),
  )
  if (buttons.length === 0 || advance.on !== 'button') exits.push(at + 1)
  return [...new Set(exits)]
}

/** The index of the step with a key, or `otherwise` if there is none. */
export function placeOf(steps: readonly Pick<Step, 'key'>[], key: string, otherwise: number) {
  const at = steps.findIndex(step => step.key === key)
  return at < 0 ? otherwise : at
}

/**
 * All indexes that can be reached from each index, itself included, whatever rules hold or elements are
 * missing. Each is computed on first use.
 */
export function reachIn(steps: readonly Step[]): (from: number) => ReadonlySet<number> {
  const onward = steps.map(({ when, target }, at) => {
    const isSkipped = target?.required === true && target.onMissing === 'skip'
    return when !== undefined || isSkipped ? [...exitsOf(steps, at), at + 1] : exitsOf(steps, at)
  })
  const known = new Map<number, Set<number>>()
  return from => {
    const reached = known.get(from) ?? new Set<number>()
    const due = known.has(from) ? [] : [from]
    known.set(from, reached)
    for (let at = due.pop(); at !== undefined; at = due.pop()) {
      if (reached.has(at) || at >= steps.length) continue
      reached.add(at)
      due.push(...onward[at]!)
    }
    return reached
  }
}

/**
 * How many steps are still to come after one, as far as can be known: follows the only way on from each
 * step, or the next step if there are several. Steps that a rule currently leaves out do not count.
 *
 * @param isOnWay whether a step's rule currently holds
 */
export function stepsAhead<S extends Step>(
  steps: readonly S[],
  from: number,
  isOnWay: (step: S) => boolean,
  isBehind: (step: S) => boolean,
): number {
  const ahead = new Set<number>()
  for (let at = next(from); at < steps.length; at = next(at)) {
    if (at === from || ahead.has(at) || isBehind(steps[at]!)) break
    ahead.add(at)
  }
  return ahead.size

  function next(at: number): number {
    // If there is a choice between several, the step that is written next is as good a guess as any.
    const exits = exitsOf(steps, at)
    let to = exits.length === 1 ? exits[0]! : at + 1
    while (to < steps.length && !isOnWay(steps[to]!)) to++
    return to
  }
}
