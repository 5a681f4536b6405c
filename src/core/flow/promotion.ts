import type { FlowDefinition, UrlRule } from './flow.ts'
import { itemsOf } from './items.ts'

/** How a flow that was tried in another organisation compares with this one. */
export const promotionStates = ['new', 'changed', 'same', 'missing'] as const
export type PromotionState = (typeof promotionStates)[number]

/** @param here the flow of this organisation; null if it has none with this key */
export function promotionStateOf(
  there: FlowDefinition | null,
  here: FlowDefinition | null,
): PromotionState {
  if (there === null) return 'missing'
  if (here === null) return 'new'
  return Bun.deepEquals(there, here, true) ? 'same' : 'changed'
}

/** Every address that a flow names, in its rules and in its links. */
function addressesIn(flow: FlowDefinition): string[] {
  const { targeting, steps } = flow
  const rules: (UrlRule | null | undefined)[] = [
    ...targeting.urls,
    ...steps.map(({ page }) => page),
  ]
  const links = steps.flatMap(({ buttons }) => buttons.map(({ href }) => href))
  const items = itemsOf(flow).map(({ href }) => href)
  return [...rules.map(rule => rule?.pattern), ...links, ...items].flatMap(one => one ?? [])
}

/**
 * Origins that a flow names and that only the other organisation lists. There the flow would be shown at
 * them or lead to them, but not here.
 */
export function foreignOrigins(
  flow: FlowDefinition,
  there: ReadonlySet<string> | null,
  here: ReadonlySet<string> | null,
): string[] {
  const named = addressesIn(flow).flatMap(address => {
    // A pattern may have wildcards anywhere but in the host.
    const origin = URL.parse(address)?.origin
    return origin === undefined ? [] : [origin]
  })
  return [...new Set(named)].filter(origin => there?.has(origin) && !here?.has(origin)).sort()
}
