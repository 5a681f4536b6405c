import type { Finder, Found, FoundElement, Target } from '../parts.ts'
import { matching, textOf } from './elements.ts'
import { maxLike } from './likeness.ts'
import { pageChange, pauses } from './pauses.ts'
import { isVisible } from './visibility.ts'

/** How long after a change the page is searched again, milliseconds. */
const settleMs = 50
/** How often the page is searched for what no observer tells (shadow trees, transitions, late style sheets). */
const pollMs = 250
/** The search takes no more than this share of the time, whatever the page is like and does. */
const maxOfTime = 1 / 20

/** How much of an error message is reported, characters. */
const maxMessageLength = 200

type Missing = 'not_found' | 'hidden' | 'ambiguous'

type Look = { element: Element; matchCount: number } | { because: Missing; matchCount: number }

/** What one selector finds, narrowed down by text and position, and by being visible. */
function look(
  document: Document,
  selector: string,
  { text, nth }: Pick<Target, 'text' | 'nth'>,
): Look {
  const all = matching(document, selector)
  const saying = text === null ? all : sayingOf(all, text)
  const matchCount = saying.length
  if (matchCount === 0) return { because: 'not_found', matchCount }
  if (nth !== null) {
    const element = saying[nth]
    if (!element) return { because: 'not_found', matchCount }
    return isVisible(element) ? { element, matchCount: 1 } : { because: 'hidden', matchCount }
  }
  const element = saying.find(isVisible)
  if (!element) return { because: 'hidden', matchCount }
  const other = saying.slice(saying.indexOf(element) + 1).find(isVisible)
  return other ? { because: 'ambiguous', matchCount } : { element, matchCount: 1 }
}

/** Those that have the text's longest word, which on a whole page is much cheaper to check than the text. */
function withWord(elements: Element[], text: string): Element[] {
  const [word = ''] = text.split(/\s+/).sort((a, b) => b.length - a.length)
  let without: Element | null = null
  return elements.filter(element => {
    // What is inside an element that lacks the word lacks it too.
    if (without?.contains(element)) return false
    if (element.textContent?.includes(word)) return true
    without = element
    return false
  })
}

/** Those with exactly that text; if none has it, the innermost of those that contain it. */
function sayingOf(elements: Element[], text: string): Element[] {
  const texts = new Map(withWord(elements, text).map(element => [element, textOf(element)]))
  const exact = elements.filter(element => texts.get(element) === text)
  if (exact.length > 0) return exact
  const around = elements.filter(element => texts.get(element)?.includes(text))
  // In document order, what an element contains comes right behind it.
  return around.filter((element, at) => !element.contains(around[at + 1] ?? null))
}

/** Whether an element is still what was found, as far as that is known without a search. */
function isStill(element: Element, { by, selector }: FoundElement, { text, nth }: Target): boolean {
  if (!isVisible(element)) return false
  if (by === 'fingerprint') return true
  if (by === 'selector' && nth !== null) return false
  return element.matches(selector) && (text === null || textOf(element).includes(text))
}

type Find = Omit<FoundElement, 'waitedMs'>
type Outcome = Find | Omit<Extract<Found, { element: null }>, 'waitedMs'>

/**
 * Finds what a step points at: by its selector as soon as the page has it; when the time is over, by its
 * alternates in their order, then by the likeness to its fingerprint. A match that could be another
 * element is no answer. Frames are pages of their own, and are not searched.
 */
export function createFinder(page: Window): Finder {
  const { document, performance } = page

  /** What is left to try when the selector alone has not found it. */
  async function lookFurther(
    target: Target,
    seen: Look & { because: Missing },
    pause: ReturnType<typeof pauses>,
  ): Promise<Find | null> {
    for (const selector of target.alternates ?? []) {
      // `nth` counts what the step's own selector finds, so it does not apply here.
      const found = look(document, selector, { text: target.text, nth: null })
      if ('element' in found) return { ...found, by: 'alternate', selector }
    }
    // If the element is there but hidden, another one that is like it must not be taken for it.
    if (!target.fingerprint || seen.because === 'hidden') return null
    const element = await maxLike(document, target.fingerprint, pause)
    const { selector } = target
    return element && { element, by: 'fingerprint', selector, matchCount: seen.matchCount }
  }

  async function search(target: Target, signal: AbortSignal): Promise<Outcome> {
    const { selector } = target
    const startedAt = performance.now()
    for (;;) {
      const pause = pauses(page, signal)
      const leftMs = target.waitMs - (performance.now() - startedAt)
      const seen = look(document, selector, target)
      if ('element' in seen) return { ...seen, by: 'selector', selector }
      if (leftMs <= 0) {
        const further = await lookFurther(target, seen, pause)
        if (further) return further
      }
      if (signal.aborted || (leftMs <= 0 && target.onMissing !== 'wait')) {
        return { element: null, ...seen }
      }
      const minMs = Math.max(settleMs, pause.usedMs() / maxOfTime)
      const maxMs = Math.max(pollMs, minMs)
      const untilMs = leftMs > 0 ? Math.min(maxMs, leftMs) : maxMs
      await pageChange(page, signal, { leastMs: minMs, mostMs: untilMs })
    }
  }

  return {
    async find(target, signal) {
      const startedAt = performance.now()
      // Whatever a page has done to its own DOM, the flow goes on as if the element were missing.
      const outcome = await search(target, signal).catch(
        (problem: unknown): Outcome => ({
          element: null,
          because: 'error',
          matchCount: 0,
          message: String(problem).slice(0, maxMessageLength),
        }),
      )
      return { ...outcome, waitedMs: Math.round(performance.now() - startedAt) }
    },
    now(target, found, current) {
      if (isStill(current, found, target)) return current
      const nth = found.by === 'selector' ? target.nth : null
      const seen = look(document, found.selector, { text: target.text, nth })
      return 'element' in seen ? seen.element : null
    },
    alike: async ({ fingerprint }, signal) =>
      fingerprint ? maxLike(document, fingerprint, pauses(page, signal)) : null,
  }
}
