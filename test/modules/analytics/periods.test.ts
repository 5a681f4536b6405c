import { expect, test } from 'bun:test'
import { resolveRange } from '../../../src/core/time/time-range.ts'
import { type Interval, periodsOf } from '../../../src/modules/analytics/periods.ts'

/** The periods of a range as their first and last dates; `…` where the range cuts one. */
function periods(from: string, to: string, interval: Interval, timezone = 'UTC'): string[] {
  const resolved = resolveRange({ from, to, timezone }, 0)
  if (!('range' in resolved)) throw new Error('the range is right')
  const { range } = resolved
  return periodsOf(range, interval).map(
    ({ first, last, isWhole }) =>
      `${range.days[first]!.date} ${range.days[last]!.date}${isWhole ? '' : ' …'}`,
  )
}

test('weeks begin on Monday, over the end of a year too', () => {
  expect(periods('2025-12-31', '2026-01-11', 'week')).toEqual([
    '2025-12-31 2026-01-04 …',
    '2026-01-05 2026-01-11',
  ])
  expect(periods('2025-12-29', '2026-01-04', 'week')).toEqual(['2025-12-29 2026-01-04'])
})

test('one period may be cut at both ends', () => {
  expect(periods('2026-01-06', '2026-01-07', 'week')).toEqual(['2026-01-06 2026-01-07 …'])
  expect(periods('2026-01-05', '2026-01-05', 'week')).toEqual(['2026-01-05 2026-01-05 …'])
  expect(periods('2026-02-01', '2026-02-28', 'month')).toEqual(['2026-02-01 2026-02-28'])
  expect(periods('2024-02-01', '2024-02-28', 'month')).toEqual(['2024-02-01 2024-02-28 …'])
})

test('a day that a zone left out belongs to its week and month', () => {
  expect(periods('2011-12-26', '2012-01-01', 'week', 'Pacific/Apia')).toEqual([
    '2011-12-26 2012-01-01',
  ])
  expect(periods('2011-12-30', '2012-01-01', 'month', 'Pacific/Apia')).toEqual([
    '2011-12-30 2011-12-31 …',
    '2012-01-01 2012-01-01 …',
  ])
})

test('every day is a whole one', () => {
  expect(periods('2026-03-28', '2026-03-30', 'day', 'Europe/Berlin')).toEqual([
    '2026-03-28 2026-03-28',
    '2026-03-29 2026-03-29',
    '2026-03-30 2026-03-30',
  ])
})
