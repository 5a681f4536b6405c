import cyrillic from '@fontsource-variable/inter/files/inter-cyrillic-wght-normal.woff2' with {
  type: 'file',
}
import greek from '@fontsource-variable/inter/files/inter-greek-wght-normal.woff2' with {
  type: 'file',
}
import latinExt from '@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2' with {
  type: 'file',
}
import latin from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2' with {
  type: 'file',
}
import { unpacked } from '../core/text/packed.ts'
import { packedBrand } from './bundle.ts' with { type: 'macro' }
import type { Brand } from './bundle.ts'

/** The style that all pages share, made while Cairn is built. */
export const brand = unpacked<Brand>(packedBrand())

const { fonts } = brand

/** Where the font's files are, by the names that pages know. */
export const fontFiles: ReadonlyMap<string, string> = new Map([
  [fonts.latin, latin],
  [fonts['latin-ext'], latinExt],
  [fonts.cyrillic, cyrillic],
  [fonts.greek, greek],
])
