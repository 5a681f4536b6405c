import { around } from './elements.ts'

/** Where on a page something can be seen and used: in its dialogs, menus, and what fills the screen. */

/** Matches what keeps the keyboard and the mouse to itself, or is drawn above the page. */
const dialogs = 'dialog[open], :popover-open, [aria-modal=true], [role=dialog], [role=alertdialog]'
/** Matches what closes when something outside of it is pressed. */
const menus = '[role=menu], [role=listbox], details[open]'
/** Matches what the page has disabled. */
const disabled = '[inert], [aria-hidden=true]'
const controls = 'a, button, input, select, textarea, summary, label, option'
/** Matches what shows none of its children. */
const replaced = 'img, video, audio, canvas, iframe, embed, object, svg, svg *'

/** An element and what it is rendered in, up to the body. */
function* outwards(element: Element | null): Generator<Element> {
  for (let at = element; at && at.localName !== 'body'; at = around(at)) yield at
}

const isWithin = (element: Element | null, outer: Element): boolean =>
  [...outwards(element)].includes(outer)

const isDisabled = (element: Element): boolean =>
  [...outwards(element)].some(at => at.matches(disabled))

/** Whether it is drawn in the window; what has no size may contain something that has. */
function isShown(element: Element, { innerWidth, innerHeight }: Window): boolean {
  if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false
  const { left, top, right, bottom, width, height } = element.getBoundingClientRect()
  if (width === 0 || height === 0) return true
  return right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
}

/** The element that fills the screen, in open shadow roots too; null if the document does. */
function fullScreenIn({ document }: Window): Element | null {
  let at = document.fullscreenElement
  while (at?.shadowRoot?.fullscreenElement) at = at.shadowRoot.fullscreenElement
  return at === document.documentElement || at === document.body ? null : at
}

/** What is at a point, from the front to the back, without what a modal dialog blocks. */
function* hitsAt(tree: Document | ShadowRoot, x: number, y: number): Generator<Element> {
  for (const hit of tree.elementsFromPoint(x, y)) {
    if (hit.shadowRoot && hit.getRootNode() === tree) yield* hitsAt(hit.shadowRoot, x, y)
    yield hit
  }
}

/** The modal dialog on top, be it the page's or the snippet's. Its backdrop is at every point. */
function modalIn({ document }: Window): Element | null {
  const modals = document.querySelectorAll('dialog:modal')
  for (const hit of hitsAt(document, 1, 1)) if (hit.matches('dialog:modal')) return hit
  return modals[modals.length - 1] ?? null
}

/** The last of the open dialogs that say that all the rest is disabled. */
function dialogIn(page: Window): Element | undefined {
  const all = [...page.document.querySelectorAll('[aria-modal=true]')]
  return all.findLast(one => isShown(one, page) && !isDisabled(one))
}

/**
 * Whether it is above the page by its position alone. Until somebody has used the page, what is as wide or
 * as high as the window is a part of it, such as a sidebar, which a script may still be taking over.
 */
function isPositioned(element: Element, page: Window): boolean {
  const { position } = page.getComputedStyle(element)
  if (position !== 'absolute' && position !== 'fixed') return false
  const { width, height } = element.getBoundingClientRect()
  const isSmall = width < page.innerWidth && height < page.innerHeight
  return isSmall || page.navigator.userActivation?.hasBeenActive
}

/** The layer that an element is in; null if it is in none. */
function layerOf(
  element: Element | null,
  page: Window,
  isAllowed: (layer: Element) => boolean,
): Element | null {
  let positioned: Element | null = null
  for (const at of outwards(element)) {
    if (at.matches(dialogs)) return positioned ?? at
    // What is in a button would be pressed along with it.
    if (at.matches(controls)) positioned = null
    if (at.matches(controls) || at.matches(replaced) || !isAllowed(at)) continue
    if (at.matches(menus)) return positioned ?? at
    if (!positioned && isPositioned(at, page)) positioned = at
  }
  return positioned
}

export interface Placement {
  layer: Element
  /** What is above all else and blocks it; null if nothing is. */
  top: Element | null
  /** Whether the element that is pointed at can be used. */
  isReached: boolean
  /** Whether the screen is filled by something that can show nothing else, such as a video. */
  isCovered: boolean
}

/**
 * Where what points at an element has to be: in the element's own layer. If the page has disabled that, or
 * nothing is pointed at: in the layer that can be used.
 *
 * @param lastFocused what has, or had, the focus: where nothing is pointed at, it tells where people are
 * @param isAllowed whether a layer other than a dialog may be used
 */
export function placementOf(
  element: Element | null,
  lastFocused: Element | null,
  page: Window,
  isAllowed: (layer: Element) => boolean,
): Placement {
  const { body } = page.document
  const own = layerOf(element && !isDisabled(element) ? element : lastFocused, page, isAllowed)
  const full = fullScreenIn(page)
  const modal = modalIn(page)
  const top = modal && !(full && isWithin(full, modal)) ? modal : full
  const isCovered = top?.matches(replaced) ?? false
  const isUsed = own !== null && !isDisabled(own) && isShown(own, page)
  let layer = isUsed ? own : (dialogIn(page) ?? body)
  if (top && !isCovered && !isWithin(own, top)) layer = top
  const isReached = !element || layer === body || isWithin(element, layer)
  return { layer, top, isReached, isCovered }
}
