import type { Button, Step } from '../../snippet/parts.ts'
import { safely } from '../../snippet/safely.ts'
import { make } from '../../snippet/stage/make.ts'
import { asMeant, drawnOrder } from './buttons.ts'
import { actionsOf, follow, lineIn, type OnCard } from './card-fields.ts'
import { words } from './words.ts'

/** The labels of buttons, written where the card has them. */

/** Whether the labels are the author's, or stand for buttons that the author can have. Skip is none of them. */
const mayLabel = ({ buttons, advance, question }: Step) =>
  buttons.length > 0 || (advance.on === 'button' && (!question || question.required === true))

/** A press on a button writes its label, in place of what it does for visitors. */
export function writeLabels(card: HTMLElement, on: OnCard): void {
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
