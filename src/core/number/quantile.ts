/** A quantile is resolved to a millionth, so that q·n can be worked out in whole numbers. */
const resolution = 1_000_000

/**
 * The rank of the q-quantile by nearest rank, ⌈q·n⌉, counted from 1.
 *
 * @param n how many values there are, at least one
 * @param q 0 to 1, resolved to six decimals; 0 is the rank of the least value
 * @throws RangeError when q is outside 0 to 1
 * @see Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996), definition 1
 */
export function nearestRankOf(n: number, q: number): number {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`a quantile is between 0 and 1, not ${q}`)
  // 0.07 * 100 is 7.000000000000001 in floating point, whose ceiling is a rank too many.
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
