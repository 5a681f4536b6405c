import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { cellOf, fieldLines } from '../../src/cli/output.ts'
import { valueFrom } from '../../src/cli/setting-rows.ts'
import { whole } from '../../src/cli/table.ts'

/** What commands make of words and answers, without a server. */

test.each([
  [null, '–'],
  ['', '–'],
  [0, '0'],
  [false, 'false'],
  [['a', 'b'], 'a b'],
  [[], '–'],
  [[{ mail: 'a@example.com', state: 'confirmed' }], 'a@example.com confirmed'],
])('%p of an answer is shown as %p', (value, shown) => {
  expect(cellOf(value)).toBe(shown)
})

test('the fields of an answer are lines, those of an object within it with dots', () => {
  const answer = { id: 'a', limits: { events: 300 }, theme: null, origins: ['x', 'y'] }
  expect(fieldLines(answer)).toEqual([
    'id             a',
    'limits.events  300',
    'theme          –',
    'origins        x y',
  ])
})

test('a whole number has its bounds, and nothing else is one', () => {
  const parse = whole(1, 10)
  expect([parse('1'), parse('10')]).toEqual([1, 10])
  for (const wrong of ['0', '11', '1.5', '-1', '1e1', ' 1', '', '1'.repeat(20)]) {
    expect(() => parse(wrong)).toThrow('It must be a whole number from 1 to 10.')
  }
})

describe('the value of a setting', () => {
  const field = (schema: ReturnType<typeof Type.Unsafe>) => ({
    ...{ key: 'it', schema, isNullable: false },
  })
  test.each([
    [Type.String(), ['a'], 'a'],
    [Type.Array(Type.String()), ['a', 'b'], ['a', 'b']],
    [Type.Integer(), ['30'], 30],
    [Type.Boolean(), ['on'], true],
    [Type.Boolean(), ['false'], false],
  ])('has the type of its field', (schema, words, value) => {
    expect(valueFrom(field(schema), words)).toEqual(value)
  })

  test.each([
    [Type.String(), ['a', 'b'], 'it takes one value'],
    [Type.Integer(), ['3d'], 'it must be a whole number, not "3d"'],
    [Type.Boolean(), ['perhaps'], 'it must be true or false, not "perhaps"'],
    [Type.Object({}), ['a'], 'it has several fields'],
  ])('of another type is an error that says what to write', (schema, words, message) => {
    expect(() => valueFrom(field(schema), words)).toThrow(message)
  })
})
