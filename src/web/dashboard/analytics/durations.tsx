import { BarChart, type Mark } from '../charts/bar-chart.tsx'
import {
  fewest,
  formatCompact,
  formatCount,
  formatPercent,
  formatSeconds,
  formatShare,
} from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Behind } from './behind.tsx'
import { type Analytics, type Question, runsBehind } from './question.ts'

type Timed = Analytics['timeToComplete']
export type Bin = NonNullable<Timed['distribution']>[number]

/** A bin, with the number of runs that it is compared with; null if there is no comparison. */
export interface ComparedBin extends Bin {
  before: number | null
}

/** The least number of bins shown, because fewer would be drawn as wide slabs. */
const fewestBins = 8

/** The bins in which either side has runs, with all between them and one more at each end. */
export function seenBins(all: readonly Bin[], other: readonly Bin[] | null): ComparedBin[] {
  const bins = all.map((bin, i) => ({ ...bin, before: other?.[i]?.count ?? null }))
  const isFull = ({ count, before }: ComparedBin) => count > 0 || (before ?? 0) > 0
  let first = Math.max(0, bins.findIndex(isFull) - 1)
  let last = Math.min(bins.length - 1, bins.findLastIndex(isFull) + 1)
  while (last - first + 1 < fewestBins) {
    if (last < bins.length - 1) last++
    if (first > 0 && last - first + 1 < fewestBins) first--
  }
  return bins.slice(first, last + 1)
}

/** The position of a time: the bins before it, plus the logarithmic fraction of its own bin. */
export function placeOf(seconds: number, bins: readonly Bin[]): number {
  const at = Math.max(
    0,
    bins.findLastIndex(({ fromSeconds }) => seconds >= fromSeconds),
  )
  const { fromSeconds, toSeconds } = bins[at]!
  if (toSeconds === null) return at + 0.5
  if (fromSeconds === 0) return at + seconds / toSeconds
  return at + Math.log(seconds / fromSeconds) / Math.log(toSeconds / fromSeconds)
}

/** How long the runs of a bin took, in words. */
const nameOf = ({ fromSeconds, toSeconds }: Bin): string => {
  if (toSeconds === null) return `${formatSeconds(fromSeconds)} or more`
  if (fromSeconds === 0) return `under ${formatSeconds(toSeconds)}`
  return `${formatSeconds(fromSeconds)} – ${formatSeconds(toSeconds)}`
}

interface Shown {
  data: Analytics
  other: Analytics | null
  otherName: string
  question: Question
}

function columnsOf(
  { data: { flowKey, timeToComplete }, otherName, question }: Shown,
  before: Timed | null,
): Column<ComparedBin>[] {
  const share = (name: string, of: number, countOf: (bin: ComparedBin) => number) => ({
    ...{ name, isNumber: true, value: countOf },
    cell: (bin: ComparedBin) => formatShare(countOf(bin), of),
  })
  return [
    {
      name: 'Duration',
      isTitle: true,
      value: ({ fromSeconds }) => fromSeconds,
      cell: bin => <bdi>{nameOf(bin)}</bdi>,
    },
    {
      name: 'Runs',
      isNumber: true,
      value: ({ count }) => count,
      cell: ({ count, fromSeconds, toSeconds }) => (
        <Behind
          count={count}
          href={runsBehind(flowKey, question, { seconds: `${fromSeconds}-${toSeconds ?? ''}` })}
        />
      ),
    },
    share('Share', timeToComplete.count, ({ count }) => count),
    ...(before
      ? [
          {
            name: `Runs, ${otherName}`,
            isNumber: true,
            value: ({ before }: ComparedBin) => before,
          },
          share(`Share, ${otherName}`, before.count, ({ before }) => before ?? 0),
        ]
      : []),
  ]
}

function Chart({ shown, before }: { shown: Shown; before: Timed | null }) {
  const { count, distribution, medianSeconds, p90Seconds } = shown.data.timeToComplete
  const bins = seenBins(distribution!, before?.distribution ?? null)
  // Counts out of different totals cannot be compared, so both sides are shares.
  const scaled = (runs: number, of: number) => (before ? runs / of : runs)
  const marks: Mark[] = [
    { at: placeOf(medianSeconds!, bins), name: `median ${formatSeconds(medianSeconds)}` },
    { at: placeOf(p90Seconds!, bins), name: `9 in 10 within ${formatSeconds(p90Seconds)}` },
  ]
  return (
    <>
      <BarChart
        slots={bins.map(bin => ({
          key: `${bin.fromSeconds}`,
          label: formatSeconds(bin.fromSeconds),
          title: nameOf(bin),
          parts: [scaled(bin.count, count)],
          before: before && scaled(bin.before ?? 0, before.count),
          numbers: [
            ['completed runs', formatCount(bin.count), 'completions'],
            ...(before
              ? [[shown.otherName, formatShare(bin.before ?? 0, before.count), 'line'] as const]
              : []),
          ],
        }))}
        classes={['completions']}
        marks={marks}
        least={before ? 0.04 : 4}
        formatTick={before ? formatPercent : formatCompact}
        isAtEdge
        name={`Completed runs by duration: ${marks.map(({ name }) => name).join(', ')}`}
      />
      <Table
        isFolded
        caption="Completed runs by duration"
        file={`${shown.data.flowKey}-durations`}
        columns={columnsOf(shown, before)}
        rows={bins}
        keyOf={({ fromSeconds }) => fromSeconds}
      />
    </>
  )
}

/** How long completed runs took, drawn if there are enough of them. The bins are always the same. */
export function Durations(shown: Shown) {
  const { data, other, otherName } = shown
  const { count, distribution } = data.timeToComplete
  if (count === 0 || !distribution) return null
  const known = other?.timeToComplete
  const before = known?.distribution && known.count >= fewest ? known : null
  return (
    <Part
      title="Time to complete"
      beside={
        <ul class="row gap-3 fine">
          <li class="key-completions">
            <bdi>{formatCount(count)} completed runs</bdi>
          </li>
          {before && (
            <li class="key-line">
              <bdi>
                {otherName}: {formatCount(before.count)}, median{' '}
                {formatSeconds(before.medianSeconds)}, 9 in 10 within{' '}
                {formatSeconds(before.p90Seconds)}
              </bdi>
            </li>
          )}
        </ul>
      }
    >
      {count < fewest ? (
        <p class="footnote fine">Needs at least {fewest} completed runs.</p>
      ) : (
        <Chart shown={shown} before={before} />
      )}
      {known && !before && (
        <p class="footnote fine">
          Not compared: fewer than {fewest} completed runs in {otherName}.
        </p>
      )}
    </Part>
  )
}
