import type { Button, Step } from '../../snippet/parts.ts'
import { safely } from '../../snippet/safely.ts'
import { stageRoot } from './stage-root.ts'

/** Fields on the drawn step: which of them is being written, and what gets the focus after it. */

/** The field on the card that has the focus. */
let writing: Element | null = null
/** What gets the focus once the step is drawn again: after a key has ended writing, or a step was added. */
let nextFocus: { step: string | undefined; part: Part } | null = null

/** The card, a text of it, or the button at a place. */
type Part = 'card' | 'title' | 'text' | number

/** Lets the author write the title of a step as soon as the step is drawn. */
export function writeTitleOf(step: string): void {
  nextFocus = { step, part: 'title' }
}

/** Whether the author is writing on the card, which is then not drawn anew. */
export const isWriting = (): boolean => writing !== null && stageRoot()?.activeElement === writing

export interface OnCard {
  /** The step as it is now. */
  step(): Step | undefined
  title(text: string): void
  text(markdown: string): void
  buttons(all: Button[]): void
  /** Called when nothing is being written any longer: the step can be drawn again. */
  done(): void
}

export const partOf = (card: HTMLElement, part: string) =>
  card.querySelector<HTMLElement>(`[part=${part}]`)
export const actionsOf = (card: HTMLElement) => card.querySelector<HTMLElement>('.actions')

/** Gives the focus to a part of the card, unless the author has moved it meanwhile. */
function focusOn(card: HTMLElement, part: Part): void {
  const root = stageRoot()
  const isFree = [document.body, root?.host].includes(document.activeElement ?? document.body)
  const isOnCard = [null, undefined, card].includes(root?.activeElement as HTMLElement | null)
  if (!isFree || !isOnCard) return
  const to =
    part === 'card'
      ? card
      : typeof part === 'number'
        ? (actionsOf(card)?.children[part] as HTMLElement | undefined)
        : partOf(card, part === 'text' ? 'body' : part)
  to?.focus({ preventScroll: true })
}

/** Gives the focus to the part of the step that is next, once the step was drawn again. */
export function focusNext(card: HTMLElement, step: Step): void {
  if (nextFocus?.step === step.key) focusOn(card, nextFocus.part)
  nextFocus = null
}

interface Field {
  isLine: boolean
  /** What gets the focus if a key leaves the field. */
  next: Part
  type(): void
  /** Puts back what was drawn. */
  restore?(): void
}

/** Follows what is written in a field. Escape leaves it, and so does Enter if it is a line. */
export function follow(
  field: HTMLElement,
  { isLine, next, type, restore }: Field,
  on: OnCard,
): void {
  let isByKey = false
  field.addEventListener('focus', () => {
    writing = field
  })
  field.addEventListener('input', () => safely(type))
  field.addEventListener('keydown', event => {
    const leaves = event.key === 'Escape' || (isLine && event.key === 'Enter')
    if (!leaves || event.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    isByKey = true
    field.blur()
  })
  field.addEventListener('blur', () => {
    if (writing === field) writing = null
    const key = on.step()?.key
    nextFocus = isByKey ? { step: key, part: next } : null
    isByKey = false
    // The field may lose the focus because it is just being taken away.
    queueMicrotask(() =>
      safely(() => {
        const card = field.closest<HTMLElement>('.card')
        restore?.()
        on.done()
        if (nextFocus && card?.isConnected) focusOn(card, next)
      }),
    )
  })
}

export const lineIn = (field: HTMLElement, max: number) =>
  (field.textContent ?? '').replaceAll('\n', ' ').slice(0, max)
