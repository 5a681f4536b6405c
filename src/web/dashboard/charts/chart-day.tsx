import { analyticsWords as words } from '../words/analytics.ts'
import { formatCount } from '../words/time.ts'

/** A day, week or month: how its runs ended, and how many started in its counterpart before. */
export interface ChartDay {
  /** The first of its days. */
  date: string
  name: string
  /** Shown above its numbers. */
  title: string
  /** Shown below its bar. */
  label: string
  starts: number
  people: number
  completions: number
  dismissals: number
  inProgress: number
  complete: boolean
  /** Null if there is nothing to compare with. */
  before: number | null
}

export const outcomes = ['completions', 'inProgress', 'dismissals'] as const

/** The day and its numbers in one line. */
export const sayDay = (day: ChartDay, otherName: string): string =>
  [
    day.complete ? day.name : words.open(day.name),
    `${formatCount(day.starts)} ${words.starts.toLowerCase()}`,
    ...outcomes.map(outcome => `${formatCount(day[outcome])} ${words.outcomes[outcome]}`),
    ...(day.before === null ? [] : [`${formatCount(day.before)} ${words.otherStarts(otherName)}`]),
  ].join(', ')

/** The numbers of a day, shown beside it. */
export function DayTip({
  day,
  otherName,
  left,
  right,
}: {
  day: ChartDay
  otherName: string
  left: number | null
  right: number | null
}) {
  return (
    <div
      class="chart-tip"
      style={{
        left: left === null ? 'auto' : `${left}px`,
        right: right === null ? 'auto' : `${right}px`,
      }}
    >
      <strong>{day.complete ? day.title : words.open(day.title)}</strong>
      <table>
        <tbody>
          <tr>
            <td>{words.starts}</td>
            <td>{formatCount(day.starts)}</td>
          </tr>
          {outcomes.map(outcome => (
            <tr key={outcome}>
              <td class={`key-${outcome}`}>{words.outcomes[outcome]}</td>
              <td>{formatCount(day[outcome])}</td>
            </tr>
          ))}
          {day.before !== null && (
            <tr>
              <td class="key-line">{words.otherStarts(otherName)}</td>
              <td>{formatCount(day.before)}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  )
}
