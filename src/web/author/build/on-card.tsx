import { render } from 'preact'
import type { Step } from '../../snippet/parts.ts'
import { safely } from '../../snippet/safely.ts'
import { make } from '../../snippet/stage/make.ts'
import { focusNext, follow, lineIn, type OnCard, partOf } from './card-fields.ts'
import { writeLabels } from './card-labels.ts'
import { CardText } from './card-text.tsx'
import { cardIn, stageRoot } from './stage-root.ts'
import { words } from './words.ts'

/** What an author writes on the drawn step itself: its title, its text and the labels of its buttons. */

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
  focusNext(card, step)
}

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
