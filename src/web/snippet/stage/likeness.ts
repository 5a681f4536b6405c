import { type Remembered, rememberedLikeness } from '../../../core/step/comparison.ts'
import { matching } from './elements.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { Pause } from './pauses.ts'
import { isVisible } from './visibility.ts'

/** From this likeness on, an element counts as the same. The contract of fingerprints has the number. */
const sameFrom = 0.85
/** The next best must be worse by this much: of two that are equally good, neither counts. */
const clearLead = 0.05
/** A page with more elements of a kind is not searched: it would take too long. */
const maxCompared = 2_000

/**
 * The one visible element that counts as the remembered one, or null.
 *
 * @param pause lets the page go on between two elements; returns false when nobody waits any more
 */
export async function maxLike(
  document: Document,
  remembered: Remembered,
  pause: Pause,
): Promise<Element | null> {
  const { tag } = remembered
  const ofTag = tag ? matching(document, CSS.escape(tag)) : []
  if (ofTag.length > maxCompared) return null
  const locale = document.documentElement.lang || null
  let best: { element: Element; score: number } | null = null
  let next = 0
  for (const element of ofTag) {
    if (!(await pause())) return null
    if (!isVisible(element)) continue
    const score = rememberedLikeness(remembered, fingerprintOf(element), locale)
    if (score <= (best?.score ?? 0)) next = Math.max(next, score)
    else {
      next = best?.score ?? 0
      best = { element, score }
    }
  }
  if (!best || best.score < sameFrom || best.score - next < clearLead) return null
  // The page may have changed meanwhile.
  return isVisible(best.element) ? best.element : null
}
