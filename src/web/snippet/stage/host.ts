import type { Flow } from '../parts.ts'
import { safely } from '../safely.ts'
import { around, ownHostAttribute } from './elements.ts'
import { styles } from './styles.ts'

/** Below this a page's background counts as dark, of 1. */
const darkBelow = 0.35
/** Where contrast with white and with black is the same (WCAG 2.2). */
const evenContrast = 0.179

const darkPreferred = '(prefers-color-scheme: dark)'
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

/** A place of the snippet's own on the page: a shadow root that the page's styles do not reach. */
export function createHost(page: Window) {
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

  /** Gives a root its colours anew. */
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
  let removals = 0

  /**
   * Puts the host where what it shows can be seen and worked: in the dialog that the element is in,
   * else in the page. A page that draws itself anew may have thrown it away with the rest.
   */
  const attach = (element: Element | null = null) => {
    if (isPlaced && !host.isConnected) removals++
    isPlaced = true
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
    /** An element with a flow's colours, in the direction and on the ground of the page. */
    root(theme: Flow['theme']): HTMLElement {
      if (!host.isConnected) attach()
      const { radius } = theme ?? {}
      const [accent, background, text] = [theme?.accent, theme?.background, theme?.text].map(
        // What is no colour to the browser would leave none at all.
        colour => (colour && CSS.supports('color', colour) ? colour : null),
      )
      const luminance = (colour: string) => luminanceOf(colour, shadow, page)
      const root = document.createElement('div')
      root.className = 'root'
      // On a ground of the author's own the colours that they left out have to be readable too.
      const isOnDark = () =>
        background
          ? luminance(background) < darkBelow
          : text
            ? luminance(text) > evenContrast
            : isDark(shadow, page)
      const tint = () => root.classList.toggle('dark', isOnDark())
      tint()
      tints.set(root, tint)
      root.dir = page.getComputedStyle(document.body).direction
      root.lang = document.documentElement.lang
      const set = (name: string, value: string | null | undefined) => {
        if (value) root.style.setProperty(name, value)
      }
      set('--accent', accent)
      set('--on-accent', accent && (luminance(accent) > evenContrast ? '#000' : '#fff'))
      set('--background', background)
      set('--text', text)
      set('--radius', typeof radius === 'number' ? `${radius}px` : null)
      shadow.append(root)
      return root
    },
  }
}

export type Host = ReturnType<typeof createHost>

function layerOf(element: Element | null): Element | null {
  for (let at = element; at; at = around(at)) if (at.matches(layers)) return at
  return null
}

/**
 * Red, green, blue and how opaque, of 1 each, of any colour that a style sheet takes; nothing where it
 * is none.
 */
function channelsOf(colour: string, shadow: ShadowRoot, page: Window): number[] {
  const probe = page.document.createElement('div')
  probe.style.color = `color-mix(in srgb, ${colour} 100%, transparent)`
  shadow.append(probe)
  const { color } = page.getComputedStyle(probe)
  probe.remove()
  const [, channels = ''] = /^color\(srgb (.*)\)$/.exec(color) ?? []
  return channels.match(/-?[\d.]+(?:e-?\d+)?/g)?.map(Number) ?? []
}

/** Relative luminance (WCAG 2.2), 0 to 1. */
function luminanceOf(colour: string, shadow: ShadowRoot, page: Window): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour, shadow, page).map(part =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Whether the page itself is dark, whatever the system prefers. */
function isDark(shadow: ShadowRoot, page: Window): boolean {
  const { body, documentElement } = page.document
  for (const element of [body, documentElement]) {
    const { backgroundColor } = page.getComputedStyle(element)
    const [, , , opacity = 1] = channelsOf(backgroundColor, shadow, page)
    if (opacity > 0.5) return luminanceOf(backgroundColor, shadow, page) < darkBelow
  }
  const { colorScheme } = page.getComputedStyle(documentElement)
  return colorScheme === 'dark' || (colorScheme.includes('dark') && prefersDark(page))
}

const prefersDark = (page: Window) => page.matchMedia(darkPreferred).matches
