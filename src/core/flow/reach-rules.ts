import { quoted } from '../text/wording.ts'
import type { FlowDefinition, StepDefinition, UrlRule } from './flow.ts'
import { type FlowProblem, warning } from './problem.ts'
import { pageOf } from './step-page.ts'
import { urlMatches } from './url-rule.ts'

/** Comparing takes time, so only this many links are checked, which is more than any flow has. */
const mostLinks = 20

/** The same for one link: the product of the characters of its addresses and the characters of the patterns. */
const mostWork = 1_000_000

/**
 * Finds flows that never begin, because their first step has a page that the flow is not shown on. Also
 * finds steps that need an element of such a page: the step before leads there, only by links, and no URL
 * rule matches their addresses. Only reports what is certain: pages and links whose address can be known,
 * and steps with no button that stays on the page.
 */
export function* unreachable({
  steps,
  targeting,
}: Pick<FlowDefinition, 'steps' | 'targeting'>): Iterable<FlowProblem> {
  const { urls } = targeting
  if (urls.length === 0) return
  const known = new Map<string, boolean>()
  const isAway = (href: string) => {
    if (!known.has(href)) known.set(href, known.size < mostLinks && isNowhereShown(href, urls))
    return known.get(href)!
  }
  const first = steps[0] && pageOf(steps[0])
  if (first?.match === 'exact' && isAway(first.pattern)) {
    const message =
      'The flow begins on this page, where no pattern of targeting.urls shows it: add a pattern for it, or remove the page'
    yield warning('never_begins', `/steps/0/${steps[0]?.page ? 'page' : 'navigate'}`, message)
  }
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1]
    // On the page of a step, the flow continues.
    if (next?.target?.required !== true || pageOf(next)) continue
    const links = onlyLinksOf(step)
    if (links.length === 0 || !links.every(isAway)) continue
    const message = `This element is required, but step ${quoted(step.key)} leads to ${quoted(links[0]!)}, where no pattern of targeting.urls shows the flow: add a pattern for it, or "required: false"`
    yield warning('unreachable_target', `/steps/${index + 1}/target`, message)
  }
}

/** Where a step's links lead, if there is no other way on from it. */
function onlyLinksOf({ advance, buttons }: StepDefinition): string[] {
  if (advance.on !== 'button' || buttons.some(({ action }) => action === 'next')) return []
  return buttons.flatMap(({ action, href }) => (action === 'link' && href !== null ? [href] : []))
}

/** Any host will do for patterns that begin with a slash. */
const anyHost = 'https://host.invalid'

/** Whether the flow is certainly not shown where a link leads. */
function isNowhereShown(href: string, urls: readonly UrlRule[]): boolean {
  const addresses = addressesOf(href, urls)
  if (addresses === null) return false
  const characters = (texts: readonly string[]) => texts.join('').length
  const work =
    characters(addresses.map(({ href }) => href)) * characters(urls.map(({ pattern }) => pattern))
  if (work > mostWork) return false
  return !addresses.some(address => urls.some(rule => urlMatches(rule, address)))
}

/** The addresses that a link can lead to from where the flow is shown, or null if unknown. */
function addressesOf(href: string, urls: readonly UrlRule[]): URL[] | null {
  // A site may redirect http to https, so both are checked.
  const [, rest] = /^(?:https?:)?(\/\/.*)$/is.exec(href) ?? []
  if (rest !== undefined) {
    const both = [URL.parse(`https:${rest}`), URL.parse(`http:${rest}`)]
    return both.includes(null) ? null : (both as URL[])
  }
  // A mail or telephone link leaves the page as it is. Other relative links depend on the page.
  if (!href.startsWith('/')) return null
  const origins = new Set<string>([anyHost])
  for (const { pattern } of urls) {
    if (pattern.startsWith('/')) continue
    const [origin] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.exec(pattern) ?? []
    if (origin === undefined || origin.includes('*')) return null
    origins.add(origin)
  }
  const addresses = [...origins].map(origin => URL.parse(href, origin))
  return addresses.includes(null) ? null : (addresses as URL[])
}
