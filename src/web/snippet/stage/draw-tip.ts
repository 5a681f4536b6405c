import type { StepView } from '../parts.ts'
import { type Drawing, fillCard, glideFrom, keysOf } from './draw-card.ts'
import { borrowFocus } from './focus.ts'
import { make } from './make.ts'
import { type Opened, watchOpened } from './opened.ts'
import { placeBeside } from './placing.ts'
import { keepInView } from './scrolling.ts'
import { lightUp, spotlightOf } from './spotlight.ts'

/** A card beside an element, which gets a ring and is usually the only part that is not dimmed. */
export function drawTip(view: StepView, draw: Drawing): void {
  draw.ends.push(draw.follow(element => keepInView(element, view.scrolls, draw.page)))
  const opened = openedBy(draw)
  draw.ends.push(opened.end)
  draw.ends.push(lightUp(spotlightOf(view, draw.host), draw, draw.left, opened))
  openTip(view, null, draw, opened)
}

/** What the step's element has opened, whichever element it is by now. */
export function openedBy({ follow, page }: Drawing): Opened {
  let current: Opened | null = null
  const end = follow(element => {
    current = watchOpened(element, page, current?.elements())
    return current.end
  })
  return {
    elements: () => current?.elements() ?? [],
    boxes: () => current?.boxes() ?? [],
    onChange: listener => current?.onChange(listener),
    end,
  }
}

/**
 * Opens the card.
 *
 * @param dot what the card points at instead of the element
 * @returns a function that closes it
 */
export function openTip(
  view: StepView,
  dot: HTMLElement | null,
  draw: Drawing,
  opened: Opened,
): () => void {
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
    draw.follow(element =>
      placeBeside(element, card, { pointer, at: dot, placement, opened, placed }),
    ),
    keysOf(card, view, page, { element: draw.element, opened, spotlight }),
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
