import type { Button, Choice, StepView } from '../parts.ts'
import { mediaOf } from './draw-media.ts'
import { progressOf } from './draw-progress.ts'
import { askOn } from './draw-question.ts'
import { listenToKeys } from './focus.ts'
import { headingOf } from './heading.ts'
import type { Host } from './host.ts'
import type { Left } from './leaving.ts'
import { isElsewhere, safeHref } from './links.ts'
import { button, closeButton, make } from './make.ts'
import { markdownNodes } from './markdown.ts'
import { easing, glideMs, isCalm, settle } from './motion.ts'
import type { Box } from './placing.ts'
import type { Beside } from './tab-order.ts'
import type { Words } from './words.ts'

/** What the drawing of a step is made from. */
export interface Drawing {
  root: HTMLElement
  /** Functions that undo the drawing, to be called in reverse order. */
  ends: (() => void)[]
  host: Host
  page: Window
  words: Words
  /** Where the previous step was. */
  left: Left | null
  /** What the step points at now. */
  element(): Element | null
  /**
   * Begins what follows the element, and begins it anew whenever another one has taken its place. Returns a
   * function that ends it.
   */
  follow(begin: Follower): () => void
}

/** Begins to follow an element. Returns a function that ends it. */
export type Follower = (element: Element) => () => void

/** Fills a card: media, title, text and buttons. */
export function fillCard(card: HTMLElement, view: StepView, { host, page, words }: Drawing): void {
  const { step } = view
  // Scrolls if it is too long for the window. The arrow stands outside of it.
  const inner = make(page, 'div', 'inner')
  card.append(inner)
  card.tabIndex = -1
  card.setAttribute('role', 'dialog')
  card.setAttribute('part', 'card')
  const media = mediaOf(view, page)
  if (media) {
    inner.append(media)
    card.classList.add('has-media')
  }
  if (step.title) {
    inner.append(make(page, 'h2', '', { id: 'title', part: 'title' }, step.title))
    card.setAttribute('aria-labelledby', 'title')
  } else card.setAttribute('aria-label', headingOf(view.flow))
  if (step.body) {
    const text = markdownNodes(step.body, page)
    inner.append(make(page, 'div', 'body', { id: 'body', part: 'body' }, ...text))
    card.setAttribute('aria-describedby', 'body')
  }
  const content = step.question ? askOn(view, inner, page) : view
  const foot = make(page, 'div', 'foot', { part: 'foot' })
  const progress = progressOf(view, host.themeOf(view.flow.theme), words, page)
  if (progress) foot.append(progress)
  const actions = make(page, 'div', 'actions')
  for (const { label, choice, isMain } of buttonsOf(view, words, page)) {
    const press = () => content.choose(choice)
    const made = button(page, `button${isMain ? ' main' : ''}`, label, press)
    made.setAttribute('part', isMain ? 'button primary' : 'button')
    actions.append(made)
  }
  foot.append(actions)
  if (foot.querySelector('.place, button')) inner.append(foot)
  card.append(closeButton(page, words.close, () => view.choose({ type: 'dismiss' })))
}

interface Offered {
  label: string
  choice: Choice
  isMain: boolean
}

/**
 * The author's buttons, with the one that leads on at the end; if there are none, what leads on from the
 * step.
 */
function buttonsOf(view: StepView, words: Words, page: Window): Offered[] {
  const { step, place, of, hasBack } = view
  if (step.buttons.length > 0) {
    const leading = step.buttons.findLastIndex(
      ({ action }) => action !== 'back' && action !== 'dismiss',
    )
    const offered = step.buttons.map((author, i) => ({
      label: author.label,
      choice: choiceOf(author, page),
      isMain: i === leading,
    }))
    return [...offered.filter(({ isMain }) => !isMain), ...offered.filter(({ isMain }) => isMain)]
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
  // Otherwise a visitor who does not want to answer would have to leave the flow.
  const isOptional = step.question && !step.question.required && !waits
  const skip = { label: words.skip, choice: { type: 'skip' }, isMain: false } as const
  return [...(hasBack ? [back] : []), ...(isOptional ? [skip] : []), on]
}

/** What a press of a button does. An action that only a newer Cairn knows closes the step. */
export function choiceOf({ action, href, goto, flow }: Button, page: Window): Choice {
  if (action === 'next') return { type: action, goto }
  if (action === 'back' || action === 'complete') return { type: action }
  if (action === 'start' && flow !== undefined) return { type: action, flow }
  if (action !== 'link') return { type: 'dismiss' }
  const safe = href === null ? null : safeHref(href, page)
  return safe === null
    ? { type: 'next' }
    : { type: 'link', href: safe, opensNewTab: isElsewhere(safe, page) }
}

/**
 * The keys of a card.
 *
 * @param beside what it stands beside
 * @returns a function that ends them
 */
export function keysOf(
  card: HTMLElement,
  view: StepView,
  page: Window,
  beside: Beside | null = null,
): () => void {
  const { step } = view
  const move = (type: 'next' | 'back') => () => {
    const offered = step.buttons.find(({ action }) => action === type)
    // An answer must be sent on purpose, not by an arrow key.
    const leadsOn = step.advance.on === 'button' && !step.question
    const mayGo = type === 'back' ? view.hasBack : leadsOn
    if (!mayGo) return
    if (offered) view.choose(choiceOf(offered, page))
    else if (step.buttons.length === 0) view.choose({ type })
  }
  const dismiss = () => view.choose({ type: 'dismiss' })
  const actions = { leave: dismiss, forward: move('next'), backward: move('back') }
  return listenToKeys(card, beside, actions, page)
}

/** What a card says, for screen reader users whose focus does not move to the card. */
export const saidOf = ({ step }: StepView, card: HTMLElement): string =>
  [step.title, card.querySelector('.body')?.textContent ?? '']
    .filter(text => text !== '')
    .join('. ')

/** Lets a card that is in its place glide there from where the previous one was. */
export function glideFrom(card: HTMLElement, from: Box | null, page: Window): void {
  if (!from || isCalm(page)) return
  const to = card.getBoundingClientRect()
  const x = from.left + from.width / 2 - (to.left + to.width / 2)
  const y = from.top + from.height / 2 - (to.top + to.height / 2)
  settle(card)
  const way = { transform: [`translate(${x}px, ${y}px)`, 'none'] }
  card.animate(way, { duration: glideMs, easing })
  card.querySelector('.inner')?.animate({ opacity: [0, 1] }, { duration: glideMs / 3 })
}
