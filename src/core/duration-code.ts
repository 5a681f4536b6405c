import { nearestRankOf } from './quantile.ts'

/**
 * Durations as 16-bit numbers: five bits of exponent, eleven of mantissa. Codes are in the order of
 * the durations, whole milliseconds below 4,096 are kept exactly, and above that twelve significant
 * bits: off by at most 1 in 4,096. So a quantile of a million durations is one pass over a table,
 * and is the very duration that sorting would find, rounded.
 */

const mantissaBits = 11
/** Values of one exponent. */
const band = 2 ** mantissaBits

/** How many codes there are. */
export const durationCodes = 2 ** 16

/** Stands for no duration at all. */
export const noDuration = durationCodes - 1

const longest = noDuration - 1

/** @param ms whole milliseconds, at least 0; what is beyond 139 years counts as that */
export function codeOfDuration(ms: number): number {
  if (ms < 2 * band) return ms
  const topBit = ms < 2 ** 32 ? 31 - Math.clz32(ms) : 63 - Math.clz32(ms / 2 ** 32)
  const exponent = topBit - mantissaBits
  // A mantissa that is rounded up to the next power of two is the first of the next exponent.
  return Math.min(longest, exponent * band + Math.round(ms / 2 ** exponent))
}

/** The milliseconds that a code stands for. */
export function durationOfCode(code: number): number {
  const exponent = Math.max(0, (code >>> mantissaBits) - 1)
  return (code - exponent * band) * 2 ** exponent
}

/** How often each duration was counted, for quantiles by nearest rank. */
export class DurationCounts {
  private readonly counts = new Uint32Array(durationCodes)
  private added = 0

  /** Counts a duration by its code. */
  add(code: number): void {
    this.counts[code]!++
    this.added++
  }

  addAll(codes: Uint16Array): void {
    const { counts } = this
    for (let i = 0; i < codes.length; i++) counts[codes[i]!]!++
    this.added += codes.length
  }

  /** How many durations were counted. */
  get total(): number {
    return this.added - this.counts[noDuration]!
  }

  /** Milliseconds at each of some quantiles, ascending; null where nothing was counted. */
  at(...quantiles: number[]): (number | null)[] {
    const { total } = this
    if (total === 0) return quantiles.map(() => null)
    let code = 0
    let below = this.counts[0]!
    return quantiles.map(q => {
      const rank = nearestRankOf(total, q)
      while (below < rank) below += this.counts[++code]!
      return durationOfCode(code)
    })
  }
}
