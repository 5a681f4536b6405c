import type { ChartDay } from '../charts/chart-day.tsx'
import { outcomes } from '../charts/chart-day.tsx'
import { DailyChart } from '../charts/daily-chart.tsx'
import { Segments } from '../parts/choice.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { useFilters } from '../shell/address.ts'
import { analyticsWords as words } from '../words/analytics.ts'
import { intervalWords, periodWords } from '../words/durations.ts'
import { formatClock, formatCount, none } from '../words/time.ts'
import { chartDaysOf } from './chart-days.ts'
import type { Analytics, Interval } from './question.ts'

const options = (['day', 'week', 'month'] as const).map(
  interval => [interval, intervalWords[interval].option] as const,
)

const columns = (title: string, otherName: string | null): Column<ChartDay>[] => {
  const counted = (name: string, field: 'starts' | 'people' | (typeof outcomes)[number]) => ({
    name,
    isNumber: true,
    cell: (day: ChartDay) => formatCount(day[field]),
  })
  const before = {
    name: words.otherStarts(otherName ?? ''),
    isNumber: true,
    cell: (day: ChartDay) => (day.before === null ? none : formatCount(day.before)),
  }
  return [
    {
      name: title,
      isTitle: true,
      cell: ({ name, complete }) => (complete ? name : words.open(name)),
    },
    counted(words.starts, 'starts'),
    counted(words.completions, 'completions'),
    counted(words.dismissed, 'dismissals'),
    counted(words.inProgress, 'inProgress'),
    counted(words.people, 'people'),
    ...(otherName === null ? [] : [before]),
  ]
}

/** Runs and their outcomes, by day, week or month. */
export function Daily({
  data,
  other,
  otherName,
  interval,
}: {
  data: Analytics
  other: Analytics | null
  otherName: string
  interval: Interval
}) {
  const { setFilters } = useFilters()
  const days = chartDaysOf(data, other, interval)
  const by = intervalWords[interval] ?? intervalWords.day
  const { range, generatedAt, definitions } = data
  return (
    <Part
      title={<Tip text={data.periods ? definitions.periods : definitions.daily}>{by.by}</Tip>}
      beside={
        <div class="with-switch">
          <ul class="legend">
            {outcomes.map(outcome => (
              <li key={outcome} class={`key-${outcome}`}>
                {words.outcomes[outcome]}
              </li>
            ))}
            {other && <li class="key-line">{words.otherStarts(otherName)}</li>}
            {!range.complete && (
              <li class="key-hatch">{by.until(formatClock(generatedAt, range.timezone))}</li>
            )}
          </ul>
          <Segments
            label={periodWords.legend}
            options={options}
            value={interval}
            onChange={chosen => setFilters({ interval: chosen })}
          />
        </div>
      }
    >
      <DailyChart days={days} otherName={otherName} name={by.choose} />
      <details class="as-table">
        <summary>{words.asTable}</summary>
        <Table
          caption={by.caption}
          columns={columns(by.head, other && otherName)}
          rows={days.toReversed()}
          keyOf={({ date }) => date}
        />
      </details>
    </Part>
  )
}
