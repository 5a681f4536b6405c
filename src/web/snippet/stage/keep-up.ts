import type { Finder, FoundElement, Target } from '../parts.ts'
import { safely } from '../safely.ts'
import { isVisible } from './visibility.ts'
import { whenDetached } from './when-detached.ts'

/** How often it is checked what matches, milliseconds: the page may have hidden it, or changed a class. */
const lookMs = 250
/** While nothing matches, what is drawn stays this long, milliseconds: the page may be drawing it anew. */
const gapMs = 1_000
/** Searches take no more than this share of the time, and while the element is gone no more than this. */
const maxShare = 1 / 20
const maxShareWhileGone = 1 / 5

/**
 * Keeps up with a page that draws anew what a step points at: its element, or what that is in.
 *
 * @param changed another element matches now
 * @param isInUse whether what is drawn has to stay, even if nothing matches
 * @param lost nothing has matched for a while
 * @returns a function that returns what matches at the moment
 */
export function keepUpWith(
  target: Target,
  found: FoundElement,
  { page, finder, signal }: { page: Window; finder: Finder; signal: AbortSignal },
  { changed, isInUse, lost }: { changed(element: Element): void; isInUse(): boolean; lost(): void },
): () => Element {
  const { performance } = page
  let { element } = found
  /** When it went; null while it is there. */
  let goneAt: number | null = null
  let lookedAt = 0
  let tookMs = 0
  let isSearching = false
  let frame = 0
  let unwatch = () => {}

  const use = (next: Element | null) => {
    if (signal.aborted || next === null || next === element) return
    element = next
    watch()
    changed(next)
  }
  const look = () => use(finder.now(target, found, element))

  /** The search for what is like it takes longer. */
  const lookFurther = async () => {
    if (isSearching || found.by !== 'fingerprint') return
    isSearching = true
    use(await finder.alike(target, signal).catch(() => null))
    isSearching = false
  }

  const check = () => {
    frame = 0
    const startedAt = performance.now()
    // If a page has broken its own DOM, nothing is known, and the element counts as still there.
    const isThere = () => safely(() => isVisible(element)) ?? true
    const share = element.isConnected ? maxShare : maxShareWhileGone
    if (startedAt >= lookedAt + tookMs / share) {
      look()
      lookedAt = startedAt
      tookMs = performance.now() - startedAt
    }
    if (isThere()) {
      goneAt = null
      return
    }
    goneAt ??= startedAt
    lookFurther()
    if (startedAt - goneAt > gapMs && !isInUse()) lost()
  }

  function watch(): void {
    unwatch()
    const { parentNode } = element
    const soon = () => {
      if (element.isConnected && element.parentNode !== parentNode) watch()
      if (element.isConnected) return
      // At once, so that no key that somebody types in the meantime is lost. What is too much work for
      // that is done once a frame.
      check()
      frame ||= page.requestAnimationFrame(() => safely(check))
    }
    unwatch = whenDetached(element, soon)
  }

  watch()
  const timer = page.setInterval(() => safely(check), lookMs)
  signal.addEventListener('abort', () => {
    unwatch()
    page.clearInterval(timer)
    page.cancelAnimationFrame(frame)
  })
  return () => {
    safely(look)
    return element
  }
}
