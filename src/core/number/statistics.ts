/**
 * A number rounded to four decimals, as scores and the ends of intervals in an answer are. Use `quotient` for
 * counts.
 *
 * @param value a finite number
 */
export function fourDecimals(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

/**
 * `n / d`, rounded half away from zero; `null` when there is nothing to divide by.
 *
 * @param n a whole number
 * @param d a whole number, at least 0
 */
export function quotient(n: number, d: number, decimals: number): number | null {
  if (d === 0) return null
  const scale = 10 ** decimals
  // In floating point 201 / 200 * 100 is slightly below the half that 100.5 is.
  const doubled = 2n * BigInt(scale) * BigInt(Math.abs(n))
  const rounded = (doubled + BigInt(d)) / (2n * BigInt(d))
  return Number(n < 0 ? -rounded : rounded) / scale
}

/** `n / d` with four decimals, as every rate has. */
export const rate = (n: number, d: number): number | null => quotient(n, d, 4)

/** A zero for each name, to count up from. */
export const zeros = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map(name => [name, 0])) as Record<Name, number>

/** A quantile is resolved to a millionth, so that q·n can be computed in whole numbers. */
const resolution = 1_000_000

/**
 * The rank of the q-quantile by nearest rank, ⌈q·n⌉, counted from 1.
 *
 * @param n how many values there are, at least one
 * @param q 0 to 1, resolved to six decimals; 0 is the rank of the least value
 * @throws RangeError when q is outside 0 to 1
 * @see Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996), definition 1
 */
function nearestRankOf(n: number, q: number): number {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`a quantile is between 0 and 1, not ${q}`)
  // 0.07 * 100 is 7.000000000000001 in floating point, so its ceiling is one rank too high.
  return Math.max(1, Math.ceil((Math.round(q * resolution) * n) / resolution))
}

/**
 * The q-quantile by nearest rank, which is always one of the values given.
 *
 * @param sorted ascending; any unit, the answer has the same
 * @param q as of `nearestRankOf`
 * @returns `null` when there are no values
 */
export function nearestRank(sorted: ArrayLike<number>, q: number): number | null {
  const rank = nearestRankOf(sorted.length, q)
  return sorted.length === 0 ? null : sorted[rank - 1]!
}

/**
 * Durations as 16-bit codes: whole milliseconds below 4 seconds, and above that multiples of 2, 5, 10, 20,
 * 50 … milliseconds, each from 2,000 times itself on. So a duration is off by at most 1 in 4,000, and round
 * durations are exact. Codes are in the order of the durations, so a quantile of a million durations takes
 * one pass over a table, and is the same duration that sorting would find, rounded.
 */

/** How many codes there are. */
export const durationCodes = 2 ** 16

/** Stands for the absence of a duration. */
export const noDuration = durationCodes - 1

/** Durations from `from` milliseconds on, `step` apart. Their codes begin with `code`. */
interface Band {
  from: number
  step: number
  code: number
}

function bandsOf(): Band[] {
  const bands: Band[] = [{ from: 0, step: 1, code: 0 }]
  for (let power = 1; ; power *= 10) {
    for (const step of [2 * power, 5 * power, 10 * power]) {
      const before = bands.at(-1)!
      const from = 2_000 * step
      const code = before.code + (from - before.from) / before.step
      if (code >= noDuration) return bands
      bands.push({ from, step, code })
    }
  }
}

const bands = bandsOf()

/** @param ms whole milliseconds, at least 0; the longest durations, of some decades, share one code */
export function codeOfDuration(ms: number): number {
  let at = 0
  while (at + 1 < bands.length && ms >= bands[at + 1]!.from) at++
  const { from, step, code } = bands[at]!
  // A duration that is rounded up to the end of its band gets the first code of the next band.
  return Math.min(noDuration - 1, code + Math.round((ms - from) / step))
}

/** The milliseconds that a code stands for. */
export function durationOfCode(code: number): number {
  const band = bands.findLast(band => band.code <= code)!
  return band.from + (code - band.code) * band.step
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

  /** How many durations are in each band of codes. Bands are given by their first codes, ascending. */
  perBand(firstCodes: readonly number[]): number[] {
    return firstCodes.map((first, band) => {
      let sum = 0
      const end = firstCodes[band + 1] ?? noDuration
      for (let code = first; code < end; code++) sum += this.counts[code]!
      return sum
    })
  }

  /** Milliseconds at each quantile. Quantiles must be ascending; null if nothing was counted. */
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
