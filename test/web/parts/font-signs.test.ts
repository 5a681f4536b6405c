import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brand } from '../../../src/brand/files.ts'

/** What Cairn writes on its own pages is in the font that it ships, so that no other font steps in. */

const source = join(import.meta.dir, '../../../src')

/** The first and last code points for which a browser takes the font. */
const ranges = [...brand.style.matchAll(/unicode-range:([^}]+)/g)].flatMap(([, list]) =>
  list!.split(',').map(range => {
    const [from, to = from] = range.trim().slice('U+'.length).split('-')
    return [Number.parseInt(from!, 16), Number.parseInt(to!, 16)] as const
  }),
)

const isInFont = (sign: string) => {
  const point = sign.codePointAt(0)!
  return ranges.some(([from, to]) => from <= point && point <= to)
}

test('the font has letters and punctuation, and no arrows to the side', () => {
  expect([...'aß…“›ЖΩ'].filter(sign => !isInFont(sign))).toEqual([])
  expect(isInFont('→')).toBe(false)
})

/** Code is shown in a font of the reader's system. */
const withoutCode = (text: string) => text.replaceAll(/```.*?```|`[^`\n]*`/gs, '')

test.each([
  ['web/dashboard/**/*.{ts,tsx,css}', (text: string) => text],
  ['brand/*', (text: string) => text],
  ['modules/*/page/*.{ts,css}', (text: string) => text],
  ['manual/*.md', withoutCode],
] as const)('the signs of %s are in the font', (files, textOf) => {
  const paths = [...new Bun.Glob(files).scanSync(source)]
  expect(paths).not.toBeEmpty()
  const missing = paths.flatMap(path => {
    const signs = [...textOf(readFileSync(join(source, path), 'utf8'))]
    return signs.filter(sign => !isInFont(sign)).map(sign => [path, sign])
  })
  expect(missing).toEqual([])
})
