import { BarChart, type Slot } from '../charts/bar-chart.tsx'
import { Segments } from '../parts/choice.tsx'
import { formatClock, formatCount, formatDay, formatShortDay } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useFilters } from '../shell/address.ts'
import { Behind } from './behind.tsx'
import { type Period, periodsOf } from './daily-periods.ts'
import { type Analytics, type Interval, type Question, runsBehind } from './question.ts'
import { type RunWords, wordsFor } from './run-words.ts'

const options = [
  ['day', 'Day'],
  ['week', 'Week'],
  ['month', 'Month'],
] as const

const outcomes = ['completions', 'inProgress', 'dismissals'] as const
const outcomesIn = ({ completed, unfinished, dismissed }: RunWords) => ({
  ...{ completions: completed.toLowerCase(), inProgress: unfinished.toLowerCase() },
  dismissals: dismissed.toLowerCase(),
})

const slotOf = (period: Period, interval: Interval, otherName: string, words: RunWords): Slot => ({
  key: period.from,
  label:
    interval === 'month' ? formatDay(period.from, { day: undefined }) : formatShortDay(period.from),
  title: period.name,
  parts: outcomes.map(outcome => period[outcome]),
  before: period.before,
  isOpen: !period.complete && period.starts > 0,
  numbers: [
    [words.starts.toLowerCase(), formatCount(period.starts)],
    ...outcomes.map(
      outcome => [outcomesIn(words)[outcome], formatCount(period[outcome]), outcome] as const,
    ),
    ...(period.before === null
      ? []
      : [
          [
            `${words.starts.toLowerCase()}, ${otherName}`,
            formatCount(period.before),
            'line',
          ] as const,
        ]),
  ],
})

const columnsOf = (
  { flowKey }: Analytics,
  question: Question,
  otherName: string | null,
  words: RunWords,
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
    counted(words.starts, 'starts', null),
    counted(words.completed, 'completions', 'completed'),
    counted(words.dismissed, 'dismissals', 'dismissed'),
    counted(words.unfinished, 'inProgress', 'in_progress'),
    {
      name: 'People',
      means: 'Each person counts once per row, so rows do not add up to the total.',
      isNumber: true,
      value: ({ people }) => people,
    },
    ...(otherName === null
      ? []
      : [
          {
            name: `${words.starts}, ${otherName}`,
            isNumber: true,
            value: ({ before }: Period) => before,
          },
        ]),
  ]
}

/** Runs and their outcomes, by day, week or month. */
export function Daily({
  data,
  other,
  otherName,
  question,
  isLauncher,
}: {
  data: Analytics
  other: Analytics | null
  otherName: string
  question: Question
  isLauncher: boolean
}) {
  const words = wordsFor(isLauncher)
  const { setFilters } = useFilters()
  const { interval } = question
  const periods = periodsOf(data, other, interval)
  const { range, generatedAt } = data
  const until = formatClock(generatedAt, range.timezone)
  return (
    <Part
      title={`${words.runs} by ${interval}`}
      beside={
        <div class="row gap-3">
          <ul class="row gap-3 fine">
            {outcomes.map(outcome => (
              <li key={outcome} class={`key-${outcome}`}>
                {outcomesIn(words)[outcome]}
              </li>
            ))}
            {other && (
              <li class="key-line">
                {words.starts.toLowerCase()}, {otherName}
              </li>
            )}
            {!range.complete && (
              <li class="key-hatch">
                {interval === 'day' ? 'today' : `this ${interval}`}, until {until}
              </li>
            )}
          </ul>
          <Segments
            label={`${words.runs} by`}
            options={options}
            value={interval}
            onChange={chosen => setFilters({ interval: chosen })}
          />
        </div>
      }
    >
      <BarChart
        slots={periods.map(period => slotOf(period, interval, otherName, words))}
        classes={outcomes}
        name={`${words.runs} by ${interval}. Arrow keys choose a ${interval}.`}
      />
      <Table
        isFolded
        caption={
          isLauncher
            ? `Openings of each ${interval}, by outcome`
            : `Runs that started each ${interval}, by outcome`
        }
        file={`${data.flowKey}-${interval}s`}
        columns={columnsOf(data, question, other && otherName, words)}
        rows={periods.toReversed()}
        keyOf={({ from }) => from}
      />
    </Part>
  )
}
