import { expect, test } from 'bun:test'
import { settled } from './pattern.ts'

const fits = (pattern: unknown, value: unknown) => Bun.deepEquals(settled(pattern, value), value)

const time = '2026-11-20T09:30:00.000Z'

test.each<[pattern: unknown, value: unknown]>([
  [1, 1],
  [null, null],
  ['', ''],
  ['<any>', null],
  ['<text>', 'x'],
  ['<number>', 0],
  ['<time>', time],
  ['<now>', new Date().toISOString()],
  ['<about 1000000>', 1_000_500],
  ['<1 to 60>', '60'],
  ['This path takes …', 'This path takes GET'],
  ['…-br"', '"x-br"'],
  [
    { a: '<time>', '…': null },
    { a: time, b: 1 },
  ],
  [
    [1, '…'],
    [1, 2, 3],
  ],
  [['…'], []],
  [{ list: [{ id: '<text>' }] }, { list: [{ id: 'x' }] }],
])('%j lets %j through', (pattern, value) => {
  expect(fits(pattern, value)).toBe(true)
})

test.each<[pattern: unknown, value: unknown]>([
  [1, '1'],
  [null, undefined],
  [{}, { a: 1 }],
  [{ a: 1 }, {}],
  [{ a: '<any>' }, {}],
  [{ a: '<any>', '…': null }, { b: 1 }],
  [[], [1]],
  [[1], []],
  [[1, 2, '…'], [1]],
  [['…'], {}],
  ['<text>', ''],
  ['<text>', 7],
  ['<time>', '2026-11-20T09:30:00Z'],
  ['<now>', time],
  ['<about 1000000>', 0],
  ['<1 to 60>', '0'],
  ['<1 to 60>', null],
  ['This path takes …', 'That path takes GET'],
  ['a.c', 'abc'],
])('%j does not let %j through', (pattern, value) => {
  expect(fits(pattern, value)).toBe(false)
})

test('an unknown word is refused, so that a typing error lets nothing through', () => {
  expect(() => settled('<tmie>', time)).toThrow('There is no <tmie>')
})
