import type { ChartDay } from '../charts/chart-day.tsx'
import { periodWords as words } from '../words/durations.ts'
import { formatDay, formatShortDay } from '../words/time.ts'
import type { Analytics, Interval } from './question.ts'

interface Span {
  from: string
  to: string
  whole: boolean
  complete: boolean
}

const isMonday = (day: string) => new Date(`${day}T00:00:00Z`).getUTCDay() === 1

const begins: Record<Interval, (day: string) => boolean> = {
  day: () => true,
  week: isMonday,
  month: day => day.endsWith('-01'),
}

/** The name of a day, week or month. If the range cuts it, the name gives the days that are left. */
function nameOf({ from, to, whole, complete }: Span, interval: Interval): string {
  if (interval === 'day') return formatDay(from)
  // A period that is not over ends with the range only because the range ends today.
  if (begins[interval](from) && (whole || !complete)) {
    return interval === 'week'
      ? words.weekOf(formatDay(from))
      : formatDay(from, { day: undefined, month: 'long' })
  }
  const part = words.part[interval]
  const isSameYear = from.slice(0, 4) === to.slice(0, 4)
  if (from === to) return words.oneDay(formatDay(from), part)
  return words.days(isSameYear ? formatShortDay(from) : formatDay(from), formatDay(to), part)
}

const labelOf = (from: string, interval: Interval): string =>
  interval === 'month' ? formatDay(from, { day: undefined }) : formatShortDay(from)

/**
 * What the chart shows, in order, each with what stood at the same place of the range compared with:
 * for a week, the days at the places of its days.
 */
export function chartDaysOf(
  data: Analytics,
  other: Analytics | null,
  requested: Interval,
): ChartDay[] {
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
    const name = nameOf(period, interval)
    return {
      date: period.from,
      name,
      title: interval === 'day' ? formatDay(period.from, { weekday: 'short' }) : name,
      label: labelOf(period.from, interval),
      starts: period.starts,
      people: period.uniqueUsers,
      completions: period.completions,
      dismissals: period.dismissals,
      inProgress: period.starts - period.completions - period.dismissals,
      complete: period.complete,
      before,
    }
  })
}
