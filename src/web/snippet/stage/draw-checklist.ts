import type { Flow, Item } from '../parts.ts'
import { safely } from '../safely.ts'
import { headingOf } from './heading.ts'
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
  const heading = headingOf(flow)

  const itemOf = (item: Item, { isTicked, isOpenTo }: ChecklistState): HTMLElement => {
    const isDone = isTicked(item.id)
    const tick = isDone
      ? make(page, 'span', 'tick', { role: 'img', 'aria-label': words.done }, '✓')
      : make(page, 'span', 'tick')
    const parts = [tick, make(page, 'span', 'title', {}, item.title)]
    const row = make(page, 'li', isDone ? 'ticked' : '')
    if (item.href === null && item.completeOn !== null) {
      // Only what the person does on the page ticks it: pressing it would do nothing.
      row.append(make(page, 'div', 'item', {}, ...parts))
    } else {
      const pressed = button(page, 'item', '', () => actions.open(item))
      pressed.disabled = isDone || !isOpenTo(item)
      pressed.append(...parts)
      row.append(pressed)
    }
    if (item.description) {
      const nodes = markdownNodes(item.description, page)
      row.append(make(page, 'div', 'body description', {}, ...nodes))
    }
    return row
  }

  const stateOf = (done: number) =>
    done === items.length ? words.allDone : words.of(done, items.length)

  const panelOf = (state: ChecklistState, done: number): HTMLElement => {
    const shut = () => actions.toggle(false)
    const panel = make(page, 'div', 'card panel', {
      popover: 'manual',
      role: 'dialog',
      'aria-labelledby': 'title',
    })
    const bar = make(page, 'progress', '', {
      max: `${items.length}`,
      value: `${done}`,
      'aria-label': words.of(done, items.length),
    })
    const inner = make(page, 'div', 'inner')
    inner.append(
      make(page, 'h2', '', { id: 'title' }, heading),
      make(page, 'span', 'place', {}, stateOf(done)),
      bar,
      make(page, 'ul', 'items', {}, ...items.map(item => itemOf(item, state))),
    )
    if (done < items.length) inner.append(button(page, 'quiet', words.hide, actions.dismiss))
    panel.append(inner, closeButton(page, words.close, shut))
    panel.addEventListener('keydown', event => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      event.stopPropagation()
      safely(shut)
    })
    return panel
  }

  const launcherOf = (done: number): HTMLElement => {
    const label = `${heading} · ${stateOf(done)}`
    const launcher = button(page, 'launcher', label, () => actions.toggle(true))
    launcher.popover = 'manual'
    launcher.setAttribute('aria-expanded', 'false')
    return launcher
  }

  let wasOpen: boolean | null = null
  return {
    draw(state: ChecklistState): void {
      if (state.isHidden) {
        root.replaceChildren()
        return
      }
      host.attach()
      const done = items.filter(({ id }) => state.isTicked(id)).length
      const focused = (root.getRootNode() as ShadowRoot).activeElement
      const hadFocus = root.contains(focused)
      const at = rowsOf(root).findIndex(row => row.contains(focused))
      const scrolled = root.querySelector('.inner')?.scrollTop ?? 0
      const shown = state.isOpen ? panelOf(state, done) : launcherOf(done)
      root.classList.toggle('still', wasOpen === state.isOpen)
      root.replaceChildren(shown)
      shown.showPopover()
      shown.querySelector('.inner')?.scrollTo({ top: scrolled })
      // Where the person was, else on the first item that is open.
      if (hadFocus) (state.isOpen ? nextIn(shown, Math.max(0, at)) : shown)?.focus()
      wasOpen = state.isOpen
    },
    remove: () => root.remove(),
  }
}

const rowsOf = (shown: HTMLElement) => [...shown.querySelectorAll<HTMLElement>('.items > li')]

/** What is to be pressed from a row on. */
function nextIn(panel: HTMLElement, at: number): HTMLElement | null {
  const rows = rowsOf(panel)
  const open = [...rows.slice(at), ...rows].flatMap(row => [
    ...row.querySelectorAll<HTMLElement>('.item:enabled'),
  ])
  return open[0] ?? panel.querySelector<HTMLElement>('.close')
}
