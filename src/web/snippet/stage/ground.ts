import { isDarkGround, luminance } from '../../../core/flow/merged-theme.ts'
import { around } from './elements.ts'

/** The colours of a page, and what is behind an element. */

export const darkPreferred = '(prefers-color-scheme: dark)'

/**
 * Red, green, blue and opacity, each up to 1, of any colour that a style sheet takes; empty if it is not
 * a colour.
 */
function channelsOf(colour: string, within: Element, page: Window): number[] {
  const probe = page.document.createElement('div')
  probe.style.color = `color-mix(in srgb, ${colour} 100%, transparent)`
  within.append(probe)
  const { color } = page.getComputedStyle(probe)
  probe.remove()
  const [, channels = ''] = /^color\(srgb (.*)\)$/.exec(color) ?? []
  return channels.match(/-?[\d.]+(?:e-?\d+)?/g)?.map(Number) ?? []
}

/** Relative luminance, 0 to 1, of a colour as it is within one of the snippet's elements. */
export const luminanceOf = (colour: string, within: Element, page: Window): number =>
  luminance(channelsOf(colour, within, page))

function* outwards(element: Element): Iterable<Element> {
  for (let at = around(element); at; at = around(at)) yield at
}

/** The luminance of the page around an element, or of the page itself; null if there is an image behind. */
export function groundBehind(
  element: Element | null,
  within: Element,
  page: Window,
): number | null {
  const { body, documentElement } = page.document
  for (const one of element ? outwards(element) : [body, documentElement]) {
    const { backgroundColor, backgroundImage } = page.getComputedStyle(one)
    if (backgroundImage !== 'none') return null
    const [, , , opacity = 1] = channelsOf(backgroundColor, within, page)
    if (opacity > 0.5) return luminanceOf(backgroundColor, within, page)
  }
  return isDark(within, page) ? 0 : 1
}

/** Whether the page itself is dark, whatever the system prefers. */
export function isDark(within: Element, page: Window): boolean {
  const { body, documentElement } = page.document
  for (const element of [body, documentElement]) {
    const { backgroundColor } = page.getComputedStyle(element)
    const [, , , opacity = 1] = channelsOf(backgroundColor, within, page)
    if (opacity > 0.5) return isDarkGround(luminanceOf(backgroundColor, within, page))
  }
  const { colorScheme } = page.getComputedStyle(documentElement)
  const prefersDark = page.matchMedia(darkPreferred).matches
  return colorScheme === 'dark' || (colorScheme.includes('dark') && prefersDark)
}
