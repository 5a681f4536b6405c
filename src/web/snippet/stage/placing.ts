import {
  arrow,
  autoUpdate,
  computePosition,
  flip,
  offset,
  type Placement,
  shift,
} from '@floating-ui/dom'
import type { Step } from '../parts.ts'

/** Between an element and what points at it, and least distance from the window's edge, pixels. */
const gap = 14
const margin = 8

const placementOf = ({ side, align }: Step['placement']): Placement =>
  align === 'center' ? side : `${side}-${align}`

const opposite = { top: 'bottom', right: 'left', bottom: 'top', left: 'right' } as const
/** The arrow is a square's corner: how it is turned on each side. */
const turned = { top: 225, right: 315, bottom: 45, left: 135 } as const

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
        shift({ padding: margin, crossAxis: true }),
        ...(pointer ? [arrow({ element: pointer, padding: 12 })] : []),
      ],
    })
    Object.assign(card.style, { left: `${position.x}px`, top: `${position.y}px` })
    if (!pointer) return
    const side = position.placement.split('-')[0] as keyof typeof opposite
    const { x, y } = position.middlewareData.arrow ?? {}
    Object.assign(pointer.style, {
      left: x === undefined ? '' : `${x}px`,
      top: y === undefined ? '' : `${y}px`,
      right: '',
      bottom: '',
      [opposite[side]]: '-6px',
      transform: `rotate(${turned[opposite[side]]}deg)`,
    })
  }
  return autoUpdate(element, card, place)
}

/** Keeps a frame around an element. */
export function placeAround(element: Element, frame: HTMLElement): () => void {
  return autoUpdate(element, frame, () => {
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
  return autoUpdate(element, dot, async () => {
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

/** Scrolls an element into the window where it is not. */
export function bringIntoView(element: Element, page: Window): void {
  const { top, left, bottom, right } = element.getBoundingClientRect()
  const isSeen = top >= 0 && left >= 0 && bottom <= page.innerHeight && right <= page.innerWidth
  if (isSeen) return
  const isCalm = page.matchMedia('(prefers-reduced-motion: reduce)').matches
  element.scrollIntoView({
    block: 'center',
    inline: 'nearest',
    behavior: isCalm ? 'auto' : 'smooth',
  })
}
