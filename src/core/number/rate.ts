/**
 * A number cut to four decimals, as every rate and score in an answer is.
 *
 * @param value a finite number
 */
export function fourDecimals(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

/**
 * `n / d` with four decimals, rounded half up; `null` when there is nothing to divide by.
 *
 * @param n a count, at least 0
 * @param d a count, at least 0
 */
export function rate(n: number, d: number): number | null {
  if (d === 0) return null
  // In whole numbers: 57 / 800 is 0.07125, but in floating point it lies a hair under that half.
  const doubled = 20_000 * n + d
  return (doubled - (doubled % (2 * d))) / (2 * d) / 10_000
}
