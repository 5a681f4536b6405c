import type { Theme } from './theme.ts'

/** A theme as it may be stored, or as it may come from a newer release. */
export type MaybeTheme = Partial<Theme> | null | undefined

type Preset = NonNullable<Theme['preset']>

/** The fields that each preset sets. */
export const presets: Readonly<Record<Preset, Partial<Theme>>> = {
  calm: {
    ...{ radius: 12, shadow: 'soft', density: 'roomy', progress: 'dots' },
    font: { size: 15 },
  },
  sharp: {
    ...{ radius: 0, shadow: 'none', density: 'compact', progress: 'words' },
    font: { size: 14 },
    border: { width: 1 },
  },
  soft: {
    ...{ radius: 22, shadow: 'soft', density: 'roomy', progress: 'dots' },
    font: { size: 16 },
    border: { width: 0 },
  },
  bold: {
    ...{ radius: 6, shadow: 'strong', density: 'normal', progress: 'bar' },
    font: { size: 17 },
    border: { width: 2 },
  },
}

type Fields = { readonly [name: string]: unknown }

const isMapping = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Null, or a mapping with no values, leaves a field to the theme below. */
const isEmpty = (value: unknown) =>
  value === null || value === undefined || (isMapping(value) && Object.values(value).every(isEmpty))

/** Values of the upper theme win; mappings are merged field by field. */
function over(lower: Fields, upper: Fields): Fields {
  const filled = Object.entries(upper).filter(([, value]) => !isEmpty(value))
  const merged = filled.map(([name, value]) => {
    const below = lower[name]
    return [name, isMapping(value) ? over(isMapping(below) ? below : {}, value) : value]
  })
  return { ...lower, ...Object.fromEntries(merged) }
}

const emptyTheme: Theme = { accent: null, background: null, text: null, radius: null }

/** A theme as it is stored, without empty fields; null if it sets nothing at all. */
export function storedTheme(given: MaybeTheme): Theme | null {
  const merged = over({}, (given ?? {}) as Fields)
  return isEmpty(merged) ? null : ({ ...emptyTheme, ...merged } as Theme)
}

/**
 * The theme that a flow is drawn in. The preset comes first (the flow's, otherwise the organisation's),
 * then the organisation's theme over it, then the flow's.
 */
export function mergedTheme(organisation: MaybeTheme, flow: MaybeTheme): Theme {
  const preset = flow?.preset ?? organisation?.preset
  // A newer release may know more presets.
  const ground = preset && Object.hasOwn(presets, preset) ? presets[preset] : null
  return [ground, organisation, flow].reduce<Fields>(
    (theme, upper) => over(theme, upper ?? {}),
    emptyTheme,
  ) as unknown as Theme
}

/** The colours that result from a theme, and their contrast (WCAG 2.2). */

export interface Colours {
  accent: string
  background: string
  text: string
}

/** The snippet's own colours. */
export const ownColours: Readonly<Record<'light' | 'dark', Colours>> = {
  light: { accent: '#1f6feb', background: '#fff', text: '#1c2128' },
  dark: { accent: '#6cb0ff', background: '#22272e', text: '#e6edf3' },
}

/** A background below this luminance counts as dark. */
const darkBelow = 0.35
/** The luminance that has the same contrast with white and with black. */
const evenContrast = 0.179

/** The contrast that text needs, and that other visible shapes need (WCAG 2.2, 1.4.3 and 1.4.11). */
export const minOfText = 4.5
export const minOfShapes = 3

type PageColours = { [Name in keyof Colours]: string | null }

/**
 * The colours that a theme sets for a page. Text and background are a pair: a theme that sets one of them
 * for dark pages does not get the other one from its light colours.
 */
export function coloursOn(
  { accent, background, text, dark }: Partial<Theme>,
  isDarkPage: boolean,
): PageColours {
  const light = { accent: accent ?? null, background: background ?? null, text: text ?? null }
  if (!isDarkPage || !dark) return light
  const isPair = (dark.background ?? dark.text ?? null) !== null
  return {
    accent: dark.accent ?? light.accent,
    background: isPair ? (dark.background ?? null) : light.background,
    text: isPair ? (dark.text ?? null) : light.text,
  }
}

/** Relative luminance of red, green and blue, each from 0 to 1. */
export function luminance([red = 0, green = 0, blue = 0]: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map(part =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Contrast of two luminances, 1 to 21. */
export const contrast = (a: number, b: number): number =>
  (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)

/** Black or white, whichever has more contrast with a luminance. */
export const standingOut = (from: number): '#000' | '#fff' =>
  from > evenContrast ? '#000' : '#fff'

export const isDarkGround = (ground: number): boolean => ground < darkBelow

/**
 * Which of the snippet's own colours go with those that are set: if an author sets a background or a text
 * colour, the colours that they left out must be readable with it.
 *
 * @param of the luminance of a colour; null if it cannot be known
 */
export function goesWith(
  { background, text }: PageColours,
  isDarkPage: boolean,
  of: (colour: string) => number | null,
): 'light' | 'dark' | null {
  const named = background ?? text
  if (named === null) return isDarkPage ? 'dark' : 'light'
  const known = of(named)
  if (known === null) return null
  const isOnDark = background === null ? standingOut(known) === '#000' : isDarkGround(known)
  return isOnDark ? 'dark' : 'light'
}
