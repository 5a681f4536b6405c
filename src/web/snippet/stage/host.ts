import { type MaybeTheme, mergedTheme } from '../../../core/flow/merged-theme.ts'
import type { Flow } from '../parts.ts'
import { safely } from '../safely.ts'
import { around, ownHostAttribute } from './elements.ts'
import { darkPreferred } from './ground.ts'
import { styles } from './styles.ts'
import { dress } from './theme.ts'

/** How long after the page has changed its looks they are read, milliseconds: it may fade to them. */
const tintAfterMs = 400

/** A page that removes the host more often than this gets rid of it. */
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

  let isPlaced = false
  /** The element that the next drawing points at. */
  let pointedAt: Element | null = null
  let removals = 0

  /**
   * Puts the host where what it shows can be seen and used: in the dialog that the element is in, otherwise
   * in the page. A page that re-renders may have removed it with the rest.
   */
  const attach = (element: Element | null = null) => {
    if (isPlaced && !host.isConnected) removals++
    isPlaced = true
    pointedAt = element
    const place = layerOf(element) ?? document.body
    if (host.parentNode !== place) place.append(host)
    // Otherwise what is placed in window pixels would be placed in zoomed ones.
    const { currentCSSZoom = 1 } = place
    host.style.setProperty('zoom', `${1 / currentCSSZoom}`, 'important')
  }

  return {
    attach,
    /** Whether the page has removed it, but not so often that it seems not to be wanted there. */
    wasRemoved: () => !host.isConnected && removals < mostRemovals,
    say(text: string) {
      live.textContent = text
    },
    /** The theme that a flow is drawn in: its own over the organisation's. */
    themeOf: (theme: Flow['theme']) => mergedTheme(ofOrganisation(), theme),
    /** An element with a flow's theme, in the page's direction and suited to its background. */
    root(theme: Flow['theme']): HTMLElement {
      if (!host.isConnected) attach()
      const element = pointedAt
      pointedAt = null
      const root = document.createElement('div')
      root.className = 'root'
      root.dir = page.getComputedStyle(document.body).direction
      root.lang = document.documentElement.lang
      shadow.append(root)
      const tint = () => dress(root, mergedTheme(ofOrganisation(), theme), element, page)
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

function layerOf(element: Element | null): Element | null {
  for (let at = element; at; at = around(at)) if (at.matches(layers)) return at
  return null
}
