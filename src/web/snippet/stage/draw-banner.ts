import type { StepView } from '../parts.ts'
import { type Drawing, fillCard, keysOf, saidOf } from './draw-card.ts'
import { make } from './make.ts'
import { makeRoom } from './make-room.ts'

/** A bar across the page, over it or in space that the page makes for it. */
export function drawBanner(view: StepView, draw: Drawing): void {
  const { root, ends, page, host } = draw
  const { edge = 'top', layout = 'float' } = view.step.banner ?? {}
  const banner = make(page, 'div', `card banner at-${edge} ${layout}`, { popover: 'manual' })
  fillCard(banner, view, draw)
  banner.setAttribute('role', 'region')
  root.append(banner)
  banner.showPopover()
  if (layout === 'push') ends.push(makeRoom(banner, edge, page))
  host.say(saidOf(view, banner))
  ends.push(keysOf(banner, view, page))
}
