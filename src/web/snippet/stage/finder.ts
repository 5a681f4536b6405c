import type { Finder, Found, Target } from '../parts.ts'
import { isVisible, matching, textOf } from './elements.ts'
import { mostLike } from './likeness.ts'

/** How long after a change of the page it is looked at again, milliseconds. */
const settleMs = 50

type Missing = 'not_found' | 'hidden' | 'ambiguous'

type Look = { element: Element; matchCount: number } | { because: Missing; matchCount: number }

/** What one selector finds, told apart by text and place, and by being seen. */
function look(document: Document, selector: string, { text, nth }: Target): Look {
  const all = matching(document, selector)
  const saying = text === null ? all : sayingOf(all, text)
  const matchCount = saying.length
  if (matchCount === 0) return { because: 'not_found', matchCount }
  if (nth !== null) {
    const element = saying[nth]
    if (!element) return { because: 'not_found', matchCount }
    return isVisible(element) ? { element, matchCount: 1 } : { because: 'hidden', matchCount }
  }
  const [element, other] = saying.filter(isVisible)
  if (!element) return { because: 'hidden', matchCount }
  return other ? { because: 'ambiguous', matchCount } : { element, matchCount: 1 }
}

/** Those with just that text; where none has, the innermost of those that contain it. */
function sayingOf(elements: Element[], text: string): Element[] {
  const exact = elements.filter(element => textOf(element) === text)
  if (exact.length > 0) return exact
  const around = elements.filter(element => textOf(element).includes(text))
  return around.filter(
    element => !around.some(other => other !== element && element.contains(other)),
  )
}

/**
 * Finds what a step points at: by its selector as soon as the page has it; when the time is over, by
 * its alternates in their order, then by the likeness to its fingerprint. An answer that could be
 * another element is no answer.
 */
export function createFinder(page: Window): Finder {
  const { document } = page

  /** What is left to try when the selector alone has not found it. */
  const lookFurther = (
    target: Target,
  ): Pick<Found & { element: Element }, 'element' | 'by' | 'selector' | 'matchCount'> | null => {
    for (const selector of target.alternates ?? []) {
      const found = look(document, selector, target)
      if ('element' in found) return { ...found, by: 'alternate', selector }
    }
    const element = target.fingerprint && mostLike(document, target.fingerprint)
    return element ? { element, by: 'fingerprint', selector: target.selector, matchCount: 1 } : null
  }

  return {
    find: (target, signal) =>
      new Promise(resolve => {
        const startedAt = page.performance.now()
        const waitedMs = () => Math.round(page.performance.now() - startedAt)
        let isLate = target.waitMs === 0
        let settling: number | undefined

        const finish = (found: Found) => {
          observer.disconnect()
          page.clearTimeout(settling)
          page.clearTimeout(deadline)
          resolve(found)
        }
        const attempt = () => {
          settling = undefined
          if (signal.aborted) return
          const { selector } = target
          const seen = look(document, selector, target)
          if ('element' in seen) {
            return finish({ ...seen, by: 'selector', selector, waitedMs: waitedMs() })
          }
          if (!isLate) return
          const further = lookFurther(target)
          if (further) return finish({ ...further, waitedMs: waitedMs() })
          if (target.onMissing === 'wait') return
          finish({ element: null, ...seen, waitedMs: waitedMs() })
        }
        // What hides an element may be a class or style far above it.
        const observer = new MutationObserver(() => {
          settling ??= page.setTimeout(attempt, settleMs)
        })
        observer.observe(document, {
          subtree: true,
          childList: true,
          attributes: true,
          characterData: true,
        })
        const deadline = page.setTimeout(() => {
          isLate = true
          attempt()
        }, target.waitMs)
        signal.addEventListener('abort', () => {
          observer.disconnect()
          page.clearTimeout(settling)
          page.clearTimeout(deadline)
        })
        attempt()
      }),
  }
}
