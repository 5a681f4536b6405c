import {
  arrow,
  autoUpdate,
  computePosition,
  flip,
  getOverflowAncestors,
  offset,
  type Placement,
  shift,
  size,
} from '@floating-ui/dom'
import type { Step } from '../parts.ts'
import { quietly } from '../safely.ts'
import { around } from './elements.ts'

/** Between an element and what points at it, and least distance from the window's edge, pixels. */
const gap = 14
const margin = 8
/** A card gets this high, though it may cover the element then; more than there is room for scrolls. */
const leastRoom = 120

const placementOf = ({ side, align }: Step['placement']): Placement =>
  align === 'center' ? side : `${side}-${align}`

/** On which of its edges a card has its arrow, and how the arrow, a square's upper left half, is turned. */
const edges = {
  top: { edge: 'bottom', turn: 225 },
  right: { edge: 'left', turn: 315 },
  bottom: { edge: 'top', turn: 45 },
  left: { edge: 'right', turn: 135 },
} as const

/** What has been taken off the page has no place: what points at it stays until it is followed. */
function follow(element: Element, floating: HTMLElement, place: () => unknown): () => void {
  const update = async () => {
    if (element.isConnected) await place()
  }
  return autoUpdate(element, floating, quietly(update))
}

/** Keeps a card beside an element wherever that goes. Returns a function that ends it. */
export function placeBeside(
  element: Element,
  card: HTMLElement,
  pointer: HTMLElement | null,
  placement: Step['placement'],
): () => void {
  const place = async () => {
    const position = await computePosition(element, card, {
      strategy: 'fixed',
      placement: placementOf(placement),
      middleware: [
        offset(gap),
        flip({ padding: margin, fallbackAxisSideDirection: 'start' }),
        size({
          padding: margin,
          apply({ availableHeight }) {
            const room = Math.max(Math.floor(availableHeight), leastRoom)
            card.style.setProperty('--room', `${room}px`)
          },
        }),
        shift({ padding: margin, crossAxis: true }),
        ...(pointer ? [arrow({ element: pointer, padding: 12 })] : []),
      ],
    })
    Object.assign(card.style, { left: `${position.x}px`, top: `${position.y}px` })
    if (!pointer) return
    const side = position.placement.split('-')[0] as keyof typeof edges
    const { x, y } = position.middlewareData.arrow ?? {}
    const { edge, turn } = edges[side]
    Object.assign(pointer.style, {
      left: x === undefined ? '' : `${x}px`,
      top: y === undefined ? '' : `${y}px`,
      right: '',
      bottom: '',
      // Half of it, and the border that it covers.
      [edge]: '-7px',
      transform: `rotate(${turn}deg)`,
    })
  }
  return follow(element, card, place)
}

/** Keeps a frame around an element. */
export function placeAround(element: Element, frame: HTMLElement): () => void {
  return follow(element, frame, () => {
    const { left, top, width, height } = element.getBoundingClientRect()
    Object.assign(frame.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
      height: `${height}px`,
    })
  })
}

/** Keeps a dot on an element's corner, at the end of its first line. */
export function placeOnCorner(element: Element, dot: HTMLElement): () => void {
  return follow(element, dot, async () => {
    const { x, y } = await computePosition(element, dot, {
      strategy: 'fixed',
      placement: 'top-end',
      middleware: [
        offset(({ rects }) => ({
          mainAxis: -rects.floating.height / 2,
          alignmentAxis: -rects.floating.width / 2,
        })),
        shift({ padding: margin }),
      ],
    })
    Object.assign(dot.style, { left: `${x}px`, top: `${y}px` })
  })
}

/** Whether something that stays where it is when the page scrolls lies over it, such as a header. */
function isUnderFixed(element: Element, page: Window): boolean {
  const { top, left, width, height } = element.getBoundingClientRect()
  const root = element.getRootNode() as Document | ShadowRoot
  return [0.1, 0.5, 0.9].some(part => {
    let hit = root.elementFromPoint(left + width / 2, top + height * part)
    if (!hit || element.contains(hit)) return false
    for (; hit && !hit.contains(element); hit = around(hit)) {
      const { position } = page.getComputedStyle(hit)
      if (position === 'fixed' || position === 'sticky') return true
    }
    return false
  })
}

/** Scrolls an element into sight where the window, what it scrolls in, or a header hides some of it. */
export function bringIntoView(element: Element, page: Window): void {
  const { top, left, bottom, right } = element.getBoundingClientRect()
  const window = { top: 0, left: 0, bottom: page.innerHeight, right: page.innerWidth }
  const { Element } = page as Window & typeof globalThis
  const scrolled = getOverflowAncestors(element).filter(one => one instanceof Element)
  const isSeen = [window, ...scrolled.map(one => one.getBoundingClientRect())].every(
    of => top >= of.top && left >= of.left && bottom <= of.bottom && right <= of.right,
  )
  if (isSeen && !isUnderFixed(element, page)) return
  const isCalm = page.matchMedia('(prefers-reduced-motion: reduce)').matches
  element.scrollIntoView({
    block: 'center',
    inline: 'nearest',
    behavior: isCalm ? 'auto' : 'smooth',
  })
}
