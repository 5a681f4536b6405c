import { type MaybeTheme, mergedTheme } from '../../../core/flow/merged-theme.ts'
import type { Flow } from '../parts.ts'
import { safely } from '../safely.ts'
import { around, ownHostAttribute } from './elements.ts'
import { darkPreferred } from './ground.ts'
import { styles } from './styles.ts'
import { dress } from './theme.ts'

/** So long after the page has changed its looks they are seen, milliseconds: it may fade to them. */
const tintAfterMs = 400

/** A page that throws the host away more often than this gets rid of it. */
const mostRemovals = 10

/** No rule of the page's wins over these. */
const wholeHost = 'all: initial !important; display: contents !important'

/** Of what is drawn above the page, or keeps the keyboard and the mouse to itself. */
const layers = 'dialog[open], :popover-open, [aria-modal=true], [role=dialog], [role=alertdialog]'

/** What happens on a card does not happen on the page: menus that a step points into stay open. */
const ownEvents = ['pointerdown', 'mousedown', 'touchstart', 'click']

/**
 * A place of the snippet's own on the page: a shadow root that the page's styles do not reach, but for
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
  // What is happening, for those who hear the page.
  const live = document.createElement('div')
  live.className = 'root live'
  live.setAttribute('role', 'status')
  live.setAttribute('aria-live', 'polite')
  shadow.append(live)

  /** Gives a root its theme anew. */
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
  /** What is drawn next points at it. */
  let pointedAt: Element | null = null
  let removals = 0

  /**
   * Puts the host where what it shows can be seen and worked: in the dialog that the element is in,
   * else in the page. A page that draws itself anew may have thrown it away with the rest.
   */
  const attach = (element: Element | null = null) => {
    if (isPlaced && !host.isConnected) removals++
    isPlaced = true
    pointedAt = element
    const place = layerOf(element) ?? document.body
    if (host.parentNode !== place) place.append(host)
    // Else what is placed by the window's pixels would be placed by zoomed ones.
    const { currentCSSZoom = 1 } = place
    host.style.setProperty('zoom', `${1 / currentCSSZoom}`, 'important')
  }

  return {
    attach,
    /** Whether the page has thrown it away, and not so often that it is not wanted there. */
    wasRemoved: () => !host.isConnected && removals < mostRemovals,
    say(text: string) {
      live.textContent = text
    },
    /** The theme that a flow is drawn in: its own over the organisation's. */
    themeOf: (theme: Flow['theme']) => mergedTheme(ofOrganisation(), theme),
    /** An element with a flow's theme, in the direction and on the ground of the page. */
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
      // What has a layer of the page does not go above all of it; a window always does.
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
