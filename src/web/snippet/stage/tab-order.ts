import { safely } from '../safely.ts'
import { around, contains, focusedIn } from './elements.ts'
import type { Opened } from './opened.ts'
import { hasInnerStops, isOutOfOrder, tabbableIn } from './tabbable.ts'

/** What happens to the page around the element of a step. */
export type Spotlight = 'off' | 'dim' | 'block'

/** What a card stands beside. */
export interface Beside {
  element(): Element | null
  /** What that has opened. */
  opened: Opened
  spotlight: Spotlight
}

/** From a blocked page the focus is brought back this often between two keys: the page may insist on it. */
const maxReturns = 3

/** Whether Cairn lies over an element, so that it cannot be pressed. */
function isCovered(element: Element, host: Element): boolean {
  const { left, top, width, height } = element.getBoundingClientRect()
  const hit = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2)
  return hit === null || hit === host
}

/**
 * Leads Tab from a card to the controls of the element that it stands beside, and back.
 *
 * If the page is dimmed or blocked, Tab goes round in the two. Otherwise it goes on through the page, and
 * whoever comes to the card through the page leaves it through the page: else Tab would go in circles there,
 * too. Beside no element, it goes round in the card.
 */
export function leadTab(card: HTMLElement, beside: Beside | null, page: Window) {
  const { document } = page
  const { host } = card.getRootNode() as ShadowRoot
  const { spotlight = 'dim' } = beside ?? {}
  /** The element, and what it has opened, which may be elsewhere on the page. */
  const elements = () => {
    const at = beside?.element()
    return at ? [at, ...beside!.opened.elements()] : []
  }
  const isBlocked = spotlight === 'block'
  let last: Element = card
  let direction = 1
  /** Whether the browser is moving the focus because of Tab. */
  let isTabbing = false
  /** Whether the person uses the mouse, or a finger. */
  let isPointing = false
  let cameThroughPage = false
  /** Whether Tab has led from the card to the element. */
  let hasCrossed = false
  let returns = 0
  /** Tab in the element, which the page may yet keep there. */
  let pressed: { event: Event; from: Element } | null = null

  const zoneOf = (one: Element | null) =>
    isOurs(one) ? 'card' : isTheirs(one) ? 'element' : 'page'
  const own = () => tabbableIn(card)
  const theirs = () => elements().flatMap(tabbableIn)
  const isOwn = (one: Element | null) => card.contains(one)
  const isOurs = (one: Element | null) => card.getRootNode().contains(one)
  const isTheirs = (one: Element | null | undefined): boolean => {
    const own = elements()
    for (let at = one; at && at !== host; at = around(at)) if (own.includes(at)) return true
    return false
  }

  let zone = zoneOf(focusedIn(document))

  /** Gives the first that takes it the focus, as Tab does. */
  const focusFirst = (elements: readonly HTMLElement[]) => {
    isTabbing = false
    for (const one of elements) {
      last = one
      one.focus()
      if (one.localName === 'input') (one as HTMLInputElement).select()
      if (focusedIn(document) === one) return
    }
  }

  /** Where Tab goes from an element: to the first of these that takes the focus, or where the browser says. */
  const round = (now: Element | null): HTMLElement[] | null => {
    const inCard = own()
    const ring = [...inCard, ...theirs()]
    const at = ring.indexOf(now as HTMLElement)
    if (at < 0 && !isOwn(now)) {
      const isLost = now === document.body && !last.isConnected
      const isOutside = isBlocked && (now === null || now === document.body || isCovered(now, host))
      if (isTheirs(now) || !(isLost || isOutside)) return null
    }
    const next = at < 0 && direction < 0 ? ring.length - 1 : at + direction
    // Between the controls of one element the browser knows the way best.
    const isWithinOne = (one: Element) => contains(one, ring[at]!) && contains(one, ring[next]!)
    const isInOrder =
      next >= inCard.length &&
      next < ring.length &&
      elements().some(isWithinOne) &&
      !isOutOfOrder(ring[next]!)
    if (at >= inCard.length) {
      if (hasInnerStops(ring[at]!) || (isInOrder && !isOutOfOrder(ring[at]!))) return null
    }
    return ring.map((_, i) => ring.at((next + i * direction) % ring.length)!)
  }
  const through = (now: Element | null): HTMLElement[] | null => {
    if (direction > 0 && !cameThroughPage && now === own().at(-1)) {
      hasCrossed = true
      return theirs()
    }
    return direction < 0 && hasCrossed && now === theirs()[0] ? own().reverse() : null
  }
  const next = spotlight === 'off' ? through : round

  const bringBack = () => {
    const now = focusedIn(document)
    if (!card.isConnected || now === null || now === document.body || zoneOf(now) !== 'page') return
    if (!isCovered(now, host) || returns++ >= maxReturns) return
    const back = (last.isConnected ? last : card) as HTMLElement
    back.focus({ preventScroll: true })
  }
  const moved = (event: Event) => {
    const now = event.composedPath()[0] as Element
    const before = zone
    zone = zoneOf(now)
    if (zone === 'card' && before !== 'card') cameThroughPage = isTabbing
    if (zone !== 'element') hasCrossed = false
    if (zone !== 'page') {
      last = now
      isTabbing = false
      return
    }
    if (spotlight === 'off') return
    const hasLeft = before !== 'page' && !isPointing && (isTabbing || hasInnerStops(last))
    if (hasLeft) focusFirst(direction > 0 ? own() : own().reverse())
    // In the next frame, because a page may move the focus on from there.
    else if (isBlocked) page.requestAnimationFrame(() => safely(bringBack))
  }
  /** A dialog of the page keeps Tab in itself, and knows nothing of the card in it. */
  const leaveTrap = () => {
    if (!pressed?.event.defaultPrevented) return
    const { from } = pressed
    const now = focusedIn(document)
    if (now !== from && !isOurs(now)) focusFirst(round(from) ?? [])
  }
  const acted = (event: Event) => {
    const { key, shiftKey } = event as KeyboardEvent
    isPointing = event.type === 'pointerdown'
    isTabbing = key === 'Tab'
    returns = 0
    pressed = null
    if (!isTabbing) return
    direction = shiftKey ? -1 : 1
    const now = focusedIn(document)
    zone = zoneOf(now)
    if (now === null || zone !== 'element') return
    pressed = { event, from: now }
    page.setTimeout(() => safely(leaveTrap))
  }
  const listeners = { focusin: moved, pointerdown: acted, keydown: acted } as const
  for (const [name, listen] of Object.entries(listeners)) {
    page.addEventListener(name, listen as EventListener, true)
  }
  // The window gets no event for moves from one control of the card to another.
  card.addEventListener('focusin', moved)

  return {
    /** To be called when Tab is pressed. */
    press(event: KeyboardEvent): void {
      direction = event.shiftKey ? -1 : 1
      isTabbing = true
      const to = next(focusedIn(document))
      if (!to?.length) return
      pressed = null
      event.preventDefault()
      focusFirst(to)
    },
    end(): void {
      for (const [name, listen] of Object.entries(listeners)) {
        page.removeEventListener(name, listen as EventListener, true)
      }
    },
  }
}
