import { differenceInterval, shareDifference } from '../../core/number/interval.ts'
import { fourDecimals, rate } from '../../core/number/statistics.ts'
import type { ExperimentCounts, GroupCounts } from '../../storage/interfaces/analytics.ts'
import type { Analytics } from './schema.ts'

type Experiment = NonNullable<Analytics['experiment']>

const groupOf = ({ people, achieved }: GroupCounts) => ({
  people,
  achieved,
  rate: rate(achieved, people),
})

/** What a flow changes: people who saw it compared with people who were held back. */
export function experimentOf(goal: string, { shown, heldOut }: ExperimentCounts): Experiment {
  const share = ({ people, achieved }: GroupCounts) => ({ hits: achieved, trials: people })
  const interval = differenceInterval(share(shown), share(heldOut))
  return {
    goal,
    shown: groupOf(shown),
    heldOut: groupOf(heldOut),
    difference: shareDifference(share(shown), share(heldOut), 4),
    interval: interval && { low: fourDecimals(interval.low), high: fourDecimals(interval.high) },
  }
}
