import { RangeLine } from '../charts/bars.tsx'
import { fewest, formatPercent, formatShare, none } from '../parts/format.ts'
import type { Column } from '../parts/table.tsx'
import type { RunWords } from './run-words.ts'

interface Runs {
  starts: number
  completions: number
}

/** The completion rate of each row, and its interval on one scale from 0% to 100%. */
export const completionColumns = <Row extends Runs>(
  { rate, rateMeans }: RunWords,
  intervalOf: (row: Row) => { low: number; high: number } | null,
): Column<Row>[] => [
  {
    name: rate,
    means: rateMeans,
    unit: '%',
    isNumber: true,
    value: ({ starts, completions }) =>
      starts < fewest ? null : Math.round((1000 * completions) / starts) / 10,
    cell: ({ starts, completions }) => formatShare(completions, starts),
  },
  {
    name: '95% interval',
    means:
      'With 95% confidence, the completion rate is in this range. Ranges that overlap may differ by chance.',
    isNumber: true,
    cell: row => {
      const interval = intervalOf(row)
      if (!interval || row.starts < fewest) return none
      const { low, high } = interval
      return (
        <span class="interval">
          <RangeLine point={row.completions / row.starts} low={low} high={high} whole={1} />
          <span class="number">
            {formatPercent(low)} to {formatPercent(high)}
          </span>
        </span>
      )
    },
  },
]
