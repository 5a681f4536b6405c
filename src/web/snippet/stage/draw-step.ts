import type { StepView } from '../parts.ts'
import { safely } from '../safely.ts'
import { drawBanner } from './draw-banner.ts'
import { type Drawing, type Follower, fillCard, glideFrom, keysOf, saidOf } from './draw-card.ts'
import { drawHotspot } from './draw-hotspot.ts'
import { drawTip } from './draw-tip.ts'
import { borrowFocus } from './focus.ts'
import type { Host } from './host.ts'
import { takeAway, takeOver } from './leaving.ts'
import { make } from './make.ts'
import { settle } from './motion.ts'

/** A step that is drawn. */
export interface Drawn {
  /** Exchanges the element that it points at. What was drawn stays, with the focus and what was typed. */
  pointAt(element: Element): void
  /** Whether somebody is typing in it, or pressing it. */
  isInUse(): boolean
  remove(): void
}

/** Draws a step: beside its element, in the middle, across the page, in a corner, or behind a dot. */
export function drawStep(view: StepView, host: Host, page: Window): Drawn {
  const { step, element } = view
  const isOnItsOwn = step.kind === 'banner' || step.kind === 'slideout'
  const isModal = step.kind === 'modal' || (element === null && !isOnItsOwn)
  const left = takeOver(host)
  const pointedAt = isModal ? null : element
  host.attach(pointedAt)
  const root = host.root(view.flow.theme, pointedAt)
  const ends: (() => void)[] = [() => takeAway(root, host, page)]
  let current = element
  const followers = new Map<Follower, () => void>()
  const draw: Drawing = {
    ...{ root, ends, host, page, left },
    words: view.spoken.speak(root, step),
    element: () => current,
    follow(begin) {
      if (current) followers.set(begin, begin(current))
      return () => {
        followers.get(begin)?.()
        followers.delete(begin)
      }
    },
  }
  if (step.kind === 'banner') drawBanner(view, draw)
  else if (step.kind === 'slideout') drawSlideout(view, draw)
  else if (isModal) drawModal(view, draw)
  else if (step.kind === 'hotspot') drawHotspot(view, draw)
  else drawTip(view, draw)
  return {
    pointAt(next) {
      current = next
      host.pointAt(root, isModal ? null : next)
      for (const [begin, end] of followers) {
        end()
        followers.set(begin, begin(next))
      }
    },
    isInUse: () => root.querySelector(':is(input, textarea):focus, :active') !== null,
    remove() {
      for (const end of ends.splice(0).reverse()) end()
    },
  }
}

function drawModal(view: StepView, draw: Drawing): void {
  const { root, ends, page, left } = draw
  const dialog = make(page, 'dialog', 'card modal')
  fillCard(dialog, view, draw)
  root.append(dialog)
  const giveBack = borrowFocus(dialog, page)
  dialog.showModal()
  dialog.focus({ preventScroll: true })
  if (left?.isDimmed) settle(dialog)
  glideFrom(dialog, left?.card ?? null, page)
  // Escape, which a modal dialog handles before any listener of the snippet.
  dialog.addEventListener('cancel', event => {
    event.preventDefault()
    safely(() => view.choose({ type: 'dismiss' }))
  })
  ends.push(giveBack, () => dialog.close(), keysOf(dialog, view, page))
}

/** In a corner: it covers little, takes no focus, and Tab goes past it. */
function drawSlideout(view: StepView, draw: Drawing): void {
  const { root, ends, page, host } = draw
  const { side, align } = view.step.placement
  const corner = `${side === 'top' ? 'at-top' : ''} ${align === 'start' ? 'at-start' : ''}`
  const card = make(page, 'div', `card slideout ${corner}`, { popover: 'manual' })
  fillCard(card, view, draw)
  root.append(card)
  card.showPopover()
  host.say(saidOf(view, card))
  ends.push(keysOf(card, view, page))
}
