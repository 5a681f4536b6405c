import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as radix from '@radix-ui/colors'
import { packed } from '../core/text/packed.ts'

/**
 * Makes the style that all pages share. Runs while Cairn is built (and, from the sources, when the
 * importing file is loaded).
 */

/** The parts of the font that are loaded when a page has their characters. */
const subsets = ['latin', 'latin-ext', 'cyrillic', 'greek'] as const
export type Subset = (typeof subsets)[number]

export interface Brand {
  style: string
  /** The names of the font's files, which have their hash. */
  fonts: Record<Subset, string>
}

const fontPackage = join(import.meta.dir, '../../node_modules/@fontsource-variable/inter')

/** Scales in use, by what they mean. */
const scales = {
  gray: 'slate',
  accent: 'indigo',
  good: 'jade',
  warn: 'amber',
  bad: 'tomato',
} as const

/**
 * Radix's colours, each with its dark counterpart in one value. Radix itself wants a class on the
 * page, and whoever prefers dark would see white until the script has run.
 */
function colours(): string {
  const scaleNamed = radix as unknown as Record<string, Record<string, string>>
  const lines = Object.entries(scales).flatMap(([meaning, name]) => {
    const dark = Object.values(scaleNamed[`${name}Dark`]!)
    return Object.values(scaleNamed[name]!).map(
      (light, i) => `--${meaning}-${i + 1}:light-dark(${light},${dark[i]})`,
    )
  })
  return `:root{${lines.join(';')}}\n`
}

function fontName(subset: Subset): string {
  const bytes = readFileSync(join(fontPackage, `files/inter-${subset}-wght-normal.woff2`))
  const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 16)
  return `inter-${subset}-${hash}.woff2`
}

/** The shared style, and the font's files that it names. Addresses are relative to `/docs/`. */
export function brandOf(): Brand {
  const ranges = JSON.parse(readFileSync(join(fontPackage, 'unicode.json'), 'utf8'))
  const fonts = Object.fromEntries(
    subsets.map(subset => [subset, fontName(subset)]),
  ) as Brand['fonts']
  const faces = subsets.map(
    subset =>
      `@font-face{font-family:Inter;font-weight:100 900;font-display:swap;src:url(${fonts[subset]}) format("woff2");unicode-range:${ranges[subset]}}\n`,
  )
  const shared = readFileSync(join(import.meta.dir, 'brand.css'), 'utf8')
  return { style: colours() + faces.join('') + shared, fonts }
}

export const packedBrand = (): string => packed(brandOf())
