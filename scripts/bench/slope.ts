import type { Table } from '../report/table.ts'
import { type Figure, rounded } from './figures.ts'

/** What a request costs as something grows. */
export interface Growth {
  what: string
  by: string
  unit: string
  points: readonly { size: number; cost: number }[]
}

/** The exponent of a power law through the points: 0 for a constant cost, 1 for a linear one. */
export function slope({ points }: Pick<Growth, 'points'>): number {
  const xs = points.map(({ size }) => Math.log(size))
  const ys = points.map(({ cost }) => Math.log(cost))
  const mean = (of: number[]) => of.reduce((sum, value) => sum + value, 0) / of.length
  const [meanX, meanY] = [mean(xs), mean(ys)]
  const products = xs.map((x, i) => (x - meanX) * ((ys[i] as number) - meanY))
  const squares = xs.map(x => (x - meanX) ** 2)
  return mean(products) / mean(squares)
}

/** The exponent that n log n has over the same sizes; the logarithm of 1 is taken as that of 2. */
export function mostSlope({ points }: Pick<Growth, 'points'>): number {
  return slope({
    points: points.map(({ size }) => ({ size, cost: size * Math.log2(Math.max(2, size)) })),
  })
}

/** How far a measured slope may be off. */
const noise = 0.1

export function figureOf(part: string, growth: Growth): Figure {
  const most = mostSlope(growth) + noise
  const { what, by } = growth
  const goal = `at most ${most.toFixed(2)}: n log n`
  return { part, what: `${what}, by ${by}`, unit: '(slope)', cairn: [slope(growth)], goal, most }
}

/** A row for each growth, with its slope. */
export const tableOf = (title: string, growths: readonly Growth[]): Table => ({
  title,
  header: ['request', 'by', 'cost at size', 'slope'],
  rows: growths.map(growth => [
    growth.what,
    growth.by,
    growth.points
      .map(({ size, cost }) => `${rounded(cost)} ${growth.unit} at ${size.toLocaleString('en-US')}`)
      .join(', '),
    slope(growth).toFixed(2),
  ]),
})
