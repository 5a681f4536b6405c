import type { FlowDefinition, UrlRule } from './flow.ts'

/** What a flow that was tried in another organisation is in this one. */
export const promotionStates = ['new', 'changed', 'same', 'missing'] as const
export type PromotionState = (typeof promotionStates)[number]

/** @param here what this organisation has; null where it has no such flow */
export function promotionStateOf(
  there: FlowDefinition | null,
  here: FlowDefinition | null,
): PromotionState {
  if (there === null) return 'missing'
  if (here === null) return 'new'
  return Bun.deepEquals(there, here, true) ? 'same' : 'changed'
}

/** Every address that a flow names: in its rules, and where it leads. */
function addressesIn({ targeting, steps, checklist }: FlowDefinition): string[] {
  const rules: (UrlRule | null | undefined)[] = [
    ...targeting.urls,
    ...steps.map(({ page }) => page),
  ]
  const links = steps.flatMap(({ buttons }) => buttons.map(({ href }) => href))
  const items = checklist?.items.map(({ href }) => href) ?? []
  return [...rules.map(rule => rule?.pattern), ...links, ...items].flatMap(one => one ?? [])
}

/**
 * Origins that a flow names and that are those of the other organisation alone: there it would be shown, or
 * lead, and not here.
 */
export function foreignOrigins(
  flow: FlowDefinition,
  there: ReadonlySet<string> | null,
  here: ReadonlySet<string> | null,
): string[] {
  const named = addressesIn(flow).flatMap(address => {
    // A pattern may have its star anywhere but in the host.
    const origin = URL.parse(address)?.origin
    return origin === undefined ? [] : [origin]
  })
  return [...new Set(named)].filter(origin => there?.has(origin) && !here?.has(origin)).sort()
}
