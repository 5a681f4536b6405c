import { expect, test } from 'bun:test'
import { mediansOf, trendOf } from '../../scripts/torture/trend.ts'

const points = (...values: number[]) => values.map((value, at) => ({ at, value }))

test('the slope of a straight line is exact, without uncertainty', () => {
  const { slope, plusMinus } = trendOf(points(5, 8, 11, 14))
  expect(slope).toBeCloseTo(3, 10)
  expect(plusMinus).toBeCloseTo(0, 10)
})

test('the interval is that of the textbook', () => {
  // Least squares: slope 0.6, residual variance 2.4 / 3, squares 10, t(3) = 3.182.
  const { slope, plusMinus } = trendOf(points(2, 4, 5, 4, 5).map(p => ({ ...p, at: p.at + 1 })))
  expect(slope).toBeCloseTo(0.6, 10)
  expect(plusMinus).toBeCloseTo(3.182 * Math.sqrt(0.8 / 10), 3)
})

test('the medians of pieces leave out brief outliers, and keep the order', () => {
  const values = [1, 90, 1, 2, 2, 80, 3, 70, 3]
  expect(mediansOf(points(...values), 3).map(({ value }) => value)).toEqual([1, 2, 3])
})
