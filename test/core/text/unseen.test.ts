import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { hasUnseen, onOneLine, withEscapes } from '../../../src/core/text/unseen.ts'
import { rounds } from '../../support/rounds.ts'

/** Every kind of character that could mislead a terminal or a reader, by what it does. */
const bank: [string, string][] = [
  ['moves the cursor', '\u001b[2J'],
  ['ends a line', '\r'],
  ['begins a command, of C1', '\u009b31m'],
  ['deletes', '\u007f\b'],
  ['turns the text around', '\u202a\u202b\u202c\u202d\u202e'],
  ['isolates', '\u2066\u2067\u2068\u2069'],
  ['marks a direction', '\u200e\u200f\u061c'],
  ['separates lines and paragraphs', '\u2028\u2029'],
  ['is a byte order mark', '\ufeff'],
  ['takes no room', '\u200b\u2060'],
  ['is a tag', '\u{e0001}\u{e0041}\u{e007f}'],
  ['is half of a pair', '\ud800'],
]

describe('withEscapes', () => {
  test.each(bank)('shows what %s', (_, text) => {
    const told = withEscapes(`a${text}b`)
    expect(told).toMatch(/^a[ -~]+b$/)
    expect(JSON.parse(`"${told}"`)).toBe(`a${text}b`)
  })

  test('leaves readable text as it is: lines, tabs, every script, joined emoji', () => {
    const text = 'a\n\tb äöü 漢字 עברית عربى 👩\u200d💻 ن\u200cم'
    expect(withEscapes(text)).toBe(text)
    expect(onOneLine(text)).not.toContain('\n')
  })

  test('keeps the value of JSON the same, whatever is in it', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom(...bank.map(([, text]) => text), '"', '\\', '\n'),
    )
    const text = fc.array(unit).map(units => units.join(''))
    fc.assert(
      fc.property(fc.dictionary(text, text, { noNullPrototype: true }), value => {
        const told = withEscapes(JSON.stringify(value))
        expect(hasUnseen(told)).toBe(false)
        expect(JSON.parse(told)).toEqual(value)
      }),
      { numRuns: rounds(1_000) },
    )
  })
})
