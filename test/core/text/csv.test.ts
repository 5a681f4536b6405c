import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { type CsvCell, csvBom, csvRow } from '../../../src/core/text/csv.ts'
import { rounds } from '../../support/rounds.ts'

describe('csvRow', () => {
  const table: [string, (CsvCell | undefined)[], string][] = [
    ['plain cells', ['a', 'b c', 'é'], 'a,b c,é'],
    ['nothing', [null, undefined, ''], ',,'],
    ['numbers and booleans', [0, -1, 1.5, -0, true, false], '0,-1,1.5,0,true,false'],
    ['numbers that are none', [Number.NaN, Number.POSITIVE_INFINITY], ','],
    ['a comma', ['a,b'], '"a,b"'],
    ['a quote', ['say "hi"'], '"say ""hi"""'],
    ['line breaks', ['a\nb', 'a\rb', 'a\r\nb'], '"a\nb","a\rb","a\r\nb"'],
    ['outer spaces', [' a', 'a ', ' '], '" a","a "," "'],
    ['what other readers part cells by', ['x;=1', 'a\tb', 'a|b'], '"x;=1","a\tb","a|b"'],
    ['formulas of full width', ['＝1', '＋1', '－1', '＠x'], "'＝1,'＋1,'－1,'＠x"],
    ['formulas', ['=1+1', '+1', '-1', '@x'], "'=1+1,'+1,'-1,'@x"],
    ['formulas behind white space', ['\t=1', '\r=1', '\n=1'], `"'\t=1","'\r=1","'\n=1"`],
    ['a formula that needs quotes', ['=A1,"x"'], `"'=A1,""x"""`],
    ['formula signs further in', ['a=1', '1-1', 'x@y', "'=1"], "a=1,1-1,x@y,'=1"],
    ['no cells', [], ''],
  ]
  test.each(table)('%s', (_, cells, line) => {
    expect(csvRow(cells)).toBe(`${line}\r\n`)
  })

  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom(...'=+-@＝＋－＠\t\r\n",;| \'ab1') }),
  )
  const cell = fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null))
  const rows = fc
    .integer({ min: 1, max: 5 })
    .chain(width => fc.array(fc.array(cell, { minLength: width, maxLength: width })))

  test('reads back as written, except for the apostrophe in front of formulas', () => {
    fc.assert(
      fc.property(rows, written => {
        const read = parse(written.map(csvRow).join(''), { record_delimiter: '\r\n' })
        expect(read).toEqual(written.map(row => row.map(asRead)))
      }),
      { numRuns: rounds(500) },
    )
  })

  test('no text cell reads back as a formula', () => {
    fc.assert(
      fc.property(text, value => {
        const [[read]] = parse(csvRow([value]), { record_delimiter: '\r\n' }) as [[string]]
        expect(read).not.toMatch(/^[=+\-@＝＋－＠\t\r\n]/)
      }),
    )
  })

  test('no cell begins with a formula if semicolons, tabs and bars separate cells too', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), texts => {
        const [read = []] = parse(csvRow(texts), {
          delimiter: [',', ';', '\t', '|'],
          record_delimiter: '\r\n',
        }) as string[][]
        expect(read.filter(cell => /^[=+\-@＝＋－＠]/.test(cell))).toEqual([])
      }),
      { numRuns: rounds(500) },
    )
  })

  test('the byte order mark is three bytes, which a reader removes', () => {
    expect(new TextEncoder().encode(csvBom)).toEqual(Uint8Array.of(0xef, 0xbb, 0xbf))
    expect(parse(csvBom + csvRow(['a']), { bom: true })).toEqual([['a']])
  })
})

function asRead(value: CsvCell): string {
  if (value === null) return ''
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : ''
  return /^[=+\-@＝＋－＠\t\r\n]/.test(`${value}`) ? `'${value}` : `${value}`
}
