import { render } from 'preact'
import type { Button, Step } from '../../snippet/parts.ts'
import { safely } from '../../snippet/safely.ts'
import { make } from '../../snippet/stage/make.ts'
import { asMeant, drawnOrder } from './buttons.ts'
import { CardText } from './card-text.tsx'
import { cardIn, stageRoot } from './stage-root.ts'
import { words } from './words.ts'

/** What an author writes on the drawn step itself: its title, its text and the labels of its buttons. */

/** The field on the card that has the focus. */
let writing: Element | null = null
/** What a key has left, and so gets the focus once the step is drawn anew. */
let left: { step: string | undefined; part: Part } | null = null

/** The card, its text, or the button at a place. */
type Part = 'card' | 'text' | number

/** Whether the author is writing on the card, which is then not drawn anew. */
export const isWriting = (): boolean => writing !== null && stageRoot()?.activeElement === writing

export interface OnCard {
  /** The step as it is now. */
  step(): Step | undefined
  title(text: string): void
  text(markdown: string): void
  buttons(all: Button[]): void
  /** Nothing is being written any longer: the step can be drawn anew. */
  left(): void
}

/** Makes the texts of the step that was just drawn writable where they stand. */
export function editOnCard(on: OnCard): void {
  const dot = stageRoot()?.querySelector<HTMLElement>('.root:not(.leaves) > .spot')
  const open = (card: HTMLElement) => {
    const step = on.step()
    if (step) makeWritable(card, step, on)
  }
  // The card of a hotspot is what its author works on.
  if (dot && !cardIn(stageRoot())) dot.click()
  const card = cardIn(stageRoot())
  if (card) open(card)
  dot?.addEventListener('click', () => {
    queueMicrotask(() => {
      const opened = cardIn(stageRoot())
      if (opened && opened !== card) safely(() => open(opened))
    })
  })
}

function makeWritable(card: HTMLElement, step: Step, on: OnCard): void {
  const inner = card.querySelector<HTMLElement>('.inner') ?? card
  const title = partOf(card, 'title') ?? make(window, 'h2', '', { part: 'title' })
  const media = inner.querySelector('.media')
  if (!title.isConnected) inner.insertBefore(title, media?.nextSibling ?? inner.firstChild)
  const text = partOf(card, 'body') ?? make(window, 'div', 'body', { part: 'body' }, words.addText)
  if (!text.isConnected) title.after(text)
  text.classList.toggle('absent', step.body === '')
  writeTitle(title, on)
  writeText(text, on)
  writeLabels(card, on)
  if (left?.step === step.key) focusOn(card, left.part)
  left = null
}

const partOf = (card: HTMLElement, part: string) =>
  card.querySelector<HTMLElement>(`[part=${part}]`)
const actionsOf = (card: HTMLElement) => card.querySelector<HTMLElement>('.actions')

/** Gives the focus to a part of the card, unless the author has moved it meanwhile. */
function focusOn(card: HTMLElement, part: Part): void {
  const root = stageRoot()
  const isFree = [document.body, root?.host].includes(document.activeElement ?? document.body)
  const isOnCard = [null, undefined, card].includes(root?.activeElement as HTMLElement | null)
  if (!isFree || !isOnCard) return
  const to =
    part === 'card'
      ? card
      : part === 'text'
        ? partOf(card, 'body')
        : (actionsOf(card)?.children[part] as HTMLElement | undefined)
  to?.focus({ preventScroll: true })
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
function follow(field: HTMLElement, { isLine, next, type, restore }: Field, on: OnCard): void {
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
    left = isByKey ? { step: key, part: next } : null
    isByKey = false
    // The field may lose the focus because it is just being taken away.
    queueMicrotask(() =>
      safely(() => {
        const card = field.closest<HTMLElement>('.card')
        restore?.()
        on.left()
        if (left && card?.isConnected) focusOn(card, next)
      }),
    )
  })
}

const lineIn = (field: HTMLElement, max: number) =>
  (field.textContent ?? '').replaceAll('\n', ' ').slice(0, max)

function writeTitle(title: HTMLElement, on: OnCard): void {
  title.contentEditable = 'plaintext-only'
  title.dataset.absent = words.addTitle
  const type = () => on.title(lineIn(title, 200))
  follow(title, { isLine: true, next: 'card', type }, on)
}

/** A press on the text, or Enter, shows it as it is written, to be changed. */
function writeText(text: HTMLElement, on: OnCard): void {
  text.tabIndex = 0
  text.setAttribute('role', 'group')
  text.title = words.editText
  const begin = () => {
    if (text.querySelector('textarea')) return
    const drawn = [...text.childNodes]
    const holder = make(window, 'div', 'writing')
    // The card stays as wide as it is.
    text.style.minWidth = `${text.offsetWidth}px`
    text.replaceChildren(holder)
    const write = (value: string) => on.text(value)
    render(<CardText value={on.step()?.body ?? ''} write={write} />, holder)
    const field = holder.querySelector('textarea')!
    const restore = () => {
      render(null, holder)
      text.style.minWidth = ''
      text.replaceChildren(...drawn)
    }
    follow(field, { isLine: false, next: 'text', type: () => write(field.value), restore }, on)
    field.focus({ preventScroll: true })
    field.setSelectionRange(field.value.length, field.value.length)
  }
  text.addEventListener('click', event => {
    // A link in it still leads somewhere.
    if (!(event.target as Element).closest('a, textarea, button')) safely(begin)
  })
  text.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || event.target !== text) return
    event.preventDefault()
    safely(begin)
  })
}

/** Whether the labels are the author's, or stand for buttons that the author can have. Skip is none of them. */
const mayLabel = ({ buttons, advance, question }: Step) =>
  buttons.length > 0 || (advance.on === 'button' && (!question || question.required === true))

/** A press on a button writes its label, in place of what it does for visitors. */
function writeLabels(card: HTMLElement, on: OnCard): void {
  const actions = actionsOf(card)
  const step = on.step()
  if (!actions || !step || !mayLabel(step)) return
  const drawn = [...actions.children] as HTMLElement[]
  /** Those that are drawn without being the author's, as the author would have them. */
  const asDrawn: Button[] = drawn.map(({ textContent, classList }) => ({
    label: textContent ?? '',
    action: classList.contains('main') ? 'next' : 'back',
    href: null,
  }))
  const write = (place: number, label: string) => {
    const { buttons = [] } = on.step() ?? {}
    if (label.trim() === '') return
    const all = buttons.length > 0 ? buttons : asDrawn
    const at = drawnOrder(all)[place]
    if (at !== undefined) on.buttons(all.with(at, { ...all[at]!, label }).map(asMeant))
  }
  for (const button of drawn) button.title = words.editLabel
  actions.addEventListener(
    'click',
    event => {
      const button = (event.target as Element).closest<HTMLElement>('button')
      const place = drawn.indexOf(button!)
      if (!button || place < 0) return
      event.preventDefault()
      event.stopPropagation()
      const field = make(
        window,
        'span',
        button.className,
        { role: 'textbox', 'aria-label': words.label },
        button.textContent ?? '',
      )
      field.setAttribute('part', button.getAttribute('part') ?? '')
      field.contentEditable = 'plaintext-only'
      const type = () => write(place, lineIn(field, 100))
      const restore = () => field.replaceWith(button)
      follow(field, { isLine: true, next: place, type, restore }, on)
      button.replaceWith(field)
      field.focus({ preventScroll: true })
      safely(() => getSelection()?.selectAllChildren(field))
    },
    { capture: true },
  )
}
