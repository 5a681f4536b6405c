/** How long changes of a page are let gather before it is looked at again, milliseconds. */
const gatherMs = 500
/** Timers count no further. */
const longestMs = 2 ** 31 - 1
/** Of a selector that matches very many, the first ones are looked at. */
const mostLookedAt = 50

/** Whether the page shows an element that a selector matches: it takes up room, and no style hides it. */
export function sees(document: Document, selector: string): boolean {
  try {
    return [...document.querySelectorAll(selector)]
      .slice(0, mostLookedAt)
      .some(
        element =>
          element.checkVisibility({ visibilityProperty: true }) &&
          element.getClientRects().length > 0,
      )
  } catch {
    return false
  }
}

/** Has somebody look again: at a time, and when the page has changed, twice a second at most. */
export function createReminder(page: Window, look: () => void) {
  let alarm: number | undefined
  let gathering: number | undefined
  const observer = new MutationObserver(() => {
    // One change is as good as a thousand: the page pays for no more until it is looked at.
    observer.disconnect()
    gathering = page.setTimeout(look, gatherMs)
  })
  return {
    /** @param ms infinity for never */
    in(ms: number) {
      page.clearTimeout(alarm)
      if (ms < Number.POSITIVE_INFINITY) {
        alarm = page.setTimeout(look, Math.min(Math.ceil(ms) + 1, longestMs))
      }
    },
    atChange(is: boolean) {
      observer.disconnect()
      page.clearTimeout(gathering)
      if (is) observer.observe(page.document, { childList: true, subtree: true, attributes: true })
    },
  }
}
