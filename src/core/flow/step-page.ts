import type { StepDefinition, UrlRule } from './flow.ts'

/**
 * The page that a step is for. One that only says where it leads is for exactly that address, as
 * `urlMatches` has it: its query and fragment count where it has them. Undefined for any page.
 */
export function pageOf({
  page,
  navigate,
}: Pick<StepDefinition, 'page' | 'navigate'>): UrlRule | undefined {
  return page ?? (navigate === undefined ? undefined : { match: 'exact', pattern: navigate })
}
