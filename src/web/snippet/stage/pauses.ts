/** Work on the main thread that leaves most of its time to the page. */

/** How long the page may be held up at once, milliseconds: two thirds of a frame are left to the page. */
const sliceMs = 5

/** To be awaited between two pieces of work. Returns whether to go on. */
export type Pause = () => Promise<boolean> | boolean

/** Pauses for the page whenever a slice of time has been used up. */
export function pauses(page: Window, signal: AbortSignal): Pause & { usedMs(): number } {
  const { performance } = page
  let since = performance.now()
  let used = 0
  const pause = () => {
    if (signal.aborted) return false
    const now = performance.now()
    if (now - since < sliceMs) return true
    used += now - since
    return new Promise<boolean>(resolve =>
      page.setTimeout(() => {
        since = performance.now()
        resolve(!signal.aborted)
      }),
    )
  }
  return Object.assign(pause, { usedMs: () => used + performance.now() - since })
}

/**
 * Resolves a while after the next change of the page, or after the longest time. If a page changes all
 * the time, only the first change is observed.
 *
 * @param leastMs counted from the change
 */
export function pageChange(
  page: Window,
  signal: AbortSignal,
  { leastMs, mostMs }: { leastMs: number; mostMs: number },
): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      observer.disconnect()
      page.clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    let timer = page.setTimeout(done, mostMs)
    const observer = new MutationObserver(() => {
      observer.disconnect()
      page.clearTimeout(timer)
      timer = page.setTimeout(done, Math.min(leastMs, mostMs))
    })
    // What hides an element may be a class or style far above it.
    const everything = { subtree: true, childList: true, attributes: true, characterData: true }
    observer.observe(page.document, everything)
    signal.addEventListener('abort', done)
  })
}
