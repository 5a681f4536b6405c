import { compareFingerprints, type Fingerprint } from '../../../core/fingerprint.ts'
import { isVisible, ownHostAttribute, treesOf } from './elements.ts'
import { fingerprintOf } from './fingerprint.ts'

/** From here on an element counts as the same; the contract of fingerprints has the number. */
const sameFrom = 0.85
/** The next best must be worse by this: of two that are as good, neither is it. */
const clearLead = 0.05
/** A page with more elements of a kind is not searched: it would hold up the page. */
const mostCompared = 2_000

/** The one visible element that is as good as the remembered one, or null. */
export function mostLike(document: Document, remembered: Fingerprint): Element | null {
  const { tag } = remembered
  if (!tag) return null
  const ofTag = [...treesOf(document)].flatMap(tree => [...tree.querySelectorAll(CSS.escape(tag))])
  if (ofTag.length > mostCompared) return null
  const scored = ofTag
    .filter(element => isVisible(element) && !element.closest(`[${ownHostAttribute}]`))
    .map(element => {
      const print = fingerprintOf(element)
      return { element, score: compareFingerprints(remembered, print, { sameLocale: true }).score }
    })
    .sort((a, b) => b.score - a.score)
  const [best, next] = scored
  if (!best || best.score < sameFrom) return null
  return next && best.score - next.score < clearLead ? null : best.element
}
