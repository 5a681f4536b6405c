import type { Button, Choice, StepView } from '../parts.ts'
import { safely } from '../safely.ts'
import { borrowFocus, listenToKeys } from './focus.ts'
import { headingOf } from './heading.ts'
import type { Host } from './host.ts'
import { button, closeButton, make } from './make.ts'
import { isElsewhere, markdownNodes, safeHref } from './markdown.ts'
import { bringIntoView, placeAround, placeBeside, placeOnCorner } from './placing.ts'
import { type Words, wordsFor } from './words.ts'

/** A step that is drawn. */
export interface Drawn {
  remove(): void
}

/** Draws a step: beside its element, in the middle, across the page, or behind a dot. */
export function drawStep(view: StepView, host: Host, page: Window): Drawn {
  const { step, element } = view
  const isModal = step.kind === 'modal' || (element === null && step.kind !== 'banner')
  host.attach(isModal ? null : element)
  const root = host.root(view.flow.theme)
  const ends: (() => void)[] = [() => root.remove()]
  const draw = { root, ends, host, page, words: wordsFor(page) }
  if (step.kind === 'banner') drawBanner(view, draw)
  else if (isModal) drawModal(view, draw)
  else if (step.kind === 'hotspot') drawHotspot(view, element as Element, draw)
  else drawTip(view, element as Element, draw)
  return {
    remove: () => {
      for (const end of ends.splice(0).reverse()) end()
    },
  }
}

interface Drawing {
  root: HTMLElement
  /** What is to be undone, the last first. */
  ends: (() => void)[]
  host: Host
  page: Window
  words: Words
}

function drawModal(view: StepView, draw: Drawing): void {
  const { root, ends, page } = draw
  const dialog = make(page, 'dialog', 'card modal')
  fill(dialog, view, draw)
  root.append(dialog)
  const giveBack = borrowFocus(dialog, page)
  dialog.showModal()
  dialog.focus({ preventScroll: true })
  // Escape, which a modal dialog takes before any listener of ours.
  dialog.addEventListener('cancel', event => {
    event.preventDefault()
    safely(() => view.choose({ type: 'dismiss' }))
  })
  ends.push(giveBack, () => dialog.close(), keys(dialog, view, draw))
}

function drawTip(view: StepView, element: Element, draw: Drawing): void {
  const { root, ends, page } = draw
  bringIntoView(element, page)
  const ring = make(page, 'div', 'ring', { popover: 'manual', 'aria-hidden': 'true' })
  root.append(ring)
  ring.showPopover()
  ends.push(placeAround(element, ring))
  openTip(view, element, draw)
}

/** @returns a function that closes it */
function openTip(view: StepView, element: Element, draw: Drawing): () => void {
  const { root, ends, page } = draw
  const card = make(page, 'div', 'card tip', { popover: 'manual' })
  const pointer = make(page, 'div', 'arrow', { 'aria-hidden': 'true' })
  fill(card, view, draw)
  card.append(pointer)
  root.append(card)
  card.showPopover()
  const own = [
    borrowFocus(card, page),
    placeBeside(element, card, pointer, view.step.placement),
    keys(card, view, draw),
    () => card.remove(),
  ]
  const close = () => {
    for (const end of own.splice(0)) end()
  }
  ends.push(close)
  return close
}

function drawHotspot(view: StepView, element: Element, draw: Drawing): void {
  const { root, ends, page } = draw
  let close: (() => void) | null = null
  bringIntoView(element, page)
  const dot = button(page, 'spot', '', () => {
    if (close) close()
    close = close ? null : openTip(view, element, draw)
    dot.setAttribute('aria-expanded', String(close !== null))
  })
  dot.popover = 'manual'
  dot.setAttribute('aria-label', view.step.title || draw.words.open)
  dot.setAttribute('aria-expanded', 'false')
  root.append(dot)
  dot.showPopover()
  ends.push(placeOnCorner(element, dot))
  draw.host.say(view.step.title)
}

function drawBanner(view: StepView, draw: Drawing): void {
  const { root, ends, page, host } = draw
  const banner = make(page, 'div', 'card banner', { popover: 'manual', role: 'region' })
  fill(banner, view, draw)
  banner.setAttribute('role', 'region')
  root.append(banner)
  banner.showPopover()
  const body = banner.querySelector('.body')?.textContent ?? ''
  host.say([view.step.title, body].filter(text => text !== '').join('. '))
  ends.push(keys(banner, view, draw))
}

/** Title, text and buttons. */
function fill(card: HTMLElement, view: StepView, { page, words }: Drawing): void {
  const { step } = view
  // Scrolls where it is too long for the window; the arrow stands outside of it.
  const inner = make(page, 'div', 'inner')
  card.append(inner)
  card.tabIndex = -1
  card.setAttribute('role', 'dialog')
  if (step.title) {
    inner.append(make(page, 'h2', '', { id: 'title' }, step.title))
    card.setAttribute('aria-labelledby', 'title')
  } else card.setAttribute('aria-label', headingOf(view.flow))
  if (step.body) {
    inner.append(make(page, 'div', 'body', { id: 'body' }, ...markdownNodes(step.body, page)))
    card.setAttribute('aria-describedby', 'body')
  }
  const foot = make(page, 'div', 'foot')
  if (view.of > 1) foot.append(make(page, 'span', 'place', {}, words.of(view.place, view.of)))
  for (const { label, choice, isMain } of buttonsOf(view, words, page)) {
    const press = () => view.choose(choice)
    foot.append(button(page, `button${isMain ? ' main' : ''}`, label, press))
  }
  if (foot.childElementCount > 0) inner.append(foot)
  card.append(closeButton(page, words.close, () => view.choose({ type: 'dismiss' })))
}

interface Offered {
  label: string
  choice: Choice
  isMain: boolean
}

/** The author's buttons; where there are none, what leads on from the step. */
function buttonsOf(view: StepView, words: Words, page: Window): Offered[] {
  const { step, place, of, hasBack } = view
  if (step.buttons.length > 0) {
    const leading = step.buttons.findLastIndex(
      ({ action }) => action !== 'back' && action !== 'dismiss',
    )
    return step.buttons.map((author, i) => ({
      label: author.label,
      choice: choiceOf(author, page),
      isMain: i === leading,
    }))
  }
  const back = { label: words.back, choice: { type: 'back' }, isMain: false } as const
  const waits = step.advance.on !== 'button'
  const on = waits
    ? ({ label: words.skip, choice: { type: 'skip' }, isMain: false } as const)
    : ({
        label: place === of ? words.done : words.next,
        choice: { type: 'next' },
        isMain: true,
      } as const)
  return hasBack ? [back, on] : [on]
}

function choiceOf({ action, href }: Button, page: Window): Choice {
  if (action !== 'link') return { type: action }
  const safe = href === null ? null : safeHref(href, page)
  return safe === null
    ? { type: 'next' }
    : { type: 'link', href: safe, opensNewTab: isElsewhere(safe, page) }
}

function keys(card: HTMLElement, view: StepView, { page }: Drawing): () => void {
  const { step } = view
  const also = step.advance.on === 'click' ? view.element : null
  const move = (type: 'next' | 'back') => () => {
    const isOffered =
      step.buttons.length === 0 || step.buttons.some(({ action }) => action === type)
    const mayGo = type === 'back' ? view.hasBack : step.advance.on === 'button'
    if (isOffered && mayGo) view.choose({ type })
  }
  const dismiss = () => view.choose({ type: 'dismiss' })
  return listenToKeys(
    card,
    also,
    { leave: dismiss, forward: move('next'), backward: move('back') },
    page,
  )
}
