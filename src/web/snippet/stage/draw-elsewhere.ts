import type { Flow, Step } from '../parts.ts'
import { safely } from '../safely.ts'
import type { Drawn } from './draw-step.ts'
import type { Host } from './host.ts'
import { button, make } from './make.ts'
import type { Spoken } from './spoken.ts'

export interface ElsewhereView {
  spoken: Spoken
  flow: Flow
  step: Step
  /** The step's place, from 1, and the number of steps. */
  place: number
  of: number
  /** Where the step's page is; null where that is not known. */
  href: string | null
  /** Called before the visitor follows the address. Returns whether the page takes them there itself. */
  goThere(href: string): boolean
  /** Ends the flow. */
  end(): void
}

/**
 * Says in a corner that the tour goes on on another page, with a link if its address is known. It takes
 * no focus and covers nothing, because the visitor may well be on their way there.
 */
export function drawElsewhere(
  view: ElsewhereView,
  host: Host,
  page: Window,
): Pick<Drawn, 'remove'> {
  const { flow, place, of, href, end } = view
  host.attach(null)
  const root = host.root(flow.theme)
  const words = view.spoken.speak(root)
  const text = make(page, 'div', 'body', { id: 'elsewhere' }, words.elsewhere)
  const foot = make(page, 'div', 'foot')
  if (of > 1) foot.append(make(page, 'span', 'place', {}, words.of(place, of)))
  foot.append(button(page, 'button', words.endTour, end))
  if (href) {
    const link = make(page, 'a', 'button main', { href }, words.goThere)
    link.addEventListener('click', event => {
      // A click that opens another tab leaves this one as it is.
      const isHere = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
      if (isHere && safely(() => view.goThere(href))) event.preventDefault()
    })
    foot.append(link)
  }
  const card = make(
    page,
    'div',
    'card elsewhere',
    { popover: 'manual', role: 'region', 'aria-labelledby': 'elsewhere' },
    make(page, 'div', 'inner', {}, text, foot),
  )
  root.append(card)
  card.showPopover()
  host.say(words.elsewhere)
  return { remove: () => root.remove() }
}
