import type { Flow } from '../parts.ts'
import { safely } from '../safely.ts'
import { matching } from './elements.ts'
import { headingOf } from './heading.ts'
import type { Host } from './host.ts'
import { icon } from './icons.ts'
import { launcherIcons } from './launcher-icons.ts'
import { drawOffers } from './launcher-offers.ts'
import { placeButton, placePanel } from './launcher-places.ts'
import type { DrawnLauncher, LauncherActions, LauncherState, StageTools } from './launcher-shown.ts'
import { launcherStyles } from './launcher-styles.ts'
import { type LauncherWords, launcherWordsIn } from './launcher-words.ts'
import { button, closeButton, make } from './make.ts'
import { addStyles } from './part-styles.ts'
import type { Words } from './words.ts'

/** Tells the page's own element how many announcements are unread, so that its style sheet can show that. */
const unreadAttribute = 'data-cairn-unread'

/**
 * Draws a launcher: a button in the corner, or the page's own element, and the panel that it opens. The panel
 * is not modal: the page beside it can be used, and a press there closes it.
 */
export function drawLauncher(
  authored: Flow,
  host: Host,
  page: Window,
  locale: string | undefined,
  actions: LauncherActions,
  { spoken, markdownNodes }: StageTools,
): DrawnLauncher {
  const { document } = page
  const root = host.root(authored.theme)
  addStyles(root, launcherStyles, page)
  const { target, icon: iconName, iconOnly, side } = authored.launcher!
  const atSide = ` at-side-${side}`
  const panelId = 'cairn-launcher'
  const ended = new AbortController()
  const { signal } = ended
  let state: LauncherState = { isOpen: false, isHidden: false, offers: [], unread: 0 }
  let launcher: HTMLButtonElement | null = null
  let panel: HTMLElement | null = null
  /** What had the focus when the panel was opened. */
  let opener: HTMLElement | null = null

  const elements = () => (target === undefined ? [] : matching(document, target))
  const elementIn = (event: Event) => {
    const own = elements()
    return event.composedPath().find(one => own.includes(one as Element)) as HTMLElement | undefined
  }

  const place = () => {
    if (launcher) placeButton(launcher, page)
    const element = elements()[0]
    if (panel) placePanel(panel, launcher ?? element ?? null, page)
  }

  /** The page may draw its element anew, which then knows nothing of this. */
  const mark = () => {
    const own = elements()
    if (target !== undefined) actions.matched(own.length)
    for (const element of own) {
      element.setAttribute('aria-haspopup', 'dialog')
      element.setAttribute('aria-expanded', `${state.isOpen}`)
      if (state.unread > 0) element.setAttribute(unreadAttribute, `${state.unread}`)
      else element.removeAttribute(unreadAttribute)
    }
  }
  const unmark = () => {
    for (const element of elements())
      for (const name of ['aria-haspopup', 'aria-expanded', unreadAttribute])
        element.removeAttribute(name)
  }

  const drawButton = (now: Flow, words: LauncherWords) => {
    const heading = headingOf(now)
    launcher ??= button(page, '', '', () => actions.toggle(!state.isOpen))
    const { unread } = state
    const count =
      unread === 0
        ? []
        : [
            make(page, 'bdi', 'unread-count', { 'aria-hidden': 'true' }, shortened(unread)),
            make(page, 'span', 'unseen', {}, words.unread(unread)),
          ]
    launcher.className = `launcher centre-button${atSide}${iconOnly ? ' icon-only' : ''}`
    launcher.setAttribute('part', 'launcher')
    launcher.setAttribute('aria-haspopup', 'dialog')
    launcher.setAttribute('aria-expanded', `${state.isOpen}`)
    launcher.popover = 'manual'
    launcher.replaceChildren(
      icon(page, 'icon', launcherIcons[iconName]),
      make(page, 'bdi', iconOnly ? 'unseen' : '', {}, heading),
      ...count,
    )
    if (launcher.parentNode !== root) {
      root.prepend(launcher)
      launcher.showPopover()
    }
  }

  const drawPanel = (
    now: Flow,
    words: Words & LauncherWords,
    speak: (part: HTMLElement, of: { key: string }) => void,
  ) => {
    const focused = (root.getRootNode() as ShadowRoot).activeElement as HTMLElement | null
    const at = panel ? pressablesIn(panel).indexOf(focused as HTMLElement) : -1
    const scrolled = panel?.querySelector('.inner')?.scrollTop ?? 0
    const isNew = panel === null
    const shut = () => actions.toggle(false)
    const title = make(page, 'h2', '', { id: 'launcher-title', part: 'title' }, headingOf(now))
    const inner = make(page, 'div', 'inner', {}, title)
    inner.append(drawOffers(state.offers, now, words, page, { ...actions, speak, markdownNodes }))
    const drawn = make(
      page,
      'div',
      `card panel centre${atSide}`,
      {
        id: panelId,
        popover: 'manual',
        role: 'dialog',
        part: 'card panel',
        'aria-labelledby': 'launcher-title',
        tabindex: '-1',
      },
      inner,
      closeButton(page, words.close, shut),
    )
    drawn.addEventListener('keydown', event => {
      if (event.key !== 'Escape' || event.isComposing) return
      event.preventDefault()
      event.stopPropagation()
      safely(shut)
    })
    root.classList.toggle('still', !isNew)
    if (panel) panel.replaceWith(drawn)
    else root.append(drawn)
    panel = drawn
    drawn.showPopover()
    inner.scrollTo({ top: scrolled })
    if (isNew) {
      opener = document.activeElement as HTMLElement | null
      drawn.focus({ preventScroll: true })
    } else if (at >= 0) pressablesIn(drawn)[at]?.focus({ preventScroll: true })
  }

  const removePanel = () => {
    const hadFocus = panel?.contains((root.getRootNode() as ShadowRoot).activeElement)
    panel?.remove()
    panel = null
    if (hadFocus) (launcher ?? opener)?.focus({ preventScroll: true })
    opener = null
  }

  const draw = (next: LauncherState) => {
    state = next
    host.attachToPage()
    const { flow: now, speak } = spoken(authored, page, locale)
    const words = { ...speak(root), ...launcherWordsIn(root.lang || page.navigator.language) }
    if (target === undefined && !state.isHidden) drawButton(now, words)
    else {
      launcher?.remove()
      launcher = null
    }
    mark()
    if (state.isOpen) drawPanel(now, words, (part, of) => void speak(part, of))
    else if (panel) removePanel()
    place()
  }

  const on = <Name extends keyof WindowEventMap>(
    name: Name,
    listen: (event: WindowEventMap[Name]) => void,
  ) => page.addEventListener(name, event => safely(() => listen(event)), { capture: true, signal })
  on('click', event => {
    if (!elementIn(event)) return
    // A link of the page opens this instead of leading anywhere.
    event.preventDefault()
    actions.toggle(!state.isOpen)
  })
  on('pointerdown', event => {
    if (state.isOpen && !event.composedPath().includes(root) && !elementIn(event)) {
      actions.toggle(false)
    }
  })
  on('keydown', event => {
    // On the page itself, where the focus is if what had it is gone.
    const isFree = document.activeElement === document.body
    if (event.key === 'Escape' && isFree && !event.defaultPrevented && state.isOpen) {
      actions.toggle(false)
    }
  })
  on('resize', place)
  on('scroll', place)
  // A checklist's button in the same corner comes, grows and goes.
  const others = new MutationObserver(() => safely(place))
  others.observe(root.getRootNode(), { childList: true, subtree: true })
  const marking = page.setInterval(() => safely(mark), 1_000)

  return {
    draw,
    remove() {
      ended.abort()
      others.disconnect()
      page.clearInterval(marking)
      unmark()
      root.remove()
    },
  }
}

const pressablesIn = (panel: HTMLElement) => [
  ...panel.querySelectorAll<HTMLElement>('button:enabled'),
]

const maxShown = 9
const shortened = (count: number) => (count > maxShown ? `${maxShown}+` : `${count}`)
