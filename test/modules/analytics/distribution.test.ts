import { expect, test } from 'bun:test'
import {
  codeOfDuration,
  DurationCounts,
  durationOfCode,
} from '../../../src/core/number/statistics.ts'
import { binEdges, distributionOf } from '../../../src/modules/analytics/distribution.ts'

test('the edge of a bin is a duration that is not rounded', () => {
  for (const seconds of binEdges) {
    expect(durationOfCode(codeOfDuration(seconds * 1_000))).toBe(seconds * 1_000)
  }
})

test.each(binEdges.map((seconds, bin) => [seconds, bin] as const))(
  'what took exactly %i seconds is in the bin that begins there, and a thousandth less is before it',
  (seconds, bin) => {
    const durations = new DurationCounts()
    durations.add(codeOfDuration(seconds * 1_000))
    durations.add(codeOfDuration(Math.floor(seconds * 999)))
    const counts = distributionOf(durations).map(({ count }) => count)
    expect(counts.slice(bin, bin + 2)).toEqual([1, 1])
    expect(counts).toHaveLength(binEdges.length + 1)
  },
)
