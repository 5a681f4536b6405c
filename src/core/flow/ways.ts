import type { StepDefinition } from './flow.ts'

type Step = Pick<StepDefinition, 'key' | 'advance' | 'buttons' | 'when' | 'target'>

/** Whether steps may come in another order than they stand in, or some not at all. */
export const hasBranches = (steps: readonly Pick<Step, 'when' | 'buttons'>[]): boolean =>
  steps.some(
    ({ when, buttons }) => when !== undefined || buttons.some(({ goto }) => goto !== undefined),
  )

/**
 * Where a step leads on to, as places; the number of steps stands for the end. Without a goto that is
 * the next one. What names a step that there is not, leads to the next one too.
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

/** The place of the step by a key; another where there is none. */
export function placeOf(steps: readonly Pick<Step, 'key'>[], key: string, otherwise: number) {
  const at = steps.findIndex(step => step.key === key)
  return at < 0 ? otherwise : at
}

/**
 * All places that somebody can come to from each, which is among them, whatever holds or is missing. Each
 * is worked out when first asked for.
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
 * How many steps are still to come after one, as far as can be told: by the only way on from each,
 * else by the next one; those that a rule leaves out as things stand do not count.
 *
 * @param isOnWay whether a step's rule holds as things stand
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
    // With a choice between several, the one that stands next is as good as any.
    const exits = exitsOf(steps, at)
    let to = exits.length === 1 ? exits[0]! : at + 1
    while (to < steps.length && !isOnWay(steps[to]!)) to++
    return to
  }
}
