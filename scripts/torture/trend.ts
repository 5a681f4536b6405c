/** Student's t for 95 %, two-sided, by degrees of freedom; beyond the table about that of 18. */
const students = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
]
const studentOf = (freedom: number) => students[freedom - 1] ?? 2.1

/** How something grows: by how much per unit of `at`, and by how much that may be off (95 %). */
export interface Trend {
  slope: number
  plusMinus: number
}

/** The least-squares line through points, with the interval of its slope. Needs at least three points. */
export function trendOf(points: readonly { at: number; value: number }[]): Trend {
  const mean = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0) / of.length
  const [meanAt, meanValue] = [mean(points.map(p => p.at)), mean(points.map(p => p.value))]
  const squares = points.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0)
  const slope =
    points.reduce((sum, { at, value }) => sum + (at - meanAt) * (value - meanValue), 0) / squares
  const off = points.map(({ at, value }) => value - meanValue - slope * (at - meanAt))
  const freedom = points.length - 2
  const variance = off.reduce((sum, residual) => sum + residual ** 2, 0) / freedom
  return { slope, plusMinus: studentOf(freedom) * Math.sqrt(variance / squares) }
}

/** The median of each of so many pieces, in order, because what comes and goes within a piece is no trend. */
export function mediansOf<Point extends { value: number }>(
  points: readonly Point[],
  pieces: number,
): Point[] {
  return Array.from({ length: pieces }, (_, i) => {
    const [from, to] = [i, i + 1].map(n => Math.floor((points.length * n) / pieces))
    const piece = points.slice(from, to).toSorted((a, b) => a.value - b.value)
    return piece[Math.floor(piece.length / 2)]!
  })
}
