import { expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { allowedFingerprint, Fingerprint } from '../../../src/core/step/fingerprint.ts'
import { textHash } from '../../../src/core/text/text-hash.ts'
import { SchemaBook } from '../../../src/http/description/json-schema.ts'
import { rounds } from '../../support/rounds.ts'

/** The described shape of a fingerprint is the shape that is kept. */

const book = new SchemaBook()
book.of(Fingerprint)
const fits = new Ajv2020({ strict: false }).compile(book.components.Fingerprint!)

const names = Object.keys(Fingerprint.properties)

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('x'.repeat(600), textHash('Delete'), ' a  b '),
)
const part = fc.oneof(
  text,
  fc.double(),
  fc.array(text, { maxLength: 60 }),
  fc.dictionary(fc.oneof(text, fc.constantFrom('name', 'href', 'data-testid')), text),
  fc.record({ x: fc.double(), y: fc.double(), width: fc.double(), height: fc.double() }),
  fc.record({ attr: text, value: text }),
  fc.array(fc.record({ tag: text, testId: text, nth: fc.integer() }), { maxLength: 20 }),
)

test('whatever is sent, what is kept of it has the described shape', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), part), sent => {
      const kept = allowedFingerprint(sent)
      expect([kept, fits(kept)]).toEqual([kept, true])
      expect(Object.keys(kept).filter(name => !names.includes(name))).toEqual([])
    }),
    { numRuns: rounds(500) },
  )
})

test('every example is kept as it is shown', () => {
  for (const example of Fingerprint.examples) expect(allowedFingerprint(example)).toEqual(example)
})
