import type { StepView } from '../parts.ts'
import { type Drawing, fillCard, glideFrom, keysOf } from './draw-card.ts'
import { borrowFocus, controls } from './focus.ts'
import { make } from './make.ts'
import { type Opened, watchOpened } from './opened.ts'
import { placeBeside } from './placing.ts'
import { keepInView } from './scrolling.ts'
import { lightUp, spotlightOf } from './spotlight.ts'

/** A card beside an element, which gets a ring and is usually the only part that is not dimmed. */
export function drawTip(view: StepView, element: Element, draw: Drawing): void {
  draw.ends.push(keepInView(element, view.scrolls, draw.page))
  const { root, ends, host, page, left } = draw
  const opened = watchOpened(element, page)
  ends.push(opened.end)
  ends.push(lightUp(element, spotlightOf(view, host), root, page, left, opened))
  openTip(view, element, null, draw, opened)
}

const controlsIn = (opened: Opened) =>
  opened.elements().flatMap(one => [one, ...one.querySelectorAll(controls)])

/**
 * Opens the card.
 *
 * @param dot what the card points at instead of the element
 * @returns a function that closes it
 */
export function openTip(
  view: StepView,
  element: Element,
  dot: HTMLElement | null,
  draw: Drawing,
  opened: Opened,
): () => void {
  const { root, ends, page, left } = draw
  const { step } = view
  const card = make(page, 'div', 'card tip', { popover: 'manual' })
  const pointer = make(page, 'div', 'arrow', { 'aria-hidden': 'true', part: 'arrow' })
  fillCard(card, view, draw)
  card.append(pointer)
  root.append(card)
  card.showPopover()
  const isElementMeant = step.advance.on === 'click' || spotlightOf(view, draw.host) === 'block'
  const own = [
    borrowFocus(card, page),
    placeBeside(element, card, {
      pointer,
      at: dot,
      placement: step.placement,
      opened,
      placed: () => glideFrom(card, dot ? null : (left?.card ?? null), page),
    }),
    keysOf(card, view, page, isElementMeant ? () => [element, ...controlsIn(opened)] : undefined),
  ]
  const close = () => {
    for (const end of own.splice(0)) end()
  }
  ends.push(close)
  return () => {
    close()
    card.remove()
  }
}
