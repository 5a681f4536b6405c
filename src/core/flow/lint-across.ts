import { quoted } from '../text/wording.ts'
import type { FlowDefinition } from './flow.ts'
import { itemsAt, itemsOf } from './items.ts'
import { pagesOverlap } from './page-overlap.ts'
import { error, type FlowProblem, warning } from './problem.ts'

/** The rules about flows that are read together. */

/** A problem of the flow with this key. */
export interface ProblemOfFlow {
  key: string
  problem: FlowProblem
}

/**
 * Problems between flows: those that wait for each other in a circle never begin, a flow that is named has
 * to be published somewhere, and a page shows one launcher.
 *
 * @param others keys of flows that are known besides
 */
export const problemsAcross = (
  flows: readonly FlowDefinition[],
  others: readonly string[] = [],
): ProblemOfFlow[] => [
  ...unknownFlows(flows, others),
  ...waitsInCircle(flows),
  ...severalLaunchers(flows),
]

/** The flows that a flow names, what needs them, and where. */
const namedIn = (flow: FlowDefinition) => [
  {
    named: flow.when?.after,
    path: '/when/after',
    consequence: 'the flow begins only where another file publishes it',
  },
  ...itemsOf(flow).map(({ flow: named }, at) => ({
    named,
    path: `${itemsAt(flow)}/${at}/flow`,
    consequence: 'the item is shown only where another file publishes it',
  })),
]

function unknownFlows(flows: readonly FlowDefinition[], others: readonly string[]) {
  const known = new Set([...flows.map(({ key }) => key), ...others])
  return flows.flatMap(flow =>
    namedIn(flow).flatMap(({ named, path, consequence }): ProblemOfFlow[] => {
      if (named === undefined || known.has(named)) return []
      const message = `No flow here has the key ${quoted(named)}: ${consequence}`
      return [{ key: flow.key, problem: warning('unknown_flow', path, message) }]
    }),
  )
}

function waitsInCircle(flows: readonly FlowDefinition[]): ProblemOfFlow[] {
  const afterOf = new Map(flows.map(({ key, when }) => [key, when?.after]))
  return [...afterOf].flatMap(([key, after]) => {
    if (after === undefined || after === key) return []
    const seen = new Set<string>()
    let next: string | undefined = after
    while (next !== undefined && next !== key && !seen.has(next)) {
      seen.add(next)
      next = afterOf.get(next)
    }
    if (next !== key) return []
    const message = `This flow and ${quoted(after)} wait for each other, and neither begins: remove one "after"`
    return [{ key, problem: error('waits_in_circle', '/when/after', message) }]
  })
}

function severalLaunchers(flows: readonly FlowDefinition[]): ProblemOfFlow[] {
  const launchers = flows.filter(({ kind }) => kind === 'launcher')
  return launchers.flatMap(({ key, targeting }, at) => {
    const rival = launchers
      .slice(0, at)
      .find(other => pagesOverlap(other.targeting.urls, targeting.urls))
    if (!rival) return []
    const message = `${quoted(rival.key)} is a launcher on some of these pages too, and each page shows one: limit their pages`
    return [{ key, problem: warning('several_launchers', '/targeting/urls', message) }]
  })
}
