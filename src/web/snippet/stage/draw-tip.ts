import type { StepView } from '../parts.ts'
import { type Drawing, fillCard, glideFrom, keysOf } from './draw-card.ts'
import { borrowFocus } from './focus.ts'
import { make } from './make.ts'
import { bringIntoView, placeBeside } from './placing.ts'
import { lightUp, spotlightOf } from './spotlight.ts'

/** A card beside an element, which gets a ring and is usually the only part that is not dimmed. */
export function drawTip(view: StepView, element: Element, draw: Drawing): void {
  bringIntoView(element, draw.page)
  draw.ends.push(lightUp(spotlightOf(view, draw.host), draw, draw.left))
  openTip(view, null, draw)
}

/**
 * Opens the card.
 *
 * @param dot what the card points at instead of the element
 * @returns a function that closes it
 */
export function openTip(view: StepView, dot: HTMLElement | null, draw: Drawing): () => void {
  const { root, ends, page, left } = draw
  const { placement } = view.step
  const card = make(page, 'div', 'card tip', { popover: 'manual' })
  const pointer = make(page, 'div', 'arrow', { 'aria-hidden': 'true', part: 'arrow' })
  fillCard(card, view, draw)
  card.append(pointer)
  root.append(card)
  card.showPopover()
  const spotlight = spotlightOf(view, draw.host)
  let from = dot ? null : (left?.card ?? null)
  const placed = () => {
    glideFrom(card, from, page)
    from = null
  }
  const own = [
    borrowFocus(card, page),
    draw.follow(element => placeBeside(element, card, { pointer, at: dot, placement, placed })),
    keysOf(card, view, page, { element: draw.element, spotlight }),
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
