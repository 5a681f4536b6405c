import { safely } from '../../snippet/safely.ts'
import type { Place } from '../place.ts'
import { listenFirst } from './listen-first.ts'

/** The steps of the strip, which an author drags to another place. */

/** A press that moves less than this is no drag, pixels. */
const slopPx = 8
/** A finger that rests on a step for this long takes it. One that moves sooner scrolls the strip, milliseconds. */
const restMs = 350
/** A step that is held this near to an end of the strip scrolls it, this far in each frame, pixels. */
const edgePx = 40
const scrollPx = 6

export interface DraggedStep {
  key: string
  /** The place of the step before which it would land; the number of steps if after all of them. */
  before: number
}

interface Press {
  pointerId: number
  key: string
  chip: HTMLElement
  strip: HTMLElement
  /** Where it began, and where the pointer is, pixels from the window's left edge. */
  from: number
  x: number
  /** How far the strip was scrolled, and how far it can be, pixels. */
  scrolled: number
  maxScroll: number
  before: number
  isTaken: boolean
}

const isRtl = (strip: HTMLElement) => getComputedStyle(strip).direction === 'rtl'

/** How many steps are before the pointer. */
function placeAt(strip: HTMLElement, x: number): number {
  const boxes = [...strip.querySelectorAll('[data-step]')].map(chip =>
    chip.parentElement!.getBoundingClientRect(),
  )
  const middles = boxes.map(({ left, width }) => left + width / 2)
  return middles.filter(middle => (isRtl(strip) ? x < middle : x > middle)).length
}

/**
 * Lets the steps of the strip be dragged: by mouse or pen at once, by a finger that has rested on one. Escape ends it.
 * Begun before the builder keeps what happens in it from the page.
 *
 * @param on `show` is called with the step that is dragged, or null, and `drop` with where it was let go
 * @returns a function that ends it
 */
export function dragSteps(
  { shadow }: Place,
  on: { show(dragged: DraggedStep | null): void; drop(dragged: DraggedStep): void },
): () => void {
  let press: Press | null = null
  /** Whether the press that has just ended was a drag, and so must not choose a step. */
  let isDropped = false
  let resting: ReturnType<typeof setTimeout> | undefined
  let frame = 0

  const end = () => {
    clearTimeout(resting)
    cancelAnimationFrame(frame)
    if (press?.isTaken) {
      press.chip.style.translate = ''
      on.show(null)
    }
    press = null
  }
  const follow = () => {
    if (!press?.isTaken) return
    const { chip, strip, key, from, x, scrolled } = press
    chip.style.translate = `${x - from + strip.scrollLeft - scrolled}px`
    const before = placeAt(strip, x)
    if (before === press.before) return
    press.before = before
    on.show({ key, before })
  }
  const scroll = () => {
    if (!press) return
    const { strip, x, maxScroll } = press
    const { left, right } = strip.getBoundingClientRect()
    const by = x < left + edgePx ? -scrollPx : x > right - edgePx ? scrollPx : 0
    // The step that is dragged beyond the last one must not make the strip longer.
    const [min, max] = isRtl(strip) ? [-maxScroll, 0] : [0, maxScroll]
    if (by !== 0) strip.scrollLeft = Math.max(min, Math.min(max, strip.scrollLeft + by))
    follow()
    frame = requestAnimationFrame(() => safely(scroll))
  }
  const take = () => {
    if (!press) return
    const { chip, pointerId } = press
    press.isTaken = true
    safely(() => chip.setPointerCapture(pointerId))
    scroll()
  }
  const stepAt = (event: Event) => {
    const [target] = event.composedPath()
    const chip = target instanceof Element ? target.closest<HTMLElement>('[data-step]') : null
    return chip && shadow.contains(chip) ? chip : null
  }

  const listeners = {
    pointerdown(event: PointerEvent) {
      end()
      isDropped = false
      const chip = stepAt(event)
      const strip = chip?.closest<HTMLElement>('.strip')
      if (!chip || !strip || event.button !== 0 || !event.isPrimary) return
      const { pointerId, clientX: x } = event
      const maxScroll = strip.scrollWidth - strip.clientWidth
      const scrolled = strip.scrollLeft
      const key = chip.dataset.step!
      const isTaken = false
      press = { pointerId, key, chip, strip, from: x, x, scrolled, maxScroll, before: -1, isTaken }
      if (event.pointerType === 'touch') resting = setTimeout(() => safely(take), restMs)
    },
    pointermove({ pointerId, pointerType, clientX }: PointerEvent) {
      if (press?.pointerId !== pointerId) return
      press.x = clientX
      if (press.isTaken) return follow()
      if (Math.abs(clientX - press.from) < slopPx) return
      if (pointerType === 'touch') end()
      else take()
    },
    pointerup({ pointerId }: PointerEvent) {
      if (press?.pointerId !== pointerId) return
      const { isTaken, key, before } = press
      end()
      isDropped = isTaken
      if (isTaken) on.drop({ key, before })
    },
    pointercancel: end,
    contextmenu(event: Event) {
      // A finger that rests opens it.
      if (press?.isTaken) event.preventDefault()
    },
    touchmove(event: TouchEvent) {
      // Otherwise the strip would scroll.
      if (press?.isTaken) event.preventDefault()
    },
    click(event: MouseEvent) {
      // A key that presses a button was no drag.
      if (!isDropped || event.detail === 0) return
      isDropped = false
      event.preventDefault()
      event.stopImmediatePropagation()
    },
    keydown(event: KeyboardEvent) {
      if (!press?.isTaken || event.key !== 'Escape') return
      event.preventDefault()
      event.stopImmediatePropagation()
      end()
    },
    pointerover(event: PointerEvent) {
      const strip = stepAt(event)?.closest<HTMLElement>('.strip')
      // A pen that moves would scroll, and the browser wants to know before it is put down.
      if (strip) strip.style.touchAction = event.pointerType === 'pen' ? 'none' : ''
    },
  }
  const stop = listenFirst(listeners)
  return () => {
    end()
    stop()
  }
}
