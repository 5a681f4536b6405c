import type { StepDefinition, UrlRule } from './flow.ts'

/**
 * The page that a step is for. A step that only has `navigate` is for exactly that address, by the rules of
 * `urlMatches`: a query and fragment count if the address has them. Undefined for any page.
 */
export function pageOf({
  page,
  navigate,
}: Pick<StepDefinition, 'page' | 'navigate'>): UrlRule | undefined {
  return page ?? (navigate === undefined ? undefined : { match: 'exact', pattern: navigate })
}
