import type { StepView } from '../parts.ts'
import { type Drawing, fillCard, glideFrom, keysOf } from './draw-card.ts'
import { borrowFocus } from './focus.ts'
import { make } from './make.ts'
import { placeBeside } from './placing.ts'
import { keepInView } from './scrolling.ts'
import { lightUp, spotlightOf } from './spotlight.ts'

/** A card beside an element, which gets a ring and is usually the only part that is not dimmed. */
export function drawTip(view: StepView, element: Element, draw: Drawing): void {
  draw.ends.push(keepInView(element, view.scrolls, draw.page))
  draw.ends.push(lightUp(element, spotlightOf(view, draw.host), draw.root, draw.page, draw.left))
  openTip(view, element, null, draw)
}

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
      placed: () => glideFrom(card, dot ? null : (left?.card ?? null), page),
    }),
    keysOf(card, view, page, isElementMeant ? element : null),
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
