import type { Flow, Item } from '../parts.ts'
import { safely } from '../safely.ts'
import { headingOf } from './heading.ts'
import type { Host } from './host.ts'
import { check, icon, progressRing } from './icons.ts'
import { button, closeButton, make } from './make.ts'
import { markdownNodes } from './markdown.ts'
import { type Spoken, spoken } from './spoken.ts'
import type { Words } from './words.ts'

export interface ChecklistState {
  isOpen: boolean
  /** Whether it is hidden because steps are shown: one thing at a time. */
  isHidden: boolean
  isTicked(itemId: string): boolean
  /** Whether its turn has come. */
  isOpenTo(item: Item): boolean
}

export interface ChecklistActions {
  toggle(isOpen: boolean): void
  open(item: Item): void
  /** Ticks it without following its address. */
  tick(item: Item): void
  dismiss(): void
}

/** Draws a checklist: a button in the corner, and the panel that it opens. */
export function drawChecklist(
  source: Flow,
  host: Host,
  page: Window,
  locale: string | undefined,
  actions: ChecklistActions,
) {
  const root = host.root(source.theme)
  /** The flow as the visitor reads it now: a page may change its language. */
  let now: Spoken
  let words: Words
  let items: readonly Item[]
  const read = () => {
    now = spoken(source, page, locale)
    words = now.speak(root)
    items = now.flow.checklist?.items ?? []
  }
  read()

  const itemOf = (item: Item, { isTicked, isOpenTo }: ChecklistState): HTMLElement => {
    const isDone = isTicked(item.id)
    const tick = isDone
      ? make(
          page,
          'span',
          'tick',
          { role: 'img', 'aria-label': words.done },
          icon(page, 'icon', check),
        )
      : make(page, 'span', 'tick')
    const parts = [tick, make(page, 'span', 'title', {}, item.title)]
    const row = make(page, 'li', isDone ? 'ticked' : '', { part: 'item' })
    now.speak(row, item)
    if (item.href === null && item.flow === undefined && item.completeOn !== null) {
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

  const { side, label } = host.themeOf(source.theme).launcher ?? {}
  const atSide = side ? ` at-side-${side}` : ''

  const stateOf = (done: number) =>
    done === items.length ? words.allDone : words.of(done, items.length)

  /** What a list that is done looks like: calm, and soon gone. */
  const finished = (...message: HTMLElement[]): HTMLElement =>
    make(
      page,
      'div',
      'finished',
      {},
      make(page, 'div', 'badge', {}, icon(page, 'icon', check)),
      ...message,
    )

  const panelOf = (state: ChecklistState, done: number): HTMLElement => {
    const shut = () => actions.toggle(false)
    const panel = make(page, 'div', `card panel${atSide}`, {
      popover: 'manual',
      role: 'dialog',
      part: 'card panel',
      'aria-labelledby': 'checklist-title',
    })
    const inner = make(page, 'div', 'inner')
    const title = make(
      page,
      'h2',
      '',
      { id: 'checklist-title', part: 'title' },
      headingOf(now.flow),
    )
    const place = make(page, 'span', 'place', { part: 'progress' }, stateOf(done))
    if (done === items.length) inner.append(finished(title, place))
    else {
      const bar = make(page, 'progress', '', {
        max: `${items.length}`,
        value: `${done}`,
        'aria-label': words.of(done, items.length),
      })
      const rows = items.map(item => itemOf(item, state))
      inner.append(title, place, bar, make(page, 'ul', 'items', {}, ...rows))
      inner.append(button(page, 'quiet', words.hide, actions.dismiss))
    }
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
    const launcher = button(page, `launcher${atSide}`, '', () => actions.toggle(true))
    launcher.setAttribute('part', 'launcher')
    // If the theme has a label of its own, only the ring shows the progress.
    const count = make(page, 'bdi', label ? 'unseen' : 'count', {}, ` · ${stateOf(done)}`)
    launcher.append(
      progressRing(page, items.length > 0 ? done / items.length : 0),
      make(page, 'span', '', {}, make(page, 'bdi', '', {}, label ?? headingOf(now.flow)), count),
    )
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
      host.attachToPage()
      read()
      const done = items.filter(({ id }) => state.isTicked(id)).length
      const focused = (root.getRootNode() as ShadowRoot).activeElement
      const hadFocus = root.contains(focused)
      const at = rowsOf(root).findIndex(row => row.contains(focused))
      const scrolled = root.querySelector('.inner')?.scrollTop ?? 0
      const shown = state.isOpen ? panelOf(state, done) : launcherOf(done)
      root.classList.toggle('still', wasOpen === state.isOpen)
      root.classList.toggle('drawn', wasOpen === true && done === items.length)
      root.replaceChildren(shown)
      shown.showPopover()
      shown.querySelector('.inner')?.scrollTo({ top: scrolled })
      // The focus goes to where the person was, otherwise to the first item that is open.
      if (hadFocus) (state.isOpen ? nextIn(shown, Math.max(0, at)) : shown)?.focus()
      wasOpen = state.isOpen
    },
    sayDone: () => host.say(words.allDone),
    point() {
      const panel = root.querySelector<HTMLElement>('.panel')
      // It comes in once more, as if it had just been opened.
      root.classList.remove('still')
      if (panel) nextIn(panel, 0)?.focus()
    },
    remove: () => root.remove(),
  }
}

const rowsOf = (shown: HTMLElement) => [...shown.querySelectorAll<HTMLElement>('.items > li')]

/** The first thing that can be pressed, from a row on. */
function nextIn(panel: HTMLElement, at: number): HTMLElement | null {
  const rows = rowsOf(panel)
  const open = [...rows.slice(at), ...rows].flatMap(row => [
    ...row.querySelectorAll<HTMLElement>('.item:enabled'),
  ])
  return open[0] ?? panel.querySelector<HTMLElement>('.close')
}
