import { RangeLine } from '../charts/bars.tsx'
import { fewest, formatPercent, none } from '../parts/format.ts'
import type { Column } from '../parts/table.tsx'

interface Runs {
  starts: number
  completions: number
}

/** The column with the completion rate of each row and its interval, all on one scale from 0% to 100%. */
export const intervalColumn = <Row extends Runs>(
  intervalOf: (row: Row) => { low: number; high: number } | null,
): Column<Row> => ({
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
})

/** The share of starts that were completed, as a value to sort by and as people read it. */
export const shareOf = ({ starts, completions }: Runs): number | null =>
  starts < fewest ? null : Math.round((1000 * completions) / starts) / 10
