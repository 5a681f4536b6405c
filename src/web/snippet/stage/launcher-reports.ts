import { hourMs } from '../../../core/time/durations.ts'
import type { Flow, HealthReport } from '../parts.ts'
import { isWithin } from '../recency.ts'
import type { StageDeps } from '../stage.ts'
import type { StepReports } from './step-reports.ts'

/** How long a page may take to draw the element, milliseconds. */
const patienceMs = 5_000
/** For this long, the same is not reported again: a launcher is on every page, and health looks a day back. */
const sameAgainMs = 6 * hourMs

type Outcome = Extract<HealthReport['outcome'], 'found' | 'not_found'>

/** What was last reported of a launcher's element, and when. */
type Reported = readonly [flow: string, version: number, outcome: Outcome, at: number]

const key = 'openers'
const maxKept = 20

/**
 * Reports whether the page has the element of its own that opens a launcher. One that is hidden counts as found,
 * because it may be in a menu that is closed. The element has no id: its first item stands for it.
 *
 * @returns to be called with the number of matching elements, again and again
 */
export function openerReports(
  { id, version, launcher }: Flow,
  { reports, store, page }: Pick<StageDeps, 'store' | 'page'> & { reports: StepReports },
): (matchCount: number) => void {
  const now = () => page.performance.now()
  /** When the page last had it, by the page's own clock. */
  let seenAt = now()
  let last: Outcome | null = null

  const report = (outcome: Outcome, matchCount: number) => {
    if (outcome === last) return
    last = outcome
    const kept = store.get<Reported[]>(key)
    const all = Array.isArray(kept) ? kept : []
    const isSame = ([flow, of, was, at]: Reported) =>
      flow === id && of === version && was === outcome && isWithin(at, sameAgainMs)
    const part = launcher?.items[0]
    if (!part || all.some(isSame)) return
    const others = all.filter(([flow]) => flow !== id)
    store.set(key, [[id, version, outcome, Date.now()], ...others].slice(0, maxKept))
    const waitMs = Math.round(now() - seenAt)
    const selector = launcher.target ?? ''
    reports.health(part.id, { outcome, selector, matchCount, waitMs, flowVersion: version })
  }

  return matchCount => {
    if (matchCount > 0) {
      report('found', matchCount)
      seenAt = now()
    } else if (now() - seenAt >= patienceMs) report('not_found', 0)
  }
}
