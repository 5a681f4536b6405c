import type { Step } from '../../snippet/parts.ts'
import { safely } from '../../snippet/safely.ts'
import { ownHostAttribute } from '../../snippet/stage/elements.ts'

/** What an author does on the drawn step itself: writes the title where it stands, and drags the card to another side. */

type Placement = Step['placement']

/** The shadow root in which the snippet draws steps. */
export const stageRoot = (): ShadowRoot | null =>
  document.querySelector(`[${ownHostAttribute}=""]`)?.shadowRoot ?? null

const cardIn = (root: ShadowRoot | null) =>
  root?.querySelector<HTMLElement>('.root:not(.leaves) > .card') ?? null

/** Whether the author is writing on the card, which is then not drawn anew. */
export const isWriting = (): boolean =>
  (stageRoot()?.activeElement as HTMLElement | null)?.isContentEditable === true

/** Lets the title be written where it is drawn. A press on the text leads to its field. */
export function editOnCard(on: { title(text: string): void; left(): void; text(): void }): void {
  const card = cardIn(stageRoot())
  const title = card?.querySelector<HTMLElement>('[part=title]')
  if (title) {
    title.contentEditable = 'plaintext-only'
    title.addEventListener('input', () =>
      safely(() => on.title((title.textContent ?? '').replaceAll('\n', ' ').slice(0, 200))),
    )
    title.addEventListener('keydown', event => {
      if (event.key !== 'Enter' && event.key !== 'Escape') return
      event.preventDefault()
      event.stopPropagation()
      title.blur()
    })
    title.addEventListener('blur', () => safely(on.left))
  }
  const text = card?.querySelector<HTMLElement>('[part=body]')
  if (text) {
    text.style.cursor = 'text'
    text.addEventListener('click', event => {
      // A link in it still leads somewhere.
      if (!(event.target as Element).closest('a')) on.text()
    })
  }
  if (card) card.style.cursor = 'grab'
}

const pressable = 'a, button, input, textarea, label, [part=title], [part=body], video'

/** The box of what a tooltip points at, as the ring around it shows. */
const pointedAt = () => stageRoot()?.querySelector('.ring')?.getBoundingClientRect() ?? null

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

/**
 * Lets the card be dragged by mouse. Begun before the snippet's stage, which keeps presses on a card to itself.
 *
 * @returns a function that ends it
 */
export function dragCard(
  shown: () => Step | undefined,
  place: (step: Step, placement: Placement) => void,
): () => void {
  let from: { x: number; y: number; card: HTMLElement; step: Step } | null = null
  const begin = (event: PointerEvent) => {
    const card = cardIn(stageRoot())
    const step = shown()
    const [target] = event.composedPath()
    if (!card || !step || event.button !== 0 || event.pointerType !== 'mouse') return
    if (!(target instanceof Element) || !card.contains(target) || target.closest(pressable)) return
    from = { x: event.clientX, y: event.clientY, card, step }
  }
  const move = ({ clientX, clientY }: PointerEvent) => {
    if (!from) return
    from.card.style.translate = `${clientX - from.x}px ${clientY - from.y}px`
    from.card.style.cursor = 'grabbing'
  }
  const drop = ({ clientX, clientY, type }: PointerEvent) => {
    if (!from) return
    const { card, step, x, y } = from
    from = null
    card.style.translate = ''
    card.style.cursor = 'grab'
    // A press that hardly moves is no drag.
    if (type !== 'pointerup' || Math.hypot(clientX - x, clientY - y) < 8) return
    const { left, top, width, height } = card.getBoundingClientRect()
    const to = placementAt(step, left + width / 2 + clientX - x, top + height / 2 + clientY - y)
    const { side, align } = step.placement
    if (to && (to.side !== side || to.align !== align)) place(step, to)
  }
  const listeners = { pointerdown: begin, pointermove: move, pointerup: drop, pointercancel: drop }
  const entries = Object.entries(listeners) as [string, (event: never) => void][]
  for (const [name, listener] of entries) {
    window.addEventListener(name, listener as EventListener, { capture: true })
  }
  return () => {
    for (const [name, listener] of entries) {
      window.removeEventListener(name, listener as EventListener, { capture: true })
    }
  }
}

/** Whether a panel covers the step's card or its element. */
export function isCovered(panel: Element | null): boolean {
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
