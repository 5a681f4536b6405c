import { BarChart, type Slot } from '../charts/bar-chart.tsx'
import { Segments } from '../parts/choice.tsx'
import { formatClock, formatCount, formatDay, formatShortDay } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useFilters } from '../shell/address.ts'
import { Behind } from './behind.tsx'
import { type Analytics, type Interval, type Question, runsBehind } from './question.ts'

const options = [
  ['day', 'Day'],
  ['week', 'Week'],
  ['month', 'Month'],
] as const

const outcomes = ['completions', 'inProgress', 'dismissals'] as const
const outcomeNames = { completions: 'completed', inProgress: 'unfinished', dismissals: 'dismissed' }

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

const slotOf = (period: Period, interval: Interval, otherName: string): Slot => ({
  key: period.from,
  label:
    interval === 'month' ? formatDay(period.from, { day: undefined }) : formatShortDay(period.from),
  title: period.name,
  parts: outcomes.map(outcome => period[outcome]),
  before: period.before,
  isOpen: !period.complete && period.starts > 0,
  numbers: [
    ['starts', formatCount(period.starts)],
    ...outcomes.map(
      outcome => [outcomeNames[outcome], formatCount(period[outcome]), outcome] as const,
    ),
    ...(period.before === null
      ? []
      : [[`starts, ${otherName}`, formatCount(period.before), 'line'] as const]),
  ],
})

const columnsOf = (
  { flowKey }: Analytics,
  question: Question,
  otherName: string | null,
): Column<Period>[] => {
  const counted = (
    name: string,
    field: 'starts' | (typeof outcomes)[number],
    outcome: string | null,
  ): Column<Period> => ({
    ...{ name, isNumber: true, value: period => period[field] },
    cell: ({ from, to, [field]: count }) => (
      <Behind count={count} href={runsBehind(flowKey, question, { from, to, outcome })} />
    ),
  })
  return [
    {
      name: options.find(([option]) => option === question.interval)?.[1] ?? 'Day',
      isTitle: true,
      value: ({ from }) => from,
      cell: ({ name }) => name,
    },
    counted('Starts', 'starts', null),
    counted('Completed', 'completions', 'completed'),
    counted('Dismissed', 'dismissals', 'dismissed'),
    counted('Unfinished', 'inProgress', 'in_progress'),
    {
      name: 'People',
      means: 'Each person counts once per row, so rows do not add up to the total.',
      isNumber: true,
      value: ({ people }) => people,
    },
    ...(otherName === null
      ? []
      : [{ name: `Starts, ${otherName}`, isNumber: true, value: ({ before }: Period) => before }]),
  ]
}

/** Runs and their outcomes, by day, week or month. */
export function Daily({
  data,
  other,
  otherName,
  question,
}: {
  data: Analytics
  other: Analytics | null
  otherName: string
  question: Question
}) {
  const { setFilters } = useFilters()
  const { interval } = question
  const periods = periodsOf(data, other, interval)
  const { range, generatedAt } = data
  const until = formatClock(generatedAt, range.timezone)
  return (
    <Part
      title={`Runs by ${interval}`}
      beside={
        <div class="row gap-3">
          <ul class="row gap-3 fine">
            {outcomes.map(outcome => (
              <li key={outcome} class={`key-${outcome}`}>
                {outcomeNames[outcome]}
              </li>
            ))}
            {other && <li class="key-line">starts, {otherName}</li>}
            {!range.complete && (
              <li class="key-hatch">
                {interval === 'day' ? 'today' : `this ${interval}`}, until {until}
              </li>
            )}
          </ul>
          <Segments
            label="Runs by"
            options={options}
            value={interval}
            onChange={chosen => setFilters({ interval: chosen })}
          />
        </div>
      }
    >
      <BarChart
        slots={periods.map(period => slotOf(period, interval, otherName))}
        classes={outcomes}
        name={`Runs by ${interval}. Arrow keys choose a ${interval}.`}
      />
      <Table
        isFolded
        caption={`Runs that started each ${interval}, by outcome`}
        file={`${data.flowKey}-${interval}s`}
        columns={columnsOf(data, question, other && otherName)}
        rows={periods.toReversed()}
        keyOf={({ from }) => from}
      />
    </Part>
  )
}
