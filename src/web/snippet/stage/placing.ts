import {
  arrow,
  autoUpdate,
  type ComputePositionReturn,
  computePosition,
  flip,
  offset,
  type Placement,
  shift,
  size,
} from '@floating-ui/dom'
import type { Step } from '../parts.ts'
import { quietly, safely } from '../safely.ts'
import type { Opened } from './opened.ts'
import { anchorOf, boxOf } from './visibility.ts'

/** The distance between an element and what points at it, and the least from the window's edge, pixels. */
const gap = 18
const margin = 8
/** What a card shows of its text at least, with the space around it, pixels: three lines. */
const minText = 100

/** How high a card may get even if it then covers its element. What there is no room for scrolls. */
function minRoomOf(card: HTMLElement, page: Window): number {
  const whole = [...card.querySelectorAll<HTMLElement>('h2, .heading, .foot')]
  const height = whole.reduce((sum, { offsetHeight }) => sum + offsetHeight, minText)
  return Math.min(height, page.innerHeight - 2 * margin)
}

const placementOf = ({ side, align }: Step['placement']): Placement =>
  align === 'center' ? side : `${side}-${align}`

/** The edge at which a card has its arrow, and how the arrow, a square's upper left half, is turned. */
const edges = {
  top: { edge: 'bottom', turn: 225 },
  right: { edge: 'left', turn: 315 },
  bottom: { edge: 'top', turn: 45 },
  left: { edge: 'right', turn: 135 },
} as const

/** Where something is in the window, pixels. */
export type Box = Readonly<Record<'left' | 'top' | 'width' | 'height', number>>

/**
 * Moves what stands in the window's corner to another place. This way of moving shifts nothing in the
 * page's layout. Positions are rounded, because letters between two pixels would be blurred.
 */
export function moveTo(floating: HTMLElement, x: number, y: number): void {
  const { devicePixelRatio = 1 } = floating.ownerDocument.defaultView as Window
  const [left, top] = [x, y].map(at => Math.round(at * devicePixelRatio) / devicePixelRatio)
  floating.style.translate = `${left}px ${top}px`
}

/** What has not moved for this many frames stands still. */
const stillFrames = 12

/**
 * Places something beside an element wherever that goes: whenever the element itself, the page or the
 * window may have moved it, and from then on in every frame, until it stands still. An element that is
 * hidden, or was taken off the page, has no place: what points at it stays where it is.
 *
 * @param place returns true while it has to be called again in the next frame
 * @param opened what the element has opened, which is followed too
 */
export function follow(
  element: Element,
  floating: HTMLElement,
  place: () => unknown,
  opened?: Opened,
): () => void {
  const page = element.ownerDocument.defaultView as Window
  let frame = 0
  let still = 0
  let isDue = true
  let last = ''
  const look = () => {
    frame = 0
    const box = boxOf(element)
    if (!element.isConnected || (box.width === 0 && box.height === 0)) return
    const boxes = [box, ...(opened?.boxes() ?? [])]
    const now = boxes.map(({ left, top, right, bottom }) => [left, top, right, bottom]).join()
    const hasMoved = now !== last
    last = now
    isDue = (hasMoved || isDue) && place() === true
    still = hasMoved || isDue || boxes.length > 1 ? 0 : still + 1
    if (still < stillFrames) frame = page.requestAnimationFrame(() => safely(look))
  }
  const wake = () => {
    isDue = true
    still = 0
    page.cancelAnimationFrame(frame)
    safely(look)
  }
  const end = autoUpdate(anchorOf(element), floating, wake)
  opened?.onChange(wake)
  return () => {
    end()
    page.cancelAnimationFrame(frame)
  }
}

/** How far from an element, pixels, what it has opened is beside it. */
const beside = 24

/** The box of an element and of what it has opened beside itself, which a card must not cover either. */
function wholeBoxOf(element: Element, opened?: Opened): DOMRect {
  let { left, top, right, bottom } = boxOf(element)
  for (const box of opened?.boxes() ?? []) {
    const isAway =
      box.left > right + beside ||
      box.right < left - beside ||
      box.top > bottom + beside ||
      box.bottom < top - beside
    if (isAway) continue
    left = Math.min(left, box.left)
    top = Math.min(top, box.top)
    right = Math.max(right, box.right)
    bottom = Math.max(bottom, box.bottom)
  }
  return new DOMRect(left, top, right - left, bottom - top)
}

/** A sheet may always be this high, as a share of the window, whatever it covers. */
const maxCovered = 0.4
/** In a window this narrow, pixels, a card that would cover its element becomes a sheet at an edge. */
const narrow = 480

/** Keeps a card beside an element wherever that goes. Returns a function that ends it. */
export function placeBeside(
  element: Element,
  card: HTMLElement,
  {
    pointer,
    at,
    placement,
    opened,
    placed,
  }: {
    pointer: HTMLElement
    /** What it points at instead of the element. */
    at: HTMLElement | null
    placement: Step['placement']
    opened?: Opened
    /** Called when it has its first place. */
    placed?(): void
  },
): () => void {
  const page = element.ownerDocument.defaultView as Window
  const reference = {
    getBoundingClientRect: () => wholeBoxOf(element, opened),
    contextElement: anchorOf(element),
  }
  let isPlaced = false
  const place = async () => {
    // Measured as it would be beside the element.
    card.classList.remove('sheet', 'at-top')
    const position = await computePosition(at ?? reference, card, {
      strategy: 'fixed',
      placement: placementOf(placement),
      middleware: [
        offset(at ? gap - 4 : gap),
        flip({ padding: margin, fallbackAxisSideDirection: 'start' }),
        // Beside the element it may move along it, so that its room is the window's.
        shift({ padding: margin }),
        size({
          padding: margin,
          apply({ availableHeight }) {
            const room = Math.max(Math.floor(availableHeight), minRoomOf(card, page))
            card.style.setProperty('--room', `${room}px`)
          },
        }),
        shift({ padding: margin, crossAxis: true }),
        arrow({ element: pointer, padding: 16 }),
      ],
    })
    if (!card.isConnected) return
    const { x, y } = position
    const box = wholeBoxOf(element, opened)
    if (page.innerWidth <= narrow && covers({ x, y }, card, box)) sheet(card, box, page)
    else {
      moveTo(card, x, y)
      turn(pointer, position)
    }
    if (!isPlaced) placed?.()
    isPlaced = true
  }
  const placeNow = quietly(place)
  // It does not move away from under the mouse that is pressing it.
  return follow(element, card, () => card.matches(':active') || placeNow(), opened)
}

const covers = (
  { x, y }: { x: number; y: number },
  { offsetWidth: width, offsetHeight: height }: HTMLElement,
  { left, top, right, bottom }: DOMRect,
): boolean => {
  return x < right && x + width > left && y < bottom && y + height > top
}

/**
 * Along the lower edge, or the upper one if there is room above an element that is low. A large element
 * is covered in part.
 */
function sheet(card: HTMLElement, { top, bottom }: DOMRect, page: Window): void {
  const isTop = top > page.innerHeight - bottom && top >= page.innerHeight * maxCovered
  card.classList.add('sheet')
  card.classList.toggle('at-top', isTop)
  card.style.translate = ''
  const free = isTop ? top : page.innerHeight - bottom
  const least = Math.max(page.innerHeight * maxCovered, minRoomOf(card, page))
  const room = Math.max(free - 2 * margin, least)
  card.style.setProperty('--room', `${Math.floor(room)}px`)
}

/** Puts the arrow on the edge that is next to the element, and makes it point at the element. */
function turn(pointer: HTMLElement, { placement, middlewareData }: ComputePositionReturn): void {
  const side = placement.split('-')[0] as keyof typeof edges
  const { x, y } = middlewareData.arrow ?? {}
  const { edge, turn } = edges[side]
  Object.assign(pointer.style, {
    left: x === undefined ? '' : `${x}px`,
    top: y === undefined ? '' : `${y}px`,
    right: '',
    bottom: '',
    // Half of it: the other half covers the border.
    [edge]: '-7px',
    transform: `rotate(${turn}deg)`,
  })
}

/** Keeps a dot on an element's corner, at the end of its first line. */
export function placeOnCorner(element: Element, dot: HTMLElement): () => void {
  const page = element.ownerDocument.defaultView as Window
  const isRtl = page.getComputedStyle(dot).direction === 'rtl'
  return follow(element, dot, () => {
    const { left, top, right } = boxOf(element)
    const { offsetWidth: width, offsetHeight: height } = dot
    const within = (at: number, room: number) => Math.min(Math.max(at, margin), room - margin)
    const x = within((isRtl ? left : right) - width / 2, page.innerWidth - width)
    const y = within(top - height / 2, page.innerHeight - height)
    moveTo(dot, x, y)
  })
}
