import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { nearestRank } from '../../../src/core/number/statistics.ts'

describe('nearestRank', () => {
  test.each([
    [[], 0.5, null],
    [[7], 0, 7],
    [[7], 1, 7],
    [[15, 20, 35, 40, 50], 0.05, 15],
    [[15, 20, 35, 40, 50], 0.3, 20],
    [[15, 20, 35, 40, 50], 0.4, 20],
    [[15, 20, 35, 40, 50], 0.5, 35],
    [[15, 20, 35, 40, 50], 1, 50],
    [[1, 2], 0.5, 1],
    [[1, 2, 3, 4], 0.5, 2],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.9, 9],
  ])('%p at %p is %p', (sorted, q, expected) => {
    expect(nearestRank(sorted, q)).toBe(expected)
  })

  test('has the exact rank for every percent and length', () => {
    for (let n = 1; n <= 400; n++) {
      const ranks = Array.from({ length: n }, (_, i) => i + 1)
      for (let percent = 1; percent <= 100; percent++) {
        const rank = Number((BigInt(percent * n) + 99n) / 100n)
        if (nearestRank(ranks, percent / 100) !== rank) {
          expect({ n, percent, rank: nearestRank(ranks, percent / 100) }).toEqual({
            n,
            percent,
            rank,
          })
        }
      }
    }
  })

  test('answers one of the values, with at least q of all values no greater', () => {
    const values = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1 })
    const quantile = fc.integer({ min: 0, max: 1000 })
    fc.assert(
      fc.property(values, quantile, (list, thousandths) => {
        const sorted = Float64Array.from(list).sort()
        const value = nearestRank(sorted, thousandths / 1000)!
        expect(list).toContain(value)
        const upTo = list.filter(other => other <= value).length
        const below = list.filter(other => other < value).length
        expect(upTo * 1000).toBeGreaterThanOrEqual(thousandths * list.length)
        if (thousandths > 0) expect(below * 1000).toBeLessThan(thousandths * list.length)
      }),
    )
  })

  test.each([-0.1, 1.1, Number.NaN])('%p is not a quantile', q => {
    expect(() => nearestRank([1], q)).toThrow(RangeError)
  })
})
