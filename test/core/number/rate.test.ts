import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fourDecimals, quotient, rate } from '../../../src/core/number/statistics.ts'

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
})

describe('quotient', () => {
  test.each([
    [201, 200, 2, 1.01],
    [-201, 200, 2, -1.01],
    [100, 16, 1, 6.3],
    [-100, 16, 1, -6.3],
    [2_300, 40, 0, 58],
    [-1, 1_000, 2, 0],
    [9_007_199_254_740_991, 2, 0, 4_503_599_627_370_496],
  ])('%p of %p to %p decimals is %p', (n, d, decimals, expected) => {
    expect(quotient(n, d, decimals)).toBe(expected)
  })

  test('is the nearest decimal, and of two that are as near the one further from zero', () => {
    const counts = fc.integer({ min: 1, max: 1_000 }).chain(d => {
      return fc.tuple(fc.integer({ min: -3 * d, max: 3 * d }), fc.constant(d))
    })
    fc.assert(
      fc.property(counts, fc.nat({ max: 4 }), ([n, d], decimals) => {
        const parts = Math.round(quotient(n, d, decimals)! * 10 ** decimals)
        // Twice the distance of n / d from the result, in parts of the last decimal and of d.
        const distance = 2 * (parts * d - n * 10 ** decimals)
        expect(Math.abs(distance)).toBeLessThanOrEqual(d)
        if (Math.abs(distance) === d) expect(Math.sign(distance)).toBe(Math.sign(n))
      }),
    )
  })
})

test('fourDecimals rounds to the nearest ten-thousandth', () => {
  expect([0.12344, 0.12346, 1, 0].map(fourDecimals)).toEqual([0.1234, 0.1235, 1, 0])
})
