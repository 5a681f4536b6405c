import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { fontFiles } from '../../../src/brand/files.ts'

/** What Cairn writes on its own pages is in the font that it ships, so that no other font steps in. */

const source = join(import.meta.dir, '../../../src')

/** The tables of a WOFF2 file with their lengths, and where their compressed data begins. */
function directoryOf(file: Buffer) {
  let at = 48
  const number = () => {
    for (let value = 0; ; ) {
      const byte = file[at++]!
      value = value * 128 + (byte & 127)
      if (byte < 128) return value
    }
  }
  const tables = Array.from({ length: file.readUInt16BE(12) }, () => {
    const flags = file[at++]!
    const tag = flags & 63
    if (tag === 63) at += 4
    const length = number()
    // Outlines are transformed unless their version is 3; other tables unless it is 0.
    const isOutline = tag === 10 || tag === 11
    return { tag, length: flags >> 6 === (isOutline ? 3 : 0) ? length : number() }
  })
  return { tables, dataAt: at }
}

/** The characters that a WOFF2 file has: its `cmap`, the table with the tag 0. */
function charactersIn(file: Buffer): Set<number> {
  const { tables, dataAt } = directoryOf(file)
  const data = brotliDecompressSync(file.subarray(dataAt, dataAt + file.readUInt32BE(20)))
  const place = tables.findIndex(({ tag }) => tag === 0)
  const cmap = data.subarray(tables.slice(0, place).reduce((sum, { length }) => sum + length, 0))
  const found = new Set<number>()
  for (let i = 0; i < cmap.readUInt16BE(2); i++) {
    const map = cmap.subarray(cmap.readUInt32BE(8 + i * 8))
    const count = map.readUInt16BE(6) / 2
    // Format 4, which has all characters up to U+FFFF.
    if (map.readUInt16BE(0) !== 4) continue
    for (let j = 0; j < count; j++) {
      const end = map.readUInt16BE(14 + j * 2)
      for (let c = map.readUInt16BE(16 + (count + j) * 2); c <= end; c++) found.add(c)
    }
  }
  return found
}

const drawn = new Set(
  [...fontFiles.values()].flatMap(path => [...charactersIn(readFileSync(path))]),
)

test('the font has letters and punctuation, and no arrows to the side', () => {
  expect([...'aß…“›ЖΩ'].every(sign => drawn.has(sign.codePointAt(0)!))).toBe(true)
  expect(drawn.has(0x2192)).toBe(false)
})

/** What is code is in a font of the reader's. */
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
    return signs.filter(sign => sign > '~' && !drawn.has(sign.codePointAt(0)!)).map(s => [path, s])
  })
  expect(missing).toEqual([])
})
