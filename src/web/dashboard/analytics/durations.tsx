import { type Bin, seenBins } from '../charts/duration-bins.ts'
import { DurationChart } from '../charts/duration-chart.tsx'
import { Defined } from '../parts/defined.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { analyticsWords } from '../words/analytics.ts'
import { durationWords as words } from '../words/durations.ts'
import { fewest, formatCount, formatSeconds, formatShare } from '../words/time.ts'
import type { Analytics } from './question.ts'

const edge = (seconds: number) => formatSeconds(seconds)

/** How long the runs of a bin took, in words. */
const sayBin = ({ fromSeconds, toSeconds }: Bin): string => {
  if (toSeconds === null) return words.over(edge(fromSeconds))
  if (fromSeconds === 0) return words.under(edge(toSeconds))
  return words.between(edge(fromSeconds), edge(toSeconds))
}

const columnsOf = (count: number, definitions: Analytics['definitions']): Column<Bin>[] => [
  { head: words.took, name: words.took, isTitle: true, cell: sayBin },
  {
    head: <Defined means={definitions['distribution.count']}>{words.runs}</Defined>,
    name: words.runs,
    isNumber: true,
    cell: bin => formatCount(bin.count),
  },
  {
    head: words.share,
    name: words.share,
    isNumber: true,
    cell: bin => formatShare(bin.count / count, count),
  },
]

/** How long completed runs took: as many as are enough to draw, in bins that are always the same. */
export function Durations({ data }: { data: Analytics }) {
  const { timeToComplete, definitions } = data
  const { count, distribution, medianSeconds, p90Seconds } = timeToComplete
  if (count === 0 || !distribution || medianSeconds === null || p90Seconds === null) return null
  const bins = seenBins(distribution)
  const most = bins.reduce((one, other) => (other.count > one.count ? other : one))
  const told = [
    formatCount(count),
    formatSeconds(medianSeconds),
    formatSeconds(p90Seconds),
  ] as const
  return (
    <section class="part">
      <div class="part-head">
        <h2>
          <Defined means={definitions['timeToComplete.distribution']}>{words.title}</Defined>
        </h2>
        {count >= fewest && <p class="soft">{words.timed(formatCount(count))}</p>}
      </div>
      {count < fewest ? (
        <p class="footnote">{words.tooFew}</p>
      ) : (
        <>
          <DurationChart
            bins={bins}
            median={medianSeconds}
            p90={p90Seconds}
            name={words.picture(...told, sayBin(most))}
          />
          <details class="as-table">
            <summary>{analyticsWords.asTable}</summary>
            <Table
              caption={words.caption}
              columns={columnsOf(count, definitions)}
              rows={bins}
              keyOf={({ fromSeconds }) => fromSeconds}
            />
          </details>
        </>
      )}
    </section>
  )
}
