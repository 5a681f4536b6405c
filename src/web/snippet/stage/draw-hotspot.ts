import type { StepView } from '../parts.ts'
import { safely } from '../safely.ts'
import type { Drawing } from './draw-card.ts'
import { mediaOf } from './draw-media.ts'
import { openedBy, openTip } from './draw-tip.ts'
import { button, make } from './make.ts'
import { markdownNodes } from './markdown.ts'
import { placeBeside, placeOnCorner } from './placing.ts'
import { keepInView } from './scrolling.ts'
import { lightUp, spotlightOf } from './spotlight.ts'

/** How long the mouse may be away from a hint, milliseconds, while it is on its way there. */
const lingerMs = 250

/** A dot on an element's corner, and the card that it opens. */
export function drawHotspot(view: StepView, draw: Drawing): void {
  const { root, ends, page } = draw
  let close: (() => void) | null = null
  ends.push(draw.follow(element => keepInView(element, view.scrolls, page)))
  const open = () => {
    hint?.hide()
    const mode = spotlightOf(view, draw.host)
    const opened = openedBy(draw)
    const own = [opened.end, openTip(view, dot, draw, opened)]
    if (mode !== 'off') own.push(lightUp(mode, draw, null, opened))
    return () => {
      for (const end of own) end()
    }
  }
  const dot = button(page, 'spot', '', () => {
    if (close) close()
    close = close ? null : open()
    dot.setAttribute('aria-expanded', String(close !== null))
  })
  dot.popover = 'manual'
  dot.setAttribute('part', 'spot')
  dot.setAttribute('aria-label', view.step.title || draw.words.open)
  dot.setAttribute('aria-expanded', 'false')
  root.append(dot)
  dot.showPopover()
  ends.push(draw.follow(element => placeOnCorner(element, dot)))
  const hint = view.step.opens === 'hover' ? hintOf(view, dot, draw, () => close !== null) : null
  draw.host.say(view.step.title)
}

/**
 * What the dot says while the mouse or the focus is on it. It stays while the mouse is on the hint,
 * and Escape takes it away without ending anything (WCAG 2.2, 1.4.13).
 */
function hintOf(
  view: StepView,
  dot: HTMLElement,
  { root, ends, page, follow }: Drawing,
  isOpen: () => boolean,
) {
  const { step } = view
  let shown: { card: HTMLElement; end(): void } | null = null
  let timer: number | undefined

  const hide = () => {
    page.clearTimeout(timer)
    shown?.end()
    shown?.card.remove()
    shown = null
    dot.removeAttribute('aria-describedby')
  }
  const show = () => {
    page.clearTimeout(timer)
    if (shown || isOpen()) return
    const card = make(page, 'div', 'card tip hint', {
      popover: 'manual',
      role: 'tooltip',
      id: 'hint',
    })
    card.setAttribute('part', 'card')
    const pointer = make(page, 'div', 'arrow', { 'aria-hidden': 'true', part: 'arrow' })
    const inner = make(page, 'div', 'inner')
    const media = step.media?.video === undefined ? mediaOf(view, page) : null
    if (media) inner.append(media)
    if (step.title) inner.append(make(page, 'div', 'heading', { part: 'title' }, step.title))
    const text = make(page, 'div', 'body', { part: 'body' }, ...markdownNodes(step.body, page))
    inner.append(text)
    card.append(inner, pointer)
    root.append(card)
    card.showPopover()
    dot.setAttribute('aria-describedby', 'hint')
    watched(card)
    const { placement } = step
    const end = follow(element => placeBeside(element, card, { pointer, at: dot, placement }))
    shown = { card, end }
  }
  const hideSoon = () => {
    page.clearTimeout(timer)
    timer = page.setTimeout(() => safely(hide), lingerMs)
  }
  const watched = (one: HTMLElement) => {
    one.addEventListener('pointerenter', () => safely(show))
    one.addEventListener('pointerleave', () => safely(hideSoon))
  }
  watched(dot)
  dot.addEventListener('focus', () => safely(show))
  dot.addEventListener('blur', () => safely(hideSoon))
  const pressed = (event: KeyboardEvent) => {
    if (!shown || event.key !== 'Escape') return
    event.preventDefault()
    event.stopImmediatePropagation()
    safely(hide)
  }
  // On the dot too, because keys on it do not reach the page.
  dot.addEventListener('keydown', pressed)
  page.addEventListener('keydown', pressed, true)
  ends.push(() => {
    page.removeEventListener('keydown', pressed, true)
    hide()
  })
  return { hide }
}
