import {
  codeOfDuration,
  type DurationCounts,
  durationCodes,
  rate,
} from '../../core/number/statistics.ts'
import {
  outcomeBits,
  outcomeCodes,
  outcomeMask,
  type RunColumns,
} from '../../storage/interfaces/analytics.ts'

const [minute, hour, day] = [60, 3_600, 86_400]

/**
 * Seconds at which a bin ends and the next begins: the same everywhere, so that flows, versions and ranges
 * can be compared. Each is a duration that its code represents exactly, so rounding never moves a duration
 * across an edge.
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

/** The bin of each duration code. Runs without a duration get the number after the last bin. */
const binOf = new Uint8Array(durationCodes)
for (const [bin, first] of firstCodes.entries()) binOf.fill(bin, first)
binOf[0] = firstCodes.length

/** The runs of one version. */
class VersionRow {
  starts = 0
  completions = 0
  readonly bins = new Uint32Array(firstCodes.length + 1)
}

/** Counts the runs of each version, and their times to complete by bin. */
export class VersionTally {
  private readonly rows = new Map<number, VersionRow>()

  add<Step, Item>({ count, states, ends, versions }: RunColumns<Step, Item>): void {
    const rows = versions.map(version => {
      const row = this.rows.get(version) ?? new VersionRow()
      this.rows.set(version, row)
      return row
    })
    for (let run = 0; run < count; run++) {
      const row = rows[states[run]! >> outcomeBits]!
      row.starts++
      if ((states[run]! & outcomeMask) !== outcomeCodes.completed) continue
      row.completions++
      row.bins[binOf[ends[run]!]!]!++
    }
  }

  numbers(version: number, hasDistribution: boolean) {
    const { starts, completions, bins } = this.rows.get(version) ?? new VersionRow()
    return {
      starts,
      completions,
      completionRate: rate(completions, starts),
      ...(hasDistribution && { distribution: [...bins.subarray(0, firstCodes.length)] }),
    }
  }
}
