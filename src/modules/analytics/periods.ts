import type { TimeRange } from '../../core/time/time-range.ts'

/** The units that days can be grouped into. */
export const intervals = ['day', 'week', 'month'] as const
export type Interval = (typeof intervals)[number]

/** Consecutive days of a range, by their index in it, both inclusive. */
export interface Period {
  first: number
  last: number
  /** Whether all of its days are in the range. */
  isWhole: boolean
}

const begins: Readonly<Record<Interval, (date: Temporal.PlainDate) => boolean>> = {
  day: () => true,
  // ISO 8601: a week begins on Monday.
  week: date => date.dayOfWeek === 1,
  month: date => date.day === 1,
}

/** The days, weeks or months of a range, in order. The range may cut off the first and the last. */
export function periodsOf({ days }: TimeRange, interval: Interval): Period[] {
  const isFirst = (date: string, later = 0) =>
    begins[interval](Temporal.PlainDate.from(date).add({ days: later }))
  const periods: Period[] = []
  for (const [place, { date }] of days.entries()) {
    const isBegun = isFirst(date)
    if (place === 0 || isBegun) periods.push({ first: place, last: place, isWhole: isBegun })
    const period = periods.at(-1)!
    period.last = place
  }
  const last = periods.at(-1)!
  last.isWhole &&= isFirst(days.at(-1)!.date, 1)
  return periods
}
