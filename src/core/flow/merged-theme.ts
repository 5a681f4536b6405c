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
const saysNothing = (value: unknown) =>
  value === null ||
  value === undefined ||
  (isMapping(value) && Object.values(value).every(saysNothing))

/** Values of the upper theme win; mappings are merged field by field. */
function over(lower: Fields, upper: Fields): Fields {
  const said = Object.entries(upper).filter(([, value]) => !saysNothing(value))
  const merged = said.map(([name, value]) => {
    const below = lower[name]
    return [name, isMapping(value) ? over(isMapping(below) ? below : {}, value) : value]
  })
  return { ...lower, ...Object.fromEntries(merged) }
}

const nothingSaid: Theme = { accent: null, background: null, text: null, radius: null }

/** A theme as it is stored, without empty fields; null if it sets nothing at all. */
export function storedTheme(given: MaybeTheme): Theme | null {
  const said = over({}, (given ?? {}) as Fields)
  return saysNothing(said) ? null : ({ ...nothingSaid, ...said } as Theme)
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
    nothingSaid,
  ) as unknown as Theme
}
