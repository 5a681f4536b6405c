import { quietly, safely } from '../safely.ts'
import { around } from './elements.ts'

/** Where along an edge to look for what stays there when the page scrolls, as shares of the window's width. */
const lookedAt = [0.05, 0.5, 0.95]

/** How often it is checked whether the page has drawn a header anew, milliseconds. */
const lookMs = 250

type Edge = 'top' | 'bottom'

/** A style of an element that was changed. */
interface Change {
  element: HTMLElement
  name: string
  /** The element's own value before, and its priority. */
  was: readonly [value: string, priority: string]
  hadStyle: boolean
  /** What stands there now, as the browser writes it. */
  now: string
}

/**
 * Makes room in the page for a bar at an edge, as high as the bar: the page begins below it, or ends above
 * it, and so does what stays at that edge while the page scrolls, such as a header. Style sheets may still
 * be on their way, so it is made anew when the page has loaded, and whenever the page has drawn anew what
 * stays at that edge. On paper, where there is no bar, there is no room either.
 *
 * @returns a function that leaves the page as it was
 */
export function makeRoom(bar: HTMLElement, edge: Edge, page: Window): () => void {
  let room = makeRoomNow(bar, edge, page)
  const again = () => {
    room.leave()
    room = makeRoomNow(bar, edge, page)
  }
  const look = () => room.isTaken() && again()
  const looking = page.setInterval(() => safely(look), lookMs)
  if (page.document.readyState !== 'complete') page.addEventListener('load', again, { once: true })
  return () => {
    page.clearInterval(looking)
    page.removeEventListener('load', again)
    room.leave()
  }
}

function makeRoomNow(bar: HTMLElement, edge: Edge, page: Window) {
  const { documentElement } = page.document
  let changes: Change[] = []

  const set = (element: HTMLElement, name: string, value: string) => {
    const { style } = element
    let change = changes.find(one => one.element === element && one.name === name)
    if (!change) {
      const was = [style.getPropertyValue(name), style.getPropertyPriority(name)] as const
      change = { element, name, was, hadStyle: element.hasAttribute('style'), now: '' }
      changes.push(change)
    }
    style.setProperty(name, value, 'important')
    change.now = style.getPropertyValue(name)
  }

  const pixels = (element: Element, name: string) =>
    Number.parseFloat(page.getComputedStyle(element).getPropertyValue(name)) || 0
  const margin = pixels(documentElement, `margin-${edge}`)
  const scroll = pixels(documentElement, `scroll-padding-${edge}`)
  const fixed = fixedAt(edge, bar, page).map(element => ({ element, at: pixels(element, edge) }))

  const place = () => {
    const { height } = bar.getBoundingClientRect()
    if (!(height > 0)) return undo()
    set(documentElement, `margin-${edge}`, `${margin + height}px`)
    set(documentElement, `scroll-padding-${edge}`, `${scroll + height}px`)
    for (const { element, at } of fixed) set(element, edge, `${at + height}px`)
  }
  const isOurs = ({ element, name, now }: Change) => element.style.getPropertyValue(name) === now
  const undo = () => {
    for (const change of changes.reverse()) {
      const { element, name, was, hadStyle } = change
      // A value that the page has written since then is its own.
      if (!isOurs(change)) continue
      element.style.removeProperty(name)
      if (was[0] !== '') element.style.setProperty(name, ...was)
      if (!hadStyle && element.getAttribute('style') === '') element.removeAttribute('style')
    }
    changes = []
  }
  place()
  const observer = new ResizeObserver(quietly(async () => place()))
  observer.observe(bar)
  // The page is laid out for paper before the observer could tell.
  page.addEventListener('beforeprint', undo)
  page.addEventListener('afterprint', place)

  return {
    /** Whether something stands there that has not been moved. */
    isTaken: () =>
      changes.length > 0 &&
      fixedAt(edge, bar, page).some(
        element => !changes.some(change => change.element === element && isOurs(change)),
      ),
    leave() {
      observer.disconnect()
      page.removeEventListener('beforeprint', undo)
      page.removeEventListener('afterprint', place)
      undo()
    },
  }
}

/** The page's own elements that stay at an edge while the page scrolls. */
function fixedAt(edge: Edge, bar: HTMLElement, page: Window): HTMLElement[] {
  const { document, innerWidth, innerHeight } = page
  const y = edge === 'top' ? 1 : innerHeight - 2
  const found = new Set<HTMLElement>()
  const own = (bar.getRootNode() as ShadowRoot).host
  for (const part of lookedAt) {
    for (const hit of document.elementsFromPoint(innerWidth * part, y)) {
      if (hit === own) continue
      for (let at: Element | null = hit; at; at = around(at)) {
        const style = page.getComputedStyle(at)
        const isHeld = style.position === 'fixed' || style.position === 'sticky'
        const { width, height } = at.getBoundingClientRect()
        // An element that fills the window would be moved out of it.
        const fills = width > innerWidth * 0.9 && height > innerHeight * 0.9
        if (isHeld && !fills) found.add(at as HTMLElement)
      }
    }
  }
  return [...found]
}
