import { minuteMs } from '../../../core/time/durations.ts'

/**
 * Tells, as far as possible, whether somebody is at this page. A page on a wall display is visible, but
 * would keep asking for days although nobody reads it.
 */

/** A page that nobody has touched for this long counts as left open. */
export const leftOpenAfterMs = 5 * minuteMs

/** Events that show that somebody is at the page. A tab that is shown again counts, too. */
const touches = ['pointermove', 'pointerdown', 'wheel', 'keydown', 'visibilitychange']

let touchedAt = Date.now()
const waiting = new Set<() => void>()

export const isLeftOpen = (): boolean => Date.now() - touchedAt >= leftOpenAfterMs

/** Starts to watch what people do at this page. */
export function watchAttention(): void {
  const touched = ({ type }: Event) => {
    const isReturn = isLeftOpen() || type === 'visibilitychange'
    touchedAt = Date.now()
    if (isReturn) for (const back of waiting) back()
  }
  // In the capture phase, before any handler can stop the event.
  for (const type of touches) {
    document.addEventListener(type, touched, { capture: true, passive: true })
  }
}

/** Calls `back` whenever somebody comes back to the page. @returns a function that stops this */
export function onReturn(back: () => void): () => void {
  waiting.add(back)
  return () => void waiting.delete(back)
}
