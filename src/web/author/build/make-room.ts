import type { Place } from '../place.ts'
import { cardIn, pointedAt, stageRoot } from './stage-root.ts'
import type { State } from './state.ts'

/** Whether a panel covers the step's card or its element. */
function isCovered(panel: Element | null): boolean {
  const box = panel?.getBoundingClientRect()
  if (!box) return false
  const boxes = [cardIn(stageRoot())?.getBoundingClientRect(), pointedAt()]
  return boxes.some(
    one =>
      one &&
      one.left < box.right &&
      one.right > box.left &&
      one.top < box.bottom &&
      one.bottom > box.top,
  )
}

/**
 * Moves the bar and the fields to the other side of the window if they cover the step, and would not there. Where the
 * author has put the fields, they stay as long as the step is the same.
 */
export function makeRoom(
  { shadow }: Place,
  { isOtherSide }: State,
  patch: (state: Partial<State>) => void,
  isOtherStep: boolean,
): void {
  const covers = (part: string) => isCovered(shadow.querySelector(part))
  for (const isOnTop of [true, false]) {
    if (covers('.bar')) patch({ isOnTop })
  }
  if (!isOtherStep || !covers('.panel')) return
  patch({ isOtherSide: !isOtherSide })
  if (covers('.panel')) patch({ isOtherSide })
}
