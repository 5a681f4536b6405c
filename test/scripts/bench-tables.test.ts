import { describe, expect, test } from 'bun:test'
import { isMet, tries } from '../../scripts/bench/figures.ts'
import { mostSeconds, parts } from '../../scripts/bench/plan.ts'
import { figureOf, type Growth, mostSlope, slope, tableOf } from '../../scripts/bench/slope.ts'
import { capacityOf, capacityTable, type RequestCosts, vm } from '../../scripts/bench/vm.ts'
import { markdownOf } from '../../scripts/report/table.ts'

const growthOf = (cost: (size: number) => number): Growth => ({
  what: 'GET /',
  by: 'things',
  unit: 'µs',
  points: [10, 100, 1_000].map(size => ({ size, cost: cost(size) })),
})

describe('growth', () => {
  test.each([
    ['constant', () => 7, 0],
    ['a root', (n: number) => Math.sqrt(n), 0.5],
    ['linear', (n: number) => 3 * n, 1],
    ['quadratic', (n: number) => n * n, 2],
  ])('the slope of what is %s', (_, cost, exponent) =>
    expect(slope(growthOf(cost))).toBeCloseTo(exponent),
  )

  test('n log n meets the bound and what is steeper does not, even from a size of one on', () => {
    expect(
      isMet(
        figureOf(
          'growth',
          growthOf(n => n * Math.log2(n)),
        ),
      ),
    ).toBeTrue()
    expect(
      isMet(
        figureOf(
          'growth',
          growthOf(n => n ** 1.5),
        ),
      ),
    ).toBeFalse()
    expect(mostSlope({ points: [1, 10].map(size => ({ size, cost: 1 })) })).toBeGreaterThan(1)
  })

  test('the table has the cost at each size', () => {
    const { rows } = tableOf('T', [growthOf(n => n)])
    const costs = '10.0 µs at 10, 100 µs at 100, 1,000 µs at 1,000'
    expect(rows).toEqual([['GET /', 'things', costs, '1.00']])
  })
})

describe('capacity', () => {
  const costs: RequestCosts = {
    flows: 20,
    knownFlows: 10,
    heartbeat: 10,
    fewEvents: 100,
    fullBatch: 1_000,
    healthReport: 50,
    fingerprint: 100,
    status: 100,
  }

  test('a visit costs its requests, and a day of visits fits the busiest hour', () => {
    const { budgetMicros, visitMicros, visitorsPerDay } = capacityOf(costs)
    expect(visitMicros).toBe(2 + 9 + 10 + 300 + 50)
    expect((visitorsPerDay / 86_400) * vm.peak * visitMicros).toBeCloseTo(budgetMicros)
  })

  test('the number of organisations at all limits is whole, and they fit', () => {
    const { budgetMicros, fullMinuteMicros, organisationsAtLimits } = capacityOf(costs)
    expect(fullMinuteMicros).toBe(300_000 + 600 + 3_000 + 3_000 + 100 + 1_000)
    expect(organisationsAtLimits).toBeInteger()
    expect(organisationsAtLimits * fullMinuteMicros).toBeLessThanOrEqual(60 * budgetMicros)
    expect((organisationsAtLimits + 1) * fullMinuteMicros).toBeGreaterThan(60 * budgetMicros)
  })

  test('the table shows the arithmetic', () => {
    const [, visit] = capacityTable(costs).rows
    expect(visit?.[1]).toBe('371 µs')
    expect(visit?.[2]).toStartWith('flows 0.1 × 20.0 µs + 304 0.9 × 10.0 µs')
  })
})

test('a share is tried until it is reached, a few times at most', async () => {
  const measured = (...shares: number[]) =>
    tries(async () => shares.shift()!, { least: 0.6, most: 3 })
  expect(await measured(0.7, 0.1)).toEqual([0.7])
  expect(await measured(0.5, 0.6, 0.1)).toEqual([0.5, 0.6])
  expect(await measured(0.5, 0.4, 0.3, 0.9)).toEqual([0.5, 0.4, 0.3])
})

test('the parts are planned to fit into twenty-three minutes', () => {
  const planned = Object.values(parts).reduce((sum, { seconds }) => sum + seconds, 0)
  expect(planned).toBeLessThanOrEqual(mostSeconds)
})

test('a table is Markdown with its columns in line', () => {
  const table = { title: 'T', header: ['a', 'bb'], rows: [['ccc', 'd']], notes: ['N.'] }
  const lines = ['**T**', '', '| a   | bb |', '|-----|----|', '| ccc | d  |', '', 'N.']
  expect(markdownOf(table)).toEqual(lines)
})
