/** A smaller frame, pixels, is not for people. */
const minSize = 10
/** How often it is checked whether a frame is hidden, milliseconds. */
const checkMs = 500
/** The least delay with which a browser tells whether a frame is visible, milliseconds. */
const delay = 100

const isLarge = (width: number, height: number) => Math.min(width, height) >= minSize

/** Whether no style hides the frames that a page is in, as far as their pages are of its own origin. */
export function isFrameShown(page: Window): boolean {
  for (let at = page; at.frameElement; at = at.parent) {
    const { right, bottom, width, height } = at.frameElement.getBoundingClientRect()
    const properties = { visibilityProperty: true, opacityProperty: true }
    if (!at.frameElement.checkVisibility(properties) || !isLarge(width, height)) return false
    // Moved where nobody can scroll to.
    if (Math.min(right + at.parent.scrollX, bottom + at.parent.scrollY) <= 0) return false
  }
  return true
}

/**
 * Tells whether people can see a page that is in a frame, as soon as they can, and then whenever that
 * changes. Applications load themselves in hidden frames, for instance to renew a token. A frame that was
 * seen may be scrolled out of sight.
 */
export function watchFrame(page: Window, changed: (isSeen: boolean) => void): void {
  // Of a frame in another origin's page, some browsers tell whether anything hides or covers it.
  const isForeign = page.frameElement === null
  let wasInView = false
  let isSeen = false
  const check = () => {
    const was = isSeen
    isSeen = wasInView && isFrameShown(page) && isLarge(page.innerWidth, page.innerHeight)
    if (was !== isSeen) changed(isSeen)
  }
  const enter = () => {
    observer.disconnect()
    wasInView = true
    check()
  }
  const observer = new IntersectionObserver(
    entries => {
      for (const { isIntersecting, isVisible } of entries as (IntersectionObserverEntry & {
        isVisible?: boolean
      })[]) {
        if (isIntersecting && !(isForeign && isVisible === false)) enter()
      }
    },
    { trackVisibility: isForeign, delay } as IntersectionObserverInit,
  )
  observer.observe(page.document.documentElement)
  // What is covered in part can be used all the same.
  for (const name of ['pointermove', 'keydown']) page.addEventListener(name, enter, { once: true })
  page.setInterval(check, checkMs)
}
