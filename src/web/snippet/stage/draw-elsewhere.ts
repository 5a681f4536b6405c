import type { Flow, Step } from '../parts.ts'
import type { Drawn } from './draw-step.ts'
import type { Host } from './host.ts'
import { button, make } from './make.ts'
import { isElsewhere, safeHref } from './markdown.ts'
import { wordsFor } from './words.ts'

export interface ElsewhereView {
  flow: Flow
  step: Step
  /** Place and number of the steps, from 1. */
  place: number
  of: number
  /** Ends the flow. */
  end(): void
}

/**
 * Says in a corner that the tour goes on on another page, with a link where its address is known. It
 * takes no focus and covers nothing: the visitor may well be on their way there.
 */
export function drawElsewhere(view: ElsewhereView, host: Host, page: Window): Drawn {
  const { flow, step, place, of, end } = view
  const words = wordsFor(page)
  const root = host.root(flow.theme)
  const text = make(page, 'div', 'body', { id: 'body' }, words.elsewhere)
  const foot = make(page, 'div', 'foot')
  if (of > 1) foot.append(make(page, 'span', 'place', {}, words.of(place, of)))
  foot.append(button(page, 'button', words.endTour, end))
  const href = addressOf(step, page)
  if (href) foot.append(make(page, 'a', 'button main', { href }, words.goThere))
  const card = make(
    page,
    'div',
    'card elsewhere',
    { popover: 'manual', role: 'region', 'aria-labelledby': 'body' },
    make(page, 'div', 'inner', {}, text, foot),
  )
  root.append(card)
  card.showPopover()
  host.say(words.elsewhere)
  return { remove: () => root.remove() }
}

/** The address of a step's page, where its rule has one, of this site alone. */
function addressOf({ page: rule }: Step, page: Window): string | null {
  const href = rule?.match === 'exact' ? safeHref(rule.pattern, page) : null
  return href?.startsWith('http') && !isElsewhere(href, page) ? href : null
}
