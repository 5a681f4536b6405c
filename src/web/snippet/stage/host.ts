import { type MaybeTheme, mergedTheme } from '../../../core/flow/merged-theme.ts'
import type { Flow } from '../parts.ts'
import { safely } from '../safely.ts'
import { around, ownHostAttribute } from './elements.ts'
import { darkPreferred } from './ground.ts'
import { keepInUse } from './keep-in-use.ts'
import { settle } from './motion.ts'
import { styles } from './styles.ts'
import { dress } from './theme.ts'
import { whenDetached } from './when-detached.ts'

/** How long after the page has changed its looks they are read, milliseconds: it may fade to them. */
const tintAfterMs = 400

/** A page that removes the host, and nothing else, at once (milliseconds) and this often, gets rid of it. */
const atOnceMs = 200
const mostRemovals = 10

/** No rule of the page overrides these. */
const wholeHost = 'all: initial !important; display: contents !important'

/** Matches what is drawn above the page, or keeps the keyboard and the mouse to itself. */
const layers = 'dialog[open], :popover-open, [aria-modal=true], [role=dialog], [role=alertdialog]'

/** Events on a card that do not reach the page, so that menus that a step points into stay open. */
const ownEvents = ['pointerdown', 'mousedown', 'touchstart', 'click']

/**
 * The snippet's own place on the page: a shadow root that the page's styles do not reach, except through
 * the tokens and parts that the manual names.
 */
export function createHost(page: Window, ofOrganisation: () => MaybeTheme) {
  const { document } = page
  const host = document.createElement('div')
  host.setAttribute(ownHostAttribute, '')
  host.style.cssText = wholeHost
  const shadow = host.attachShadow({ mode: 'open' })
  for (const name of ownEvents) {
    shadow.addEventListener(name, event => event.stopPropagation(), { passive: true })
  }
  const sheet = new (page as Window & typeof globalThis).CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [sheet]
  // Announces what is happening to screen reader users.
  const live = document.createElement('div')
  live.className = 'root live'
  live.setAttribute('role', 'status')
  live.setAttribute('aria-live', 'polite')
  shadow.append(live)

  /** For each root, a function that gives it its theme anew. */
  const tints = new WeakMap<Element, () => void>()
  let isToTint = false
  const tintAll = () => {
    isToTint = false
    for (const root of [...shadow.children]) safely(() => tints.get(root)?.())
  }
  /** The page may turn dark, or light, while something is shown. */
  const tintSoon = () => {
    if (!isToTint) page.setTimeout(tintAll, tintAfterMs)
    isToTint = true
  }
  for (const element of [document.documentElement, document.body]) {
    new MutationObserver(tintSoon).observe(element, { attributes: true })
  }
  page.matchMedia(darkPreferred).addEventListener('change', tintSoon)

  /** For each root, the element that its drawing points at. */
  const pointedAt = new WeakMap<Element, Element | null>()
  /** The element that the next drawing points at. */
  let next: Element | null = null
  /** The element that decided where the host is, and what it was put behind. */
  let anchor: Element | null = null
  let neighbour: Node | null = null
  let placedAt = 0
  let removals = 0
  let unwatch = () => {}
  const use = keepInUse(shadow, page)

  /**
   * Puts the host where what it shows can be seen and used: in the dialog that the element is in, otherwise
   * in the page.
   */
  const place = (element: Element | null) => {
    anchor = element
    const into = layerOf(element) ?? document.body
    if (host.parentNode !== into) {
      into.append(host)
      placedAt = page.performance.now()
      reopen(shadow)
      use.goOn()
    }
    // Otherwise what is placed in window pixels would be placed in zoomed ones.
    const { currentCSSZoom = 1 } = into
    host.style.setProperty('zoom', `${1 / currentCSSZoom}`, 'important')
    neighbour = host.previousSibling
    unwatch()
    unwatch = whenDetached(host, returnToPage)
  }

  /** A page that re-renders removes the host with the rest. */
  function returnToPage(): void {
    if (host.isConnected) return
    const isAtOnce = page.performance.now() - placedAt < atOnceMs
    removals = isAtOnce && neighbour?.isConnected ? removals + 1 : 0
    const isShown = shadow.childElementCount > 1
    if (isShown && removals < mostRemovals) place(anchor?.isConnected ? anchor : null)
  }

  /** To be called before something is drawn. */
  const attach = (element: Element | null = null) => {
    next = element
    place(element)
  }

  return {
    attach,
    /** Another element has taken the place of the one that a root's drawing points at. */
    pointAt(root: Element, element: Element | null) {
      pointedAt.set(root, element)
      place(element)
    },
    say(text: string) {
      live.textContent = text
    },
    /** The theme that a flow is drawn in: its own over the organisation's. */
    themeOf: (theme: Flow['theme']) => mergedTheme(ofOrganisation(), theme),
    /** An element with a flow's theme, in the page's direction and suited to its background. */
    root(theme: Flow['theme']): HTMLElement {
      if (!host.isConnected) attach()
      const root = document.createElement('div')
      pointedAt.set(root, next)
      next = null
      root.className = 'root'
      root.dir = page.getComputedStyle(document.body).direction
      root.lang = document.documentElement.lang
      shadow.append(root)
      const tint = () =>
        dress(root, mergedTheme(ofOrganisation(), theme), pointedAt.get(root) ?? null, page)
      tint()
      tints.set(root, tint)
      // A popover with a layer on the page does not go above all of the page. A modal dialog always does.
      const stay = (event: Event) => {
        const { popover } = event.target as HTMLElement
        if (popover !== null && root.classList.contains('layered')) event.preventDefault()
      }
      root.addEventListener('beforetoggle', stay, { capture: true })
      return root
    },
  }
}

export type Host = ReturnType<typeof createHost>

/** Opens again, in their order, what the browser closed when it was moved. */
function reopen(shadow: ShadowRoot): void {
  for (const one of shadow.querySelectorAll<HTMLElement>('[popover], dialog')) {
    if (one.matches(':popover-open, :modal')) continue
    if (one.localName === 'dialog') {
      one.removeAttribute('open')
      safely(() => (one as HTMLDialogElement).showModal())
    } else safely(() => one.showPopover())
    settle(one)
  }
}

function layerOf(element: Element | null): Element | null {
  for (let at = element; at; at = around(at)) if (at.matches(layers)) return at
  return null
}
