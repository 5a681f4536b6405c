import { type Bin, type ComparedBin, seenBins } from '../charts/duration-bins.ts'
import { DurationChart } from '../charts/duration-chart.tsx'
import { Icon } from '../parts/icon.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { analyticsWords } from '../words/analytics.ts'
import { durationWords as words } from '../words/durations.ts'
import { fewest, formatCount, formatSeconds, formatShare } from '../words/time.ts'
import { type Analytics, csvAddress, type Question } from './question.ts'

const edge = (seconds: number) => formatSeconds(seconds)

/** How long the runs of a bin took, in words. */
const sayBin = ({ fromSeconds, toSeconds }: Bin): string => {
  if (toSeconds === null) return words.over(edge(fromSeconds))
  if (fromSeconds === 0) return words.under(edge(toSeconds))
  return words.between(edge(fromSeconds), edge(toSeconds))
}

interface Shown {
  count: number
  definitions: Analytics['definitions']
  /** What it is compared with: its name and its number of runs. */
  other: { name: string; count: number } | null
}

function columnsOf({ count, definitions, other }: Shown): Column<ComparedBin>[] {
  const numbers = (
    name: string,
    shareName: string,
    of: number,
    countIn: (bin: ComparedBin) => number,
  ): Column<ComparedBin>[] => [
    {
      name,
      means: definitions['distribution.count'],
      isNumber: true,
      cell: bin => formatCount(countIn(bin)),
    },
    {
      name: shareName,
      isNumber: true,
      cell: bin => formatShare(countIn(bin), of),
    },
  ]
  const { otherRuns, otherShare } = words
  return [
    { name: words.took, isTitle: true, cell: bin => <bdi>{sayBin(bin)}</bdi> },
    ...numbers(words.runs, words.share, count, bin => bin.count),
    ...(other
      ? numbers(otherRuns(other.name), otherShare(other.name), other.count, bin => bin.before ?? 0)
      : []),
  ]
}

const Legend = ({ count, other, of }: { count: number; other: string; of: Timed }) => (
  <ul class="legend">
    <li class="key-completions">
      <bdi>{words.timed(formatCount(count))}</bdi>
    </li>
    <li class="key-line">
      <bdi>
        {words.otherTimed(
          other,
          formatCount(of.count),
          formatSeconds(of.medianSeconds),
          formatSeconds(of.p90Seconds),
        )}
      </bdi>
    </li>
  </ul>
)

type Timed = Analytics['timeToComplete']

/** How long completed runs took, drawn if there are enough of them. The bins are always the same. */
export function Durations({
  data,
  other,
  otherName,
  compared,
  flowKey,
}: {
  data: Analytics
  other: Analytics | null
  otherName: string
  compared: Question | null
  flowKey: string
}) {
  const { timeToComplete, definitions } = data
  const { count, distribution, medianSeconds, p90Seconds } = timeToComplete
  if (count === 0 || !distribution || medianSeconds === null || p90Seconds === null) return null
  const known = other?.timeToComplete
  const before = known?.distribution && known.count >= fewest ? known : null
  const bins = seenBins(distribution, before?.distribution ?? null)
  const most = bins.reduce((one, other) => (other.count > one.count ? other : one))
  const told = [
    formatCount(count),
    formatSeconds(medianSeconds),
    formatSeconds(p90Seconds),
  ] as const
  return (
    <Part
      title={<Tip text={definitions['timeToComplete.distribution']}>{words.title}</Tip>}
      beside={
        count >= fewest &&
        (before ? (
          <div class="with-switch">
            <Legend count={count} other={otherName} of={before} />
            {compared && (
              <a class="file-link" href={csvAddress(flowKey, compared, null)} download>
                <Icon name="download" />
                {words.otherCsv(otherName)}
              </a>
            )}
          </div>
        ) : (
          <p class="hint">
            <bdi>{words.timed(formatCount(count))}</bdi>
          </p>
        ))
      }
    >
      {count < fewest ? (
        <p class="footnote">{words.tooFew}</p>
      ) : (
        <>
          <DurationChart
            bins={bins}
            median={medianSeconds}
            p90={p90Seconds}
            compared={before && { count, before: before.count }}
            name={words.picture(...told, sayBin(most))}
          />
          <details class="as-table">
            <summary>{analyticsWords.asTable}</summary>
            <Table
              caption={words.caption}
              columns={columnsOf({
                count,
                definitions,
                other: before && { name: otherName, count: before.count },
              })}
              rows={bins}
              keyOf={({ fromSeconds }) => fromSeconds}
            />
          </details>
          {known && !before && <p class="footnote">{words.otherTooFew(otherName)}</p>}
        </>
      )}
    </Part>
  )
}
