/** How long changes of a page are collected before it is looked at again, milliseconds. */
const gatherMs = 500
/** The longest delay that a timer takes. */
const maxMs = 2 ** 31 - 1
/** If a selector matches very many elements, only this many of the first are looked at. */
const maxLookedAt = 50

/** Whether the page shows an element that a selector matches: it takes up room, and no style hides it. */
export function sees(document: Document, selector: string): boolean {
  try {
    return [...document.querySelectorAll(selector)]
      .slice(0, maxLookedAt)
      .some(
        element =>
          element.checkVisibility({ visibilityProperty: true }) &&
          element.getClientRects().length > 0,
      )
  } catch {
    return false
  }
}

/** Calls `look` again at a time, and when the page has changed, at most twice a second. */
export function createReminder(page: Window, look: () => void) {
  let alarm: number | undefined
  let gathering: number | undefined
  const observer = new MutationObserver(() => {
    // One change is as good as a thousand, so the page pays for no more of them until it is looked at.
    observer.disconnect()
    gathering = page.setTimeout(look, gatherMs)
  })
  return {
    /** @param ms infinity for never */
    in(ms: number) {
      page.clearTimeout(alarm)
      if (ms < Number.POSITIVE_INFINITY) {
        alarm = page.setTimeout(look, Math.min(Math.ceil(ms) + 1, maxMs))
      }
    },
    atChange(is: boolean) {
      observer.disconnect()
      page.clearTimeout(gathering)
      if (is) observer.observe(page.document, { childList: true, subtree: true, attributes: true })
    },
  }
}
