import type { Flow } from '../parts.ts'
import { ownHostAttribute } from './elements.ts'
import { styles } from './styles.ts'

/** Below this a page's background counts as dark, of 1. */
const darkBelow = 0.35

const wholeHost = 'position: static; display: contents'

/** A place of the snippet's own on the page: a shadow root that the page's styles do not reach. */
export function createHost(page: Window) {
  const { document } = page
  const host = document.createElement('div')
  host.setAttribute(ownHostAttribute, '')
  host.style.cssText = wholeHost
  const shadow = host.attachShadow({ mode: 'open' })
  const sheet = new (page as Window & typeof globalThis).CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [sheet]
  // What is happening, for those who hear the page.
  const live = document.createElement('div')
  live.className = 'root live'
  live.setAttribute('role', 'status')
  live.setAttribute('aria-live', 'polite')
  shadow.append(live)

  return {
    shadow,
    /** A page that draws itself anew may have thrown the host away with the rest. */
    attach() {
      if (!host.isConnected) document.body.append(host)
    },
    say(text: string) {
      live.textContent = text
    },
    /** An element with a flow's colours, in the direction and on the ground of the page. */
    root(theme: Flow['theme']): HTMLElement {
      const root = document.createElement('div')
      root.className = `root${isDark(page) ? ' dark' : ''}`
      root.dir = page.getComputedStyle(document.body).direction
      root.lang = document.documentElement.lang
      const { accent, background, text, radius } = theme ?? {}
      const set = (name: string, value: string | null | undefined) => {
        if (value) root.style.setProperty(name, value)
      }
      set('--accent', accent)
      set('--on-accent', accent && readableOn(accent, page))
      set('--background', background)
      set('--text', text)
      set('--radius', typeof radius === 'number' ? `${radius}px` : null)
      shadow.append(root)
      return root
    },
    remove: () => host.remove(),
  }
}

export type Host = ReturnType<typeof createHost>

/** Red, green and blue of a computed colour, 0 to 255, and how opaque it is, 0 to 1. */
function channelsOf(computed: string): [number, number, number, number] {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (computed.match(/[\d.]+/g) ?? []).map(Number)
  return [red, green, blue, alpha]
}

/** Relative luminance (WCAG 2.2), 0 to 1. */
function luminanceOf(computed: string): number {
  const [red, green, blue] = channelsOf(computed)
    .slice(0, 3)
    .map(channel => channel / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/** Whether the page itself is dark, whatever the system prefers. */
function isDark(page: Window): boolean {
  const { body, documentElement } = page.document
  for (const element of [body, documentElement]) {
    const { backgroundColor } = page.getComputedStyle(element)
    const isOpaque = channelsOf(backgroundColor)[3] > 0.5 && backgroundColor.startsWith('rgb')
    if (isOpaque) return luminanceOf(backgroundColor) < darkBelow
  }
  const { colorScheme } = page.getComputedStyle(documentElement)
  return colorScheme === 'dark' || (colorScheme.includes('dark') && prefersDark(page))
}

const prefersDark = (page: Window) => page.matchMedia('(prefers-color-scheme: dark)').matches

/** Black or white, whichever reads better on a colour. */
function readableOn(colour: string, page: Window): string {
  const probe = page.document.createElement('div')
  probe.style.color = colour
  page.document.body.append(probe)
  const computed = page.getComputedStyle(probe).color
  probe.remove()
  // Where contrast with white and with black is the same (WCAG 2.2).
  return luminanceOf(computed) > 0.179 ? '#000' : '#fff'
}
