/** A quantile is resolved to a millionth, so that q·n can be worked out in whole numbers. */
const resolution = 1_000_000

/**
 * The q-quantile by nearest rank: the value at rank ⌈q·n⌉, which is always one of the values given.
 *
 * @param sorted ascending; any unit, the answer has the same
 * @param q 0 to 1, resolved to six decimals; 0 answers the least value
 * @returns `null` when there are no values
 * @throws RangeError when q is outside 0 to 1
 * @see Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996), definition 1
 */
export function nearestRank(sorted: ArrayLike<number>, q: number): number | null {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`a quantile is between 0 and 1, not ${q}`)
  if (sorted.length === 0) return null
  // 0.07 * 100 is 7.000000000000001 in floating point, whose ceiling is a rank too many.
  const rank = Math.ceil((Math.round(q * resolution) * sorted.length) / resolution)
  return sorted[Math.max(rank, 1) - 1]!
}
