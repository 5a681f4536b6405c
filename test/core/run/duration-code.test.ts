import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  codeOfDuration,
  DurationCounts,
  durationCodes,
  durationOfCode,
  nearestRank,
  noDuration,
} from '../../../src/core/number/statistics.ts'

const longest = durationOfCode(noDuration - 1)
const duration = fc.oneof(
  fc.integer({ min: 0, max: 10_000 }),
  fc.double({ min: 0, max: Math.log2(longest), noNaN: true }).map(log => Math.floor(2 ** log)),
)
const rounded = (ms: number) => durationOfCode(codeOfDuration(ms))

describe('a duration as a code', () => {
  test('is exact below 4 seconds', () => {
    for (let ms = 0; ms <= 4_000; ms++) expect(rounded(ms)).toBe(ms)
  })

  test('is off by at most 1 in 4,000', () => {
    fc.assert(
      fc.property(duration, ms => {
        expect(Math.abs(rounded(ms) - ms)).toBeLessThanOrEqual(ms / 4_000)
      }),
    )
  })

  test('stands for a duration of its own, whatever the code', () => {
    let before = -1
    for (let code = 0; code < durationCodes - 1; code++) {
      const ms = durationOfCode(code)
      if (ms <= before || codeOfDuration(ms) !== code) expect([code, ms]).toEqual([])
      before = ms
    }
  })

  test('stops at about eighty years, and is never the code for no duration', () => {
    expect(codeOfDuration(longest * 4)).toBe(noDuration - 1)
    expect(longest / (365.25 * 86_400_000)).toBeGreaterThan(80)
  })
})

describe('counted durations', () => {
  test('have the quantiles of the durations themselves, rounded', () => {
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 60 }), durations => {
        const counts = new DurationCounts()
        const half = durations.length >> 1
        for (const ms of durations.slice(0, half)) counts.add(codeOfDuration(ms))
        counts.addAll(Uint16Array.from(durations.slice(half), codeOfDuration))
        const sorted = Float64Array.from(durations).sort()
        expect(counts.at(0, 0.5, 0.9, 1)).toEqual(
          [0, 0.5, 0.9, 1].map(q => rounded(nearestRank(sorted, q)!)),
        )
        expect(counts.total).toBe(durations.length)
      }),
    )
  })

  test('leave out what has no duration', () => {
    const counts = new DurationCounts()
    counts.addAll(Uint16Array.of(noDuration, noDuration))
    expect([counts.total, ...counts.at(0.5, 0.9)]).toEqual([0, null, null])
    counts.add(7)
    expect([counts.total, ...counts.at(0.5, 0.9)]).toEqual([1, 7, 7])
  })
})
