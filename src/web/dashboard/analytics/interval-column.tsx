import { Interval, Scale } from '../charts/interval.tsx'
import type { Column } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { flowWords } from '../words/flows.ts'
import { fewest, none } from '../words/time.ts'

interface Runs {
  starts: number
  completions: number
}

/** The column with the rate of each row and the interval of that rate, all on one scale. */
export const intervalColumn = <Row extends Runs>(
  name: string,
  intervalOf: (row: Row) => { low: number; high: number } | null,
): Column<Row> => ({
  head: (
    <span class="interval-head">
      <Scale />
      <Tip text={flowWords.intervalMeans}>{name}</Tip>
    </span>
  ),
  name,
  cell: row => {
    const interval = intervalOf(row)
    if (!interval || row.starts < fewest) return none
    return <Interval share={row.completions / row.starts} {...interval} />
  },
})
