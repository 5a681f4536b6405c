import type { Step } from '../parts.ts'
import { isElsewhere, safeHref } from './links.ts'

/** An address of this site, whole; null for any other. */
function ownPage(address: string, page: Window): string | null {
  const href = safeHref(address, page)
  return href?.startsWith('http') && !isElsewhere(href, page) ? href : null
}

/** The address that a step leads the visitor to; null if it says none, or one of another site. */
export const leadsTo = ({ navigate }: Step, page: Window): string | null =>
  navigate === undefined ? null : ownPage(navigate, page)

/** Where the page of a step is, as far as that can be known. */
export function addressOf(step: Step, page: Window): string | null {
  const { page: rule, navigate } = step
  if (navigate !== undefined) return leadsTo(step, page)
  return rule?.match === 'exact' ? ownPage(rule.pattern, page) : null
}
