import type { ChartDay } from '../charts/chart-day.tsx'
import { outcomes } from '../charts/chart-day.tsx'
import { DailyChart } from '../charts/daily-chart.tsx'
import { Defined } from '../parts/defined.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { analyticsWords as words } from '../words/analytics.ts'
import { formatClock, formatCount, formatDay, none } from '../words/time.ts'
import type { Analytics } from './question.ts'

/** Each day, with its like of what is compared with: by its place in the range. */
function daysOf(data: Analytics, other: Analytics | null): ChartDay[] {
  return data.daily.map((day, i) => ({
    ...day,
    inProgress: day.starts - day.completions - day.dismissals,
    before: other?.daily[i]?.starts ?? null,
  }))
}

const columns = (otherName: string | null): Column<ChartDay>[] => {
  const counted = (name: string, field: 'starts' | (typeof outcomes)[number]) => ({
    head: name,
    name,
    isNumber: true,
    cell: (day: ChartDay) => formatCount(day[field]),
  })
  const before = {
    head: words.otherStarts(otherName ?? ''),
    name: words.otherStarts(otherName ?? ''),
    isNumber: true,
    cell: (day: ChartDay) => (day.before === null ? none : formatCount(day.before)),
  }
  return [
    {
      head: words.day,
      name: words.day,
      isTitle: true,
      cell: ({ date, complete }) => (complete ? formatDay(date) : words.open(formatDay(date))),
    },
    counted(words.starts, 'starts'),
    counted(words.completions, 'completions'),
    counted(words.dismissed, 'dismissals'),
    counted(words.inProgress, 'inProgress'),
    ...(otherName === null ? [] : [before]),
  ]
}

/** Runs and their outcomes, day by day. */
export function Daily({
  data,
  other,
  otherName,
}: {
  data: Analytics
  other: Analytics | null
  otherName: string
}) {
  const days = daysOf(data, other)
  const { range, generatedAt, definitions } = data
  return (
    <section class="part">
      <div class="part-head">
        <h2>
          <Defined means={definitions.daily}>{words.daily}</Defined>
        </h2>
        <ul class="legend">
          {outcomes.map(outcome => (
            <li key={outcome} class={`key-${outcome}`}>
              {words.outcomes[outcome]}
            </li>
          ))}
          {other && <li class="key-line">{words.otherStarts(otherName)}</li>}
          {!range.complete && (
            <li class="key-hatch">{words.until(formatClock(generatedAt, range.timezone))}</li>
          )}
        </ul>
      </div>
      <DailyChart days={days} otherName={otherName} />
      <details class="as-table">
        <summary>{words.asTable}</summary>
        <Table
          caption={words.dailyCaption}
          columns={columns(other && otherName)}
          rows={days.toReversed()}
          keyOf={({ date }) => date}
        />
      </details>
    </section>
  )
}
