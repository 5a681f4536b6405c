import type { Flow, Item } from '../parts.ts'
import type { Host } from './host.ts'
import { button, closeButton, make } from './make.ts'
import { markdownNodes } from './markdown.ts'
import { wordsFor } from './words.ts'

export interface ChecklistState {
  isOpen: boolean
  /** Steps are shown: one thing at a time. */
  isHidden: boolean
  isTicked(itemId: string): boolean
  /** Whether its turn has come. */
  isOpenTo(item: Item): boolean
}

export interface ChecklistActions {
  toggle(isOpen: boolean): void
  open(item: Item): void
  dismiss(): void
}

/** Draws a checklist: a button in the corner, and the panel that it opens. */
export function drawChecklist(flow: Flow, host: Host, page: Window, actions: ChecklistActions) {
  const root = host.root(flow.theme)
  const words = wordsFor(page)
  const items = flow.checklist?.items ?? []

  const itemOf = (item: Item, { isTicked, isOpenTo }: ChecklistState): HTMLElement => {
    const isDone = isTicked(item.id)
    const pressed = button(page, `item${isDone ? ' ticked' : ''}`, '', () => actions.open(item))
    pressed.disabled = isDone || !isOpenTo(item)
    pressed.append(
      make(page, 'span', 'tick', { 'aria-hidden': 'true' }, isDone ? '✓' : ''),
      make(page, 'span', 'title', {}, item.title),
    )
    if (item.description) {
      const nodes = markdownNodes(item.description, page)
      pressed.append(make(page, 'span', 'description', {}, ...nodes))
    }
    pressed.setAttribute('aria-label', isDone ? `${item.title} ✓` : item.title)
    return make(page, 'li', '', {}, pressed)
  }

  const panelOf = (state: ChecklistState, done: number): HTMLElement => {
    const shut = () => actions.toggle(false)
    const panel = make(page, 'div', 'card panel', { role: 'dialog', 'aria-labelledby': 'title' })
    const bar = make(page, 'progress', '', {
      max: `${items.length}`,
      value: `${done}`,
      'aria-label': words.of(done, items.length),
    })
    const inner = make(page, 'div', 'inner')
    inner.append(
      make(page, 'h2', '', { id: 'title' }, flow.name),
      make(page, 'span', 'place', {}, words.of(done, items.length)),
      bar,
      make(page, 'ul', 'items', {}, ...items.map(item => itemOf(item, state))),
      button(page, 'quiet', words.hide, actions.dismiss),
    )
    panel.append(inner, closeButton(page, words.close, shut))
    panel.addEventListener('keydown', event => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      shut()
    })
    return panel
  }

  const launcherOf = (done: number): HTMLElement => {
    const label = `${flow.name} · ${words.of(done, items.length)}`
    const launcher = button(page, 'launcher', label, () => actions.toggle(true))
    launcher.setAttribute('aria-expanded', 'false')
    return launcher
  }

  let wasOpen: boolean | null = null
  return {
    draw(state: ChecklistState): void {
      host.attach()
      if (state.isHidden) {
        root.replaceChildren()
        return
      }
      const done = items.filter(({ id }) => state.isTicked(id)).length
      const hadFocus = root.contains((root.getRootNode() as ShadowRoot).activeElement)
      const shown = state.isOpen ? panelOf(state, done) : launcherOf(done)
      root.replaceChildren(shown)
      // Opened or closed by its own button: the keyboard stays with it.
      if (hadFocus && wasOpen !== null) {
        const next = state.isOpen ? shown.querySelector<HTMLElement>('.item:not(:disabled)') : shown
        next?.focus()
      }
      wasOpen = state.isOpen
    },
    remove: () => root.remove(),
  }
}
