import { minuteMs } from '../../../core/time/durations.ts'

/**
 * Whether somebody is at this page, as far as that can be told: a page on a wall is visible, and asks for
 * days what nobody reads.
 */

/** A page that nobody has touched for so long is taken as left open. */
export const leftOpenAfterMs = 5 * minuteMs

/** What somebody does at a page. A tab that is shown again has somebody before it, too. */
const touches = ['pointermove', 'pointerdown', 'wheel', 'keydown', 'visibilitychange']

let touchedAt = Date.now()
const waiting = new Set<() => void>()

export const isLeftOpen = (): boolean => Date.now() - touchedAt >= leftOpenAfterMs

/** Begins to notice what people do at this page. */
export function watchAttention(): void {
  const touched = ({ type }: Event) => {
    const isReturn = isLeftOpen() || type === 'visibilitychange'
    touchedAt = Date.now()
    if (isReturn) for (const back of waiting) back()
  }
  // Before whatever keeps an event to itself.
  for (const type of touches) {
    document.addEventListener(type, touched, { capture: true, passive: true })
  }
}

/** Has something done when somebody comes back to the page, until what this returns is called. */
export function onReturn(back: () => void): () => void {
  waiting.add(back)
  return () => void waiting.delete(back)
}
