import { safely } from '../safely.ts'
import { around, contains, hitAt } from './elements.ts'
import { isCalm } from './motion.ts'
import {
  type Axis,
  anchorOf,
  axes,
  boxOf,
  canScroll,
  type Edges,
  isReversed,
  type Level,
  lengthOf,
  levelsOf,
  portOf,
} from './visibility.ts'

/** Scrolls what a step points at into view, only where visitors can scroll themselves, and never against them. */

/** The least distance from an edge to which something is scrolled, pixels. */
const margin = 8
/** With less room than this beside it, pixels, an element goes to the edge, so that a card fits beside it. */
const roomForCard = 400
/** In a window lower than this, pixels, a card of the second height is below what it points at. */
const lowWindow = 480
const lowCard = 192
/** If less than this of an element can be seen, pixels, it is out of sight. */
const glimpse = 24
/** How often it is checked whether the page has moved an element out of sight, milliseconds. */
const checkMs = 250

/**
 * How often the page may still be scrolled for a step: when it is shown, and once more when content that
 * arrives late has moved its element. Not at all once the visitor scrolls.
 */
export interface Scrolls {
  left: number
}
const scrollsOfStep = 2
export const createScrolls = (): Scrolls => ({ left: scrollsOfStep })

/** Where a level shows an element whole: in its port, without what covers that, such as a header that stays. */
function viewOf(level: Level, element: Element, box: Edges): Edges {
  const { at, isWindow } = level
  const { ownerDocument } = at
  const page = ownerDocument.defaultView as Window
  const port = portOf(level)
  const height = port.bottom - port.top
  const style = page.getComputedStyle(isWindow ? ownerDocument.documentElement : at)
  let top = port.top + lengthOf(style.scrollPaddingTop, height)
  let bottom = port.bottom - lengthOf(style.scrollPaddingBottom, height)
  const x = Math.max(port.left + 1, Math.min((box.left + box.right) / 2, port.right - 1))
  const coverAt = (y: number): Edges | null => {
    let hit = hitAt(x, y, ownerDocument)
    for (; hit && !contains(hit, element); hit = around(hit)) {
      const cover = hit.getBoundingClientRect()
      const stays = /fixed|sticky/.test(page.getComputedStyle(hit).position)
      // What covers more than that is no header.
      if (stays && cover.height < height / 2) return cover
    }
    return null
  }
  for (const inset of [1, 3 * margin]) {
    top = Math.max(top, coverAt(port.top + inset)?.bottom ?? top)
    bottom = Math.min(bottom, coverAt(port.bottom - inset)?.top ?? bottom)
  }
  const aboveCard = page.innerHeight < lowWindow ? page.innerHeight - lowCard : bottom
  if (aboveCard - top > box.bottom - box.top) bottom = Math.min(bottom, aboveCard)
  return { ...port, top, bottom }
}

/** How far to scroll so that a box is in view. If it is larger than the view, its start has to be. */
function distance(axis: Axis, box: Edges, view: Edges, isFromEnd: boolean): number {
  const [start, end, from, to] = [box[axis.start], box[axis.end], view[axis.start], view[axis.end]]
  const free = to - from - (end - start)
  if (free < 0) {
    const away = isFromEnd ? to - end : start - from
    const isSeen = away > -1 && away < (to - from) / 2
    return isSeen ? 0 : isFromEnd ? margin - away : away - margin
  }
  if (start > from - 1 && end < to + 1) return 0
  const edge = Math.min(margin, free)
  if (axis.start === 'left') return start < from ? start - from - edge : end - to + edge
  return start - from - (free < roomForCard ? edge : free / 2)
}

/** How far a level really scrolls, if it is to scroll so far. */
function reached(axis: Axis, { at, style }: Level, by: number): number {
  const most = at[axis.size] - at[axis.view]
  const [first, last] = isReversed(axis, style) ? [-most, 0] : [0, most]
  return Math.max(first, Math.min(at[axis.at] + by, last)) - at[axis.at]
}

/** An element's box with the margin that it wants when something scrolls to it. */
function boxWithMargin(element: Element, page: Window): Edges {
  const { left, top, right, bottom } = boxOf(element)
  const { scrollMarginTop, scrollMarginBottom } = page.getComputedStyle(anchorOf(element))
  const [above, below] = [scrollMarginTop, scrollMarginBottom].map(value => lengthOf(value, 0))
  return { left, top: top - above!, right, bottom: bottom + below! }
}

/** Scrolls what an element is in, from the inside out. What hides its overflow is not for scrolling. */
function bringIntoView(element: Element, page: Window): void {
  const anchor = anchorOf(element)
  let box = boxWithMargin(element, page)
  const isFramed = page.parent !== page
  const behavior = isFramed || isCalm(page) ? 'instant' : 'smooth'
  for (const level of levelsOf(anchor)) {
    const { at, style, holds, isWindow } = level
    if (!holds) continue
    const view = viewOf(level, element, box)
    // What a transformed element scrolls by is transformed too.
    const scale =
      (isWindow ? 0 : at.getBoundingClientRect().height / (at as HTMLElement).offsetHeight) || 1
    const [left, top] = axes.map(axis => {
      if (!canScroll(axis, level)) return 0
      const by = distance(axis, box, view, isReversed(axis, style))
      return by === 0 ? 0 : reached(axis, level, by / scale)
    }) as [number, number]
    if (left !== 0 || top !== 0) (isWindow ? page : at).scrollBy({ left, top, behavior })
    box = {
      left: Math.max(box.left - left * scale, view.left),
      top: Math.max(box.top - top * scale, view.top),
      right: Math.min(box.right - left * scale, view.right),
      bottom: Math.min(box.bottom - top * scale, view.bottom),
    }
  }
  // A frame may be as high as what is in it, and scroll with the page around it.
  if (isFramed) anchor.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior })
}

/** Whether hardly anything of an element is in view, wherever it is scrolled to. */
function isOutOfSight(element: Element): boolean {
  const box = boxOf(element)
  for (const level of levelsOf(anchorOf(element))) {
    const port = portOf(level)
    for (const { start, end } of level.holds ? axes : []) {
      const seen = Math.min(box[end], port[end]) - Math.max(box[start], port[start])
      if (seen < Math.min(glimpse, (box[end] - box[start]) / 2)) return true
    }
  }
  return false
}

/** Where everything is scrolled to, and how large the window is. */
const scrolledTo = (element: Element, page: Window): string =>
  [...levelsOf(anchorOf(element))]
    .flatMap(({ at }) => [at.scrollLeft, at.scrollTop])
    .concat(page.innerWidth, page.innerHeight)
    .join(' ')

/**
 * Brings a step's element into view. If the page itself then moves it out of sight, brings it back.
 *
 * @returns a function that ends it
 */
export function keepInView(element: Element, scrolls: Scrolls, page: Window): () => void {
  let place = ''
  /** Whether it was in view where everything is scrolled to now, or is on its way there. */
  let wasSeen = false
  let isMoving = false
  const bring = () => {
    scrolls.left--
    wasSeen = isMoving = true
    safely(() => bringIntoView(element, page))
  }
  if (scrolls.left === scrollsOfStep) bring()

  const check = () => {
    if (scrolls.left <= 0 || !element.isConnected) return
    const last = place
    place = scrolledTo(element, page)
    if (place !== last) wasSeen = isMoving
    else if (!isOutOfSight(element)) {
      wasSeen = true
      isMoving = false
    } else if (wasSeen) bring()
  }
  const byHand = () => {
    scrolls.left = 0
  }
  const byKey = ({ key }: KeyboardEvent) => {
    if (/^(Arrow(Up|Down)|Page|Home|End| )/.test(key)) byHand()
  }
  const timer = page.setInterval(() => safely(check), checkMs)
  const ends = new AbortController()
  const options = { capture: true, passive: true, signal: ends.signal }
  for (const name of ['wheel', 'touchmove'] as const) page.addEventListener(name, byHand, options)
  page.addEventListener('keydown', byKey, options)
  // Scroll bars are dragged without any other event.
  page.addEventListener('pointerdown', () => isMoving && byHand(), options)
  return () => {
    page.clearInterval(timer)
    ends.abort()
  }
}
