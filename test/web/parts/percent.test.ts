import { expect, test } from 'bun:test'
import { formatShare } from '../../../src/web/dashboard/parts/format.ts'
import { progressIn } from '../../../src/web/snippet/standing.ts'

test.each([
  [57, 800, '7.1%'],
  [2_469, 20_000, '12.3%'],
  [23, 80, '28.8%'],
  [27, 50, '54.0%'],
  [0, 5, '0%'],
  [5, 5, '100%'],
  [4, 4, '–'],
])('the dashboard shows %p of %p as %p', (part, whole, shown) => {
  expect(formatShare(part, whole)).toBe(shown)
})

test('the snippet rounds the percentage of a checklist as the server does', () => {
  expect(progressIn(23, 40).percent).toBe(58)
  expect(progressIn(0, 0).percent).toBe(0)
})
