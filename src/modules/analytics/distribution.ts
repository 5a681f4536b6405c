import { codeOfDuration, type DurationCounts, durationCodes } from '../../core/number/statistics.ts'
import { outcomeBits, outcomeCodes, type RunColumns } from './port.ts'

const [minute, hour, day] = [60, 3_600, 86_400]

/**
 * Seconds at which a bin ends and the next begins: the same for every answer, so that flows, versions and
 * ranges can be compared. Each is a duration that its code represents exactly, so rounding never moves a
 * duration across an edge.
 */
export const binEdges = [
  ...[1, 2, 5, 10, 20],
  ...[1, 2, 5, 10, 20].map(minutes => minutes * minute),
  ...[1, 2, 5, 10].map(hours => hours * hour),
  ...[1, 2, 5, 10, 30].map(days => days * day),
] as const

const firstCodes = [0, ...binEdges.map(seconds => codeOfDuration(seconds * 1_000))]

/** The bins from shortest to longest, with the number of durations in each. */
export function distributionOf(durations: DurationCounts) {
  return durations.perBand(firstCodes).map((count, bin) => ({
    fromSeconds: binEdges[bin - 1] ?? 0,
    toSeconds: binEdges[bin] ?? null,
    count,
  }))
}

/** The bin of each duration code. Runs that were not timed get the number after the last bin. */
function binsByCode(): Uint8Array {
  const bins = new Uint8Array(durationCodes)
  for (const [bin, first] of firstCodes.entries()) bins.fill(bin, first)
  bins[0] = firstCodes.length
  return bins
}

/** Counts the times to complete of each version by bin. */
export class VersionDistributions {
  private readonly binOf = binsByCode()
  private readonly counts = new Map<number, Uint32Array>()

  add<Step, Item>({ count, states, ends, versions }: RunColumns<Step, Item>): void {
    const counts = versions.map(version => {
      const known = this.counts.get(version) ?? new Uint32Array(firstCodes.length + 1)
      this.counts.set(version, known)
      return known
    })
    const binOf = this.binOf
    const outcomeMask = 2 ** outcomeBits - 1
    for (let run = 0; run < count; run++) {
      const state = states[run]!
      if ((state & outcomeMask) !== outcomeCodes.completed) continue
      counts[state >> outcomeBits]![binOf[ends[run]!]!]!++
    }
  }

  of(version: number): number[] {
    const counts = this.counts.get(version)
    return firstCodes.map((_, bin) => counts?.[bin] ?? 0)
  }
}
