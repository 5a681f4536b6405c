import type { Analytics } from '../analytics/question.ts'

export type Bin = NonNullable<Analytics['timeToComplete']['distribution']>[number]

/** The least number of bins shown, because fewer would be drawn as wide slabs. */
const fewestBins = 8

/** A bin, with the number of runs that it is compared with; null if there is no comparison. */
export interface ComparedBin extends Bin {
  before: number | null
}

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
