import { formatDay, formatShortDay } from '../parts/format.ts'
import type { Analytics, Interval } from './question.ts'

/** A day, week or month, with the starts at the same place of the range compared with. */
export interface Period {
  from: string
  to: string
  name: string
  starts: number
  people: number
  completions: number
  dismissals: number
  inProgress: number
  complete: boolean
  /** Null if there is nothing to compare with. */
  before: number | null
}

type Span = Pick<Period, 'from' | 'to' | 'complete'> & { whole: boolean }

const begins: Record<Interval, (day: string) => boolean> = {
  day: () => true,
  week: day => new Date(`${day}T00:00:00Z`).getUTCDay() === 1,
  month: day => day.endsWith('-01'),
}

/** The name of a day, week or month. If the range cuts it, the name gives the days that are left. */
function nameOf({ from, to, whole, complete }: Span, interval: Interval): string {
  if (interval === 'day') return formatDay(from)
  // A period that is not over ends with the range only because the range ends today.
  if (begins[interval](from) && (whole || !complete)) {
    return interval === 'week'
      ? `Week of ${formatDay(from)}`
      : formatDay(from, { day: undefined, month: 'long' })
  }
  const part = `part of a ${interval}`
  const isSameYear = from.slice(0, 4) === to.slice(0, 4)
  if (from === to) return `${formatDay(from)}, ${part}`
  return `${isSameYear ? formatShortDay(from) : formatDay(from)} – ${formatDay(to)}, ${part}`
}

/** What the chart shows, in order. The counterpart of a week are the days at the places of its days. */
export function periodsOf(data: Analytics, other: Analytics | null, requested: Interval): Period[] {
  const interval = data.periods ? requested : 'day'
  const periods =
    data.periods ?? data.daily.map(day => ({ ...day, from: day.date, to: day.date, whole: true }))
  let place = 0
  return periods.map(period => {
    let before: number | null = null
    while (data.daily[place] && data.daily[place]!.date <= period.to) {
      const like = other?.daily[place]
      if (like) before = (before ?? 0) + like.starts
      place++
    }
    const { from, to, starts, uniqueUsers: people, completions, dismissals, complete } = period
    return {
      ...{ from, to, starts, people, completions, dismissals, complete, before },
      name: complete ? nameOf(period, interval) : `${nameOf(period, interval)} (so far)`,
      inProgress: starts - completions - dismissals,
    }
  })
}
