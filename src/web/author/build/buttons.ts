import type { Button } from '../../snippet/parts.ts'

/** The buttons of a step, as a flow has them. */

export const maxButtons = 5

/** Without what only means something beside another action. */
export const asMeant = ({ label, action, href, goto, flow }: Button): Button => ({
  label,
  action,
  href: action === 'link' ? (href ?? '/') : null,
  ...(action === 'next' && goto !== undefined && { goto }),
  ...(action === 'start' && flow !== undefined && { flow }),
})

/** Their places in the flow, in the order in which a card has them: the one that leads on is the last. */
export function drawnOrder(buttons: readonly Pick<Button, 'action'>[]): number[] {
  const leading = buttons.findLastIndex(({ action }) => action !== 'back' && action !== 'dismiss')
  const others = [...buttons.keys()].filter(place => place !== leading)
  return leading < 0 ? others : [...others, leading]
}
