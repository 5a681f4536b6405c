import { describe, expect, test } from 'bun:test'
import {
  type Figure,
  isMet,
  median,
  ratioOf,
  spread,
  tableOf,
} from '../../scripts/bench/figures.ts'

const figure = (of: Partial<Figure>): Figure => ({
  part: 'p',
  what: 'w',
  unit: 'u',
  cairn: [1],
  ...of,
})

describe('figures of the bench', () => {
  test('the median is the middle value, or between the two in the middle', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(median([7])).toBe(7)
  })

  test('a ratio is of medians, and the spread a share of the median', () => {
    expect(ratioOf(figure({ cairn: [80, 90, 100], beside: [100, 200, 300] }))).toBe(0.45)
    expect(ratioOf(figure({}))).toBeNull()
    expect(spread([90, 100, 110])).toBe(0.2)
    expect(spread([0, 0])).toBe(0)
  })

  test.each([
    [{ cairn: [80], beside: [100], least: 0.8 }, true],
    [{ cairn: [79], beside: [100], least: 0.8 }, false],
    [{ cairn: [201], beside: [100], most: 2 }, false],
    [{ cairn: [110], most: 110 }, true],
    [{ cairn: [111], most: 110 }, false],
    [{ cairn: [111] }, null],
  ])('%p is met: %p', (of, met) => expect(isMet(figure(of))).toBe(met))

  test('the table names what is met and what is not', () => {
    const lines = tableOf([
      figure({ cairn: [1_500, 1_500], beside: [1_000], goal: 'at least 0.8 ×', least: 0.8 }),
      figure({ what: 'other', cairn: [3], goal: 'at most 2', most: 2 }),
    ])
    expect(lines).toHaveLength(3)
    expect(lines[1]).toMatch(/^p {5}w +1,500 u +1,000 u +1\.50 × +±0 % +at least 0\.8 × +met$/)
    expect(lines[2]).toMatch(/^p {5}other +3\.00 u +at most 2 +not met$/)
  })
})
