import { didYouMean, quoted } from '../text/wording.ts'
import type { FlowDefinition, FlowStatus } from './flow.ts'
import { itemsAt, itemsOf } from './items.ts'
import { pagesOverlap } from './page-overlap.ts'
import { error, type FlowProblem, warning } from './problem.ts'

/** The rules about flows that name other flows. */

export type Referring = Pick<
  FlowDefinition,
  'key' | 'kind' | 'targeting' | 'when' | 'steps' | 'checklist' | 'launcher'
>

/** A flow that is known besides those that are checked. */
export interface OtherFlow {
  key: string
  status: FlowStatus
}

interface Reference {
  named: string
  path: string
  /** What works only once the named flow is published. */
  effect: string
}

/** The flows that buttons and items start. */
export const startsIn = (flow: Pick<Referring, 'steps' | 'checklist' | 'launcher'>) => [
  ...flow.steps.flatMap(({ buttons }, at) =>
    buttons.flatMap(({ action, flow }, index) =>
      action === 'start' && flow !== undefined
        ? [{ named: flow, path: `/steps/${at}/buttons/${index}/flow`, effect: 'the button works' }]
        : [],
    ),
  ),
  ...itemsOf(flow).flatMap(({ flow: named }, index) =>
    named === undefined
      ? []
      : [{ named, path: `${itemsAt(flow)}/${index}/flow`, effect: 'the item starts it' }],
  ),
]

const referencesIn = ({ when, ...flow }: Referring): Reference[] => [
  ...(when?.after === undefined
    ? []
    : [{ named: when.after, path: '/when/after', effect: 'the flow begins' }]),
  ...startsIn(flow),
]

/**
 * Problems between flows, by flow key. Flows that wait in a circle never begin. A flow that is named, and not
 * among these, has to be published in another way. A page shows one launcher.
 *
 * @param others flows that are known besides
 */
export function referenceProblems(
  flows: readonly Referring[],
  others: readonly OtherFlow[] = [],
): { key: string; problem: FlowProblem }[] {
  const keys = flows.map(({ key }) => key)
  return flows.flatMap(flow => {
    const unmet = referencesIn(flow)
      .filter(({ named }) => named !== flow.key && !keys.includes(named))
      .flatMap(reference => unmetProblem(reference, keys, others))
    const problems = [...unmet, ...circleProblem(flow, flows), ...secondLauncher(flow, flows)]
    return problems.map(problem => ({ key: flow.key, problem }))
  })
}

function unmetProblem(
  { named, path, effect }: Reference,
  keys: readonly string[],
  others: readonly OtherFlow[],
): FlowProblem[] {
  const other = others.find(({ key }) => key === named)
  if (other?.status === 'published') return []
  if (other) {
    const message = `Flow ${quoted(named)} is not published, and ${effect} only while it is: publish it`
    return [warning('unpublished_flow', path, message)]
  }
  const hint = didYouMean(named, [...keys, ...others.map(({ key }) => key)])
  const message = `No flow here has the key ${quoted(named)}${hint || `: ${effect} only where another file publishes it`}`
  return [warning('unknown_flow', path, message)]
}

function circleProblem({ key, when }: Referring, flows: readonly Referring[]): FlowProblem[] {
  const after = when?.after
  if (after === undefined || after === key) return []
  const afterOf = new Map(flows.map(flow => [flow.key, flow.when?.after]))
  const seen = new Set<string>()
  let next: string | undefined = after
  while (next !== undefined && next !== key && !seen.has(next)) {
    seen.add(next)
    next = afterOf.get(next)
  }
  if (next !== key) return []
  const message = `This flow and ${quoted(after)} wait for each other, and neither starts: remove one "after"`
  return [error('waits_in_circle', '/when/after', message)]
}

/** A launcher whose pages have another one already, which comes before it here. */
function secondLauncher(flow: Referring, flows: readonly Referring[]): FlowProblem[] {
  if (flow.kind !== 'launcher') return []
  const rival = flows
    .slice(0, flows.indexOf(flow))
    .find(
      ({ kind, targeting }) =>
        kind === 'launcher' && pagesOverlap(targeting.urls, flow.targeting.urls),
    )
  if (!rival) return []
  const message = `${quoted(rival.key)} is a launcher on some of these pages too, and each page shows one: limit their pages`
  return [warning('several_launchers', '/targeting/urls', message)]
}
