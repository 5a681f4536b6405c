import type { Step } from '../../snippet/parts.ts'
import { listenFirst } from './listen-first.ts'
import { cardIn, pointedAt, stageRoot } from './stage-root.ts'

/** What an author drags: the card of a step, to another side of its element or to another corner. */

type Placement = Step['placement']

/** A press on these does something else. A finger that moves on a text writes nothing, so it may drag. */
const pressable = 'a, button, input, textarea, label, video, [part=title]:focus, [role=textbox]'
const writable = '[part=title], [part=body], .actions .button'
/** A press that moves less than this is no drag, pixels. */
const slopPx = 8

export const isMovable = ({ kind }: Step): boolean => kind === 'tooltip' || kind === 'slideout'

function placementAt(step: Step, x: number, y: number): Placement | null {
  const isRtl = getComputedStyle(document.body).direction === 'rtl'
  if (step.kind === 'slideout') {
    const isLeft = x < innerWidth / 2
    const align = isLeft === isRtl ? 'end' : 'start'
    return { side: y < innerHeight / 2 ? 'top' : 'bottom', align }
  }
  const box = step.kind === 'tooltip' ? pointedAt() : null
  if (!box) return null
  const across = (x - box.left - box.width / 2) / Math.max(box.width, 1)
  const along = (y - box.top - box.height / 2) / Math.max(box.height, 1)
  const side =
    Math.abs(across) > Math.abs(along)
      ? across > 0
        ? 'right'
        : 'left'
      : along > 0
        ? 'bottom'
        : 'top'
  return { ...step.placement, side }
}

/** Shows that a card can be dragged, and leaves it to fingers to drag it, or to scroll what is too long. */
export function makeMovable(step: Step): void {
  const card = cardIn(stageRoot())
  const inner = card?.querySelector('.inner')
  if (!card || !inner || !isMovable(step)) return
  card.classList.add('movable')
  card.classList.toggle('long', inner.scrollHeight > inner.clientHeight + 1)
}

interface Drag {
  pointerId: number
  x: number
  y: number
  card: HTMLElement
  step: Step
  isMoved: boolean
}

/**
 * Lets the card be dragged by mouse, pen or finger. Begun before the snippet's stage, which keeps presses on a card
 * to itself.
 *
 * @returns a function that ends it
 */
export function dragCard(
  shown: () => Step | undefined,
  place: (step: Step, placement: Placement) => void,
): () => void {
  let drag: Drag | null = null
  const end = () => {
    drag?.card.classList.remove('dragged')
    if (drag) drag.card.style.transform = ''
    drag = null
  }
  const press = (event: PointerEvent) => {
    end()
    const card = cardIn(stageRoot())
    const step = shown()
    const [target] = event.composedPath()
    if (!card || !step || !isMovable(step) || event.button !== 0 || !event.isPrimary) return
    if (!(target instanceof Element) || !card.contains(target)) return
    const fixed = event.pointerType === 'mouse' ? `${pressable}, ${writable}` : pressable
    if (target.closest(fixed)) return
    const { pointerId, clientX: x, clientY: y } = event
    drag = { pointerId, x, y, card, step, isMoved: false }
  }
  const move = ({ pointerId, clientX, clientY }: PointerEvent) => {
    if (drag?.pointerId !== pointerId) return
    const [x, y] = [clientX - drag.x, clientY - drag.y]
    drag.isMoved ||= Math.hypot(x, y) >= slopPx
    if (!drag.isMoved) return
    // Its place beside the element is its `translate`.
    drag.card.style.transform = `translate(${x}px, ${y}px)`
    drag.card.classList.add('dragged')
  }
  const drop = ({ pointerId, clientX, clientY }: PointerEvent) => {
    if (drag?.pointerId !== pointerId) return
    const { card, step, isMoved, x, y } = drag
    end()
    if (!isMoved) return
    const { left, top, width, height } = card.getBoundingClientRect()
    const to = placementAt(step, left + width / 2 + clientX - x, top + height / 2 + clientY - y)
    const { side, align } = step.placement
    if (to && (to.side !== side || to.align !== align)) place(step, to)
  }
  return listenFirst({ pointerdown: press, pointermove: move, pointerup: drop, pointercancel: end })
}
