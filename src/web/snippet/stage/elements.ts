import { folded } from '../../../core/text/text-hash.ts'

/** Finds elements on a page, and tells what is visible, open shadow roots included. */

type Tree = Document | ShadowRoot

/** The document, and every open shadow root in it, in document order. */
function* treesOf(root: Tree): Generator<Tree> {
  yield root
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot && !element.hasAttribute(ownHostAttribute)) {
      yield* treesOf(element.shadowRoot)
    }
  }
}

/** Marks what the snippet itself has put on the page: never a step's target. */
export const ownHostAttribute = 'data-cairn'

/** Every element that a selector matches, in all trees; none if it is not a valid selector. */
export function matching(document: Document, selector: string): Element[] {
  try {
    const found = [...treesOf(document)].flatMap(tree => [...tree.querySelectorAll(selector)])
    return found.filter(element => !element.closest(`[${ownHostAttribute}]`))
  } catch {
    return []
  }
}

/** What an element says, as people read it; never what was typed into it. */
export const textOf = (element: Element): string => folded(element.textContent ?? '')

/** The element that another one is rendered in, slots and shadow roots included. */
export const around = (element: Element): Element | null =>
  element.assignedSlot ??
  element.parentElement ??
  (element.getRootNode() as ShadowRoot).host ??
  null

/** The element that has the focus, in open shadow roots too. */
export function focusedIn(document: Document): Element | null {
  let at = document.activeElement
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  return at
}

/** Whether it takes up room on the page, at a place that can be scrolled to, and no style hides it. */
export function isVisible(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false
  const { width, height } = element.getBoundingClientRect()
  return width > 0 && height > 0 && isReachable(element)
}

/** Whether some of it lies in the window. */
function isInWindow(element: Element, { innerWidth, innerHeight }: Window): boolean {
  const { left, top, right, bottom } = element.getBoundingClientRect()
  return right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
}

/** False for what was pushed out of the window, such as the entries of a drawer that is closed. */
function isReachable(element: Element): boolean {
  const page = element.ownerDocument.defaultView as Window
  if (isInWindow(element, page)) return true
  const { body, documentElement } = page.document
  for (let at: Element | null = element; at && at !== body; at = around(at)) {
    const { position, overflowX, overflowY } = page.getComputedStyle(at)
    if (position === 'fixed') return isInWindow(at, page)
    if (at !== element && /auto|scroll|hidden/.test(overflowX + overflowY)) return true
  }
  // A page scrolls on from where it begins, never to what lies before that.
  const { right, bottom } = element.getBoundingClientRect()
  const isRtl = page.getComputedStyle(documentElement).direction === 'rtl'
  return bottom + page.scrollY > 0 && (isRtl || right + page.scrollX > 0)
}
