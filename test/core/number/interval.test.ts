import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { wilsonInterval, zOfSeveral } from '../../../src/core/number/interval.ts'

test('agrees with published values', () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I.
  const published = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const
  for (const [hits, trials, low, high] of published) {
    const interval = wilsonInterval(hits, trials)!
    expect(interval.low).toBeCloseTo(low, 4)
    expect(interval.high).toBeCloseTo(high, 4)
  }
})

test('contains the share that was counted, and lies between 0 and 1', () => {
  expect(wilsonInterval(0, 0)).toBeNull()
  const counted = fc.nat(100_000).chain(trials => fc.tuple(fc.nat(trials), fc.constant(trials)))
  fc.assert(
    fc.property(counted, ([hits, trials]) => {
      if (trials === 0) return
      const { low, high } = wilsonInterval(hits, trials)!
      expect(0 <= low && low <= hits / trials && hits / trials <= high && high <= 1).toBe(true)
    }),
  )
})

test.each([
  [1, 1.959964],
  [10, 2.807034],
  [1_000, 4.055627],
])('with %p intervals, each is %p standard deviations wide on a side', (intervals, z) => {
  expect(Math.abs(zOfSeveral(intervals) - z)).toBeLessThan(0.0005)
})
