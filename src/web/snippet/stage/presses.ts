import { safely } from '../safely.ts'

/** A click comes within this time of the release that makes it, milliseconds. */
const clickMs = 500
/** In this time a page says that an arrow key has opened something, milliseconds. */
const openMs = 100
/** A press that has moved no further than this was not dragged away, pixels. */
const slopPx = 10

/** Keys with which people press, or open, what has the focus. */
const keys = new Set(['Enter', ' ', 'ArrowDown', 'ArrowUp'])
/** Elements that the browser itself clicks, or plays, on Enter or Space. */
const clickedByKeys = 'button, a[href], area[href], input, summary, audio, video'
/** Elements that an arrow key opens, if the page says so by keeping the browser from its own answer. */
const openedByArrows =
  'button:not([role]), a:not([role]), summary, [role=button], [role=combobox], [aria-haspopup]:not([role^=menuitem])'
const textFields =
  'textarea, input:not([type=button], [type=submit], [type=reset], [type=image], [type=checkbox], [type=radio], [type=color], [type=file], [type=range])'
const disabled = ':disabled, [aria-disabled=true]'

/** A press that has begun on an element, and not counted yet. */
interface Press {
  id: number
  /** Where it began, and what was pressed. */
  x: number
  y: number
  boxes: DOMRect[]
  isReleased: boolean
}

/**
 * Waits for people to press elements, with the mouse, a finger, a pen or the keyboard. Usually that is a
 * click. But what acts on the press itself (a menu that opens when the mouse goes down) may cover or replace
 * the element, or prevent the key. Then the click goes to another element, or does not come.
 */
export function createPresses(page: Window) {
  let press: Press | null = null
  /** Whether the press that is going on has counted, or was dragged away: nothing that follows from it counts. */
  let isOver = false
  let forgetting: number | undefined

  const endPress = () => {
    press = null
    isOver = true
    page.clearTimeout(forgetting)
    forgetting = page.setTimeout(() => {
      isOver = false
    }, clickMs)
  }
  const beginPress = () => {
    press = null
    isOver = false
    page.clearTimeout(forgetting)
  }

  /**
   * @param element what matches at the moment
   * @param pressed called before the page's own listeners if it is a click, because one of them may stop the
   *   event or leave the page
   */
  return (element: () => Element, pressed: () => void, signal: AbortSignal): void => {
    const count = () => {
      endPress()
      pressed()
    }
    /** The elements that an event is for, if the awaited one is among them and can be used. */
    const hitBy = (event: Event): Element[] | null => {
      const path = event.composedPath().filter(one => (one as Node).nodeType === 1) as Element[]
      const isMeant = path.includes(element()) && !path.some(one => one.matches(disabled))
      return isMeant ? path : null
    }
    const on = <Name extends keyof WindowEventMap>(
      name: Name,
      listen: (event: WindowEventMap[Name]) => void,
    ) =>
      page.addEventListener(name, event => safely(() => listen(event)), { capture: true, signal })
    /** Once the page has handled what is going on. */
    const afterwards = (work: () => void, ms = 0) =>
      page.setTimeout(() => safely(() => !signal.aborted && work()), ms)

    on('pointerdown', event => {
      if (press?.isReleased) return count()
      beginPress()
      const path = event.isPrimary && event.button === 0 ? hitBy(event) : null
      if (!path) return
      const boxes = [path[0]!, element()].map(one => one.getBoundingClientRect())
      press = { id: event.pointerId, x: event.x, y: event.y, boxes, isReleased: false }
    })
    on('pointerup', event => {
      const released = press
      if (released?.id !== event.pointerId) return
      const { x, y, pointerType } = event
      const isNear = Math.hypot(x - released.x, y - released.y) <= slopPx
      const isMouse = pointerType === 'mouse'
      if (isNear || (isMouse && released.boxes.some(box => isIn(box, x, y)))) {
        released.isReleased = true
        afterwards(() => press === released && count(), clickMs)
      } else if (isMouse) endPress()
      else press = null
    })
    const cancel = () => {
      press = null
    }
    // A finger that scrolls, a drag, or a long press that opens a menu of the browser.
    on('pointercancel', cancel)
    on('contextmenu', cancel)
    on('click', event => {
      if (!isOver && (press?.isReleased || hitBy(event))) count()
    })
    on('pagehide', () => press && count())

    /** The key that went down on the element. */
    let down: string | null = null
    on('keydown', event => {
      // A key that is held down makes one click after the other.
      if (event.repeat) endPress()
      else beginPress()
      down = null
      const { key, ctrlKey, metaKey, isComposing } = event
      if (event.repeat || !keys.has(key) || ctrlKey || metaKey || isComposing) return
      const from = hitBy(event)?.[0] as HTMLElement | undefined
      if (!from) return
      down = key
      const wasOpen = isOpen(from)
      const ms = key.startsWith('Arrow') ? openMs : 0
      afterwards(() => actsOn(event, from, wasOpen) && count(), ms)
    })
    on('keyup', event => {
      const { key } = event
      if (key !== down || key.startsWith('Arrow')) return
      down = null
      afterwards(() => event.defaultPrevented && count())
    })
  }
}

const isIn = ({ left, top, right, bottom }: DOMRect, x: number, y: number) =>
  x >= left && x <= right && y >= top && y <= bottom

const isOpen = (element: Element) => element.getAttribute('aria-expanded') === 'true'

/** Whether an element was pressed by a key, in another way than by the click that the browser makes of it. */
function actsOn(event: KeyboardEvent, from: HTMLElement, wasOpen: boolean): boolean {
  const { key, defaultPrevented } = event
  const isField = from.matches(textFields) || from.isContentEditable
  if (key.startsWith('Arrow') && from.hasAttribute('aria-expanded')) return isOpen(from) && !wasOpen
  if (isField) return false
  if (!from.isConnected || from.matches('select')) return true
  if (key.startsWith('Arrow')) return defaultPrevented && from.matches(openedByArrows)
  // Space scrolls where it means nothing.
  const isForKey = key === 'Enter' || from.hasAttribute('role')
  return defaultPrevented || (isForKey && !from.matches(clickedByKeys))
}
