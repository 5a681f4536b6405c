import {
  type Colours,
  coloursOn,
  contrast,
  goesWith,
  minOfShapes,
  ownColours,
  standingOut,
} from '../../../core/flow/merged-theme.ts'
import type { Theme } from '../../../core/flow/theme.ts'
import { warn } from '../warn.ts'
import { groundBehind, isDark, luminanceOf } from './ground.ts'
import { isSafeSource } from './links.ts'

/** Every token that drawing reads, and the CSS property that tells whether a value is valid for it. */
const tokens = {
  accent: 'color',
  'on-accent': 'color',
  background: 'color',
  text: 'color',
  faint: 'color',
  line: 'color',
  radius: 'border-radius',
  shadow: 'box-shadow',
  font: 'font-family',
  'font-size': 'font-size',
  space: 'padding-top',
  'border-width': 'border-top-width',
  backdrop: 'background-color',
  width: 'width',
  z: 'z-index',
} as const

type Token = keyof typeof tokens

const shadows = {
  none: 'none',
  soft: '0 2px 6px rgb(0 0 0 / .06), 0 12px 36px rgb(0 0 0 / .14)',
  strong: '0 4px 10px rgb(0 0 0 / .2), 0 18px 48px rgb(0 0 0 / .38)',
}
const spaces = { compact: '11px', normal: '16px', roomy: '22px' }

const px = (length: number | null | undefined) =>
  typeof length === 'number' ? `${length}px` : null

/** The page's own font; null, for the system's, if the page says nothing of it. */
function pageFont(root: Element, page: Window): string | null {
  const { fontFamily } = page.getComputedStyle(page.document.body)
  const initial = page.getComputedStyle((root.getRootNode() as ShadowRoot).host).fontFamily
  return fontFamily === initial ? null : fontFamily
}

/** As a CSS value; null for one that must not be loaded. */
function imageOf(logo: string | undefined, page: Window): string | null {
  const url = logo === undefined ? null : URL.parse(logo, page.location.href)
  return url && isSafeSource(url.href, page) ? `url(${JSON.stringify(url.href)})` : null
}

/**
 * Gives a root its tokens: from the page (`--cairn-…`), otherwise from the theme, otherwise from the style
 * sheet. What the browser does not accept is ignored, because the token would have no value at all.
 *
 * @param element what is pointed at; the accent has to be visible against what is behind it
 */
export function dress(
  root: HTMLElement,
  theme: Theme,
  element: Element | null,
  page: Window,
): void {
  const { style, classList } = root
  const known = page.getComputedStyle(root)
  const overrides: Partial<Record<Token, string>> = {}
  for (const name of Object.keys(tokens) as Token[]) {
    const own = known.getPropertyValue(`--cairn-${name}`).trim()
    if (own && CSS.supports(tokens[name], own)) overrides[name] = own
    else if (own) warn(`--cairn-${name}: "${own}" is nothing that ${tokens[name]} takes`)
  }
  const set = (name: Token, value: string | null | undefined) => {
    if (overrides[name]) style.setProperty(`--${name}`, `var(--cairn-${name})`)
    else if (value && CSS.supports(tokens[name], value)) style.setProperty(`--${name}`, value)
    else style.removeProperty(`--${name}`)
  }

  const luminance = (colour: string) => luminanceOf(colour, root, page)
  const isDarkPage = isDark(root, page)
  const named = coloursOn(theme, isDarkPage)
  const colours = {} as Record<keyof Colours, string | null>
  for (const name of ['accent', 'background', 'text'] as const) {
    const colour = overrides[name] ?? named[name]
    colours[name] = colour && CSS.supports('color', colour) ? colour : null
    set(name, colours[name])
  }
  const own = goesWith(colours, isDarkPage, luminance) ?? 'light'
  classList.toggle('dark', own === 'dark')
  const accent = luminance(colours.accent ?? ownColours[own].accent)
  set('on-accent', standingOut(accent))

  const behind = groundBehind(element, root, page)
  const isLost = behind === null || contrast(accent, behind) < minOfShapes
  classList.toggle('lost', isLost)
  style.setProperty('--ring-line', standingOut(behind ?? accent))
  const background = luminance(colours.background ?? ownColours[own].background)
  classList.toggle('pale', contrast(accent, background) < minOfShapes)

  const { font, border, shadow, density, zIndex } = theme
  set('radius', px(theme.radius))
  set('line', border?.color)
  set('border-width', px(border?.width))
  set('shadow', shadow && shadows[shadow])
  set('space', density && spaces[density])
  set(
    'font',
    font?.family === 'inherit' ? pageFont(root, page) : (font?.family ?? pageFont(root, page)),
  )
  set('font-size', px(font?.size))
  for (const name of ['faint', 'backdrop', 'width'] as const) set(name, null)
  set('z', zIndex === undefined ? null : `${zIndex}`)
  classList.toggle('layered', !!style.getPropertyValue('--z'))

  const logo = imageOf((own === 'dark' && theme.dark?.logo) || theme.logo, page)
  if (logo) style.setProperty('--logo', logo)
  classList.toggle('branded', logo !== null)
}
