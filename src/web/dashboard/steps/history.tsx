import { totalsOf } from '../../../core/step/health.ts'
import { addDays } from '../analytics/zone.ts'
import { BarChart, type Mark, type Slot } from '../charts/bar-chart.tsx'
import { Badge } from '../parts/badge.tsx'
import { formatCount, formatDay, formatShare, formatShortDay } from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import {
  type CheckedStep,
  nameOfState,
  type StepCheck,
  type StepState,
  toneOfState,
} from './health.ts'

export type HistoryDay = NonNullable<CheckedStep['history']>[number]
type HistoryRange = NonNullable<StepCheck['historyRange']>

const kinds = ['found', 'fallback', 'misses'] as const
const kindNames = { found: 'found', fallback: 'found by fallback', misses: 'not found' }

/** The people of a day who found the element as described, found it by a fallback, and missed it. */
export function foundOf({ people }: HistoryDay) {
  const { people: all, finds, fallback, misses } = totalsOf(people)
  return { all, found: finds - fallback, fallback, misses }
}

/** A state, and the first day on which the step was in it. */
interface StateChange {
  date: string
  state: StepState
  /** Null for the first known state. */
  before: StepState | null
}

/** The days on which the state changed. Days on which too few people reported do not count. */
export function changesOf(days: readonly HistoryDay[]): StateChange[] {
  const changes: StateChange[] = []
  for (const { date, state } of days) {
    const before = changes.at(-1)?.state ?? null
    if (state !== 'unknown' && state !== before) changes.push({ date, state, before })
  }
  return changes
}

const nameOf = ({ date, complete }: HistoryDay) =>
  complete ? formatDay(date) : `${formatDay(date)} (so far)`

/** All days of the range in order. Days without reports have nothing. */
export function slotsOf(days: readonly HistoryDay[], { from, to }: HistoryRange): Slot[] {
  const byDate = new Map(days.map(day => [day.date, day]))
  const slots: Slot[] = []
  for (let date = from; date <= to; date = addDays(date, 1)) {
    const day = byDate.get(date)
    const counts = day && foundOf(day)
    slots.push({
      key: date,
      label: formatShortDay(date),
      title: day ? `${nameOf(day)}: ${nameOfState[day.state]}` : formatDay(date),
      parts: counts ? kinds.map(kind => counts[kind]) : null,
      isOpen: day?.complete === false,
      numbers: counts
        ? kinds.map(kind => [kindNames[kind], formatCount(counts[kind]), kind] as const)
        : [['reports', '0']],
    })
  }
  return slots
}

const counted = (kind: 'all' | (typeof kinds)[number], name: string): Column<HistoryDay> => ({
  name,
  isNumber: true,
  value: day => foundOf(day)[kind],
})

const columns: Column<HistoryDay>[] = [
  { name: 'Day', isTitle: true, value: ({ date }) => date, cell: nameOf },
  {
    name: 'State',
    value: ({ state }) => nameOfState[state],
    cell: ({ state }) => <Badge tone={toneOfState[state]}>{nameOfState[state]}</Badge>,
  },
  counted('found', 'Found'),
  counted('fallback', 'By fallback'),
  counted('misses', 'Not found'),
  { ...counted('all', 'People'), means: 'People whose page looked for the element on that day.' },
  {
    name: 'Share that found it',
    isNumber: true,
    cell: day => formatShare(foundOf(day).all - foundOf(day).misses, foundOf(day).all),
  },
]

/** How a step did in the last 30 days, and when its state changed. */
export function History({
  step,
  title,
  range,
}: {
  step: CheckedStep
  title: string
  range: HistoryRange
}) {
  const days = step.history ?? []
  const slots = slotsOf(days, range)
  const marks = changesOf(days).flatMap(({ date, state, before }): Mark[] =>
    before === null
      ? []
      : [{ at: slots.findIndex(({ key }) => key === date), name: nameOfState[state] }],
  )
  return (
    <div data-history>
      <div class="part-head">
        <h3>Last 30 days</h3>
        {days.length > 0 && (
          <ul class="row gap-3 fine">
            {kinds
              .filter(kind => days.some(day => foundOf(day)[kind] > 0))
              .map(kind => (
                <li key={kind} class={`key-${kind}`}>
                  {kindNames[kind]}
                </li>
              ))}
            {days.some(({ complete }) => !complete) && <li class="key-hatch">today so far</li>}
          </ul>
        )}
      </div>
      {days.length === 0 ? (
        <p class="hint">No reports in this period.</p>
      ) : (
        <>
          <BarChart
            height={140}
            slots={slots}
            classes={kinds}
            marks={marks}
            name={`People who found the element of “${title}”, by day`}
          />
          <Table
            isFolded
            caption={`People by day and whether they found the element of “${title}”`}
            file={`${step.flow}-${step.step}-health`}
            columns={columns}
            rows={days.toReversed()}
            keyOf={({ date }) => date}
          />
        </>
      )}
    </div>
  )
}
