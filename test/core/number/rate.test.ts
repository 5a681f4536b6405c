import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fourDecimals, rate } from '../../../src/core/number/statistics.ts'

describe('rate', () => {
  test.each([
    [0, 0, null],
    [5, 0, null],
    [0, 7, 0],
    [7, 7, 1],
    [1, 3, 0.3333],
    [2, 3, 0.6667],
    [1, 32, 0.0313],
    [57, 800, 0.0713],
    [3, 2, 1.5],
    [1, 20_001, 0],
    [1, 20_000, 0.0001],
  ])('%p of %p is %p', (n, d, expected) => {
    expect(rate(n, d)).toBe(expected)
  })

  test('rounds half up exactly, whatever the counts', () => {
    const counts = fc.integer({ min: 1, max: 1e9 }).chain(d => {
      return fc.tuple(fc.integer({ min: 0, max: d }), fc.constant(d))
    })
    fc.assert(
      fc.property(counts, ([n, d]) => {
        const tenThousandths = (20_000n * BigInt(n) + BigInt(d)) / (2n * BigInt(d))
        expect(rate(n, d)).toBe(Number(tenThousandths) / 10_000)
      }),
    )
  })
})

test('fourDecimals rounds to the nearest ten-thousandth', () => {
  expect([0.12344, 0.12346, 1, 0].map(fourDecimals)).toEqual([0.1234, 0.1235, 1, 0])
})
