import { wilsonInterval } from '../../../core/number/interval.ts'
import type { FlowSummary } from '../analytics/summary.ts'
import { Figure } from '../parts/figure.tsx'
import { fewest, formatCount, formatPercent, none } from '../parts/format.ts'

const week = 7

interface Sums {
  starts: number
  completions: number
  dismissals: number
}

/** The runs of all flows that started in days of the range, counted from its end. */
function sumsOf(flows: readonly FlowSummary[], from: number, to?: number): Sums {
  const sums = { starts: 0, completions: 0, dismissals: 0 }
  for (const day of flows.flatMap(({ daily }) => daily.slice(from, to))) {
    sums.starts += day.starts
    sums.completions += day.completions
    sums.dismissals += day.dismissals
  }
  return sums
}

/** The rate of the week before, or why there is none. */
function comparedRate(now: Sums, before: Sums): string {
  if (now.starts === 0) return 'No data this week'
  if (now.starts < fewest) return `Too few runs: at least ${fewest} are needed`
  if (before.starts < fewest) return 'Too little data the week before'
  return `${rateOf(before)} the week before. ${verdictOf(now, before)}`
}

const rateOf = ({ starts, completions }: Sums) =>
  starts < fewest ? none : formatPercent(completions / starts)

/** Whether two rates differ by more than chance, in words. */
function verdictOf(now: Sums, before: Sums): string {
  const a = wilsonInterval(now.completions, now.starts)!
  const b = wilsonInterval(before.completions, before.starts)!
  if (a.low > b.high) return 'Up by more than chance.'
  return b.low > a.high ? 'Down by more than chance.' : 'The difference may be chance.'
}

/** All flows of the last seven days beside the seven days before. */
export function Week({ flows }: { flows: readonly FlowSummary[] }) {
  const now = sumsOf(flows, -week)
  const before = sumsOf(flows, -2 * week, -week)
  const counted = (name: string, means: string, field: keyof Sums) => (
    <Figure
      name={name}
      means={means}
      below={
        before.starts === 0
          ? 'No data the week before'
          : `${formatCount(before[field])} the week before`
      }
    >
      {formatCount(now[field])}
    </Figure>
  )
  return (
    <dl class="figures framed four">
      <Figure
        name="Activation"
        means="Completed runs out of all runs of all flows that started in the last 7 days."
        below={comparedRate(now, before)}
      >
        {rateOf(now)}
      </Figure>
      {counted('Starts', 'Runs of all flows that started in the last 7 days.', 'starts')}
      {counted('Completed', 'Of these, the runs that were completed.', 'completions')}
      {counted('Dismissed', 'Of these, the runs that people closed.', 'dismissals')}
    </dl>
  )
}
