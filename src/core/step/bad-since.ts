import { rate } from '../number/statistics.ts'
import { type HealthCounts, totalsOf } from './health.ts'

/** What was reported within some minutes. Times are epoch milliseconds, null if there was no such report. */
export interface ReportSlot {
  reports: number
  misses: number
  fallback: number
  firstMissAt: number | null
  firstFallbackAt: number | null
}

/** From these shares on, misses, and fallback finds among the finds, determine a state. */
const fewMisses = 0.05
const minFallback = 0.2

/**
 * Since when a step has been as bad as it is: the time of the first bad report after bad reports stopped
 * being rare. That point is where their cumulative sum was last zero (CUSUM: Page, "Continuous Inspection
 * Schemes", 1954), with half of their present share as the line between few and many. So neither a stray
 * miss before it nor a lucky find after it moves it.
 *
 * @param people by their latest report
 * @param slotsOf returns the past in slots, oldest first; only called if something is bad
 * @returns null if bad reports are few, or have become few again
 */
export function badSince(
  people: HealthCounts,
  slotsOf: () => readonly ReportSlot[],
): { missesSince: number | null; fallbackSince: number | null } {
  const totals = totalsOf(people)
  const missing = rate(totals.misses, totals.people) ?? 0
  const fallback = rate(totals.fallback, totals.finds) ?? 0
  const [isMissing, isFallback] = [missing >= fewMisses, fallback >= minFallback]
  const slots = isMissing || isFallback ? slotsOf() : []
  return {
    missesSince: isMissing
      ? changePoint(
          slots.map(slot => [slot.misses, slot.reports, slot.firstMissAt]),
          Math.max(fewMisses, missing / 2),
        )
      : null,
    fallbackSince: isFallback
      ? changePoint(
          slots.map(slot => [slot.fallback, slot.reports - slot.misses, slot.firstFallbackAt]),
          Math.max(minFallback, fallback / 2),
        )
      : null,
  }
}

function changePoint(
  slots: readonly (readonly [bad: number, all: number, firstBadAt: number | null])[],
  share: number,
): number | null {
  let sum = 0
  let since: number | null = null
  for (const [bad, all, firstBadAt] of slots) {
    const before = sum
    sum = Math.max(0, sum + bad - share * all)
    if (sum === 0) since = null
    else if (before === 0) since = firstBadAt
  }
  return since
}
