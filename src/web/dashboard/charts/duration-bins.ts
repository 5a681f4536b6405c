import type { Analytics } from '../analytics/question.ts'

export type Bin = NonNullable<Analytics['timeToComplete']['distribution']>[number]

/** So many bins are shown at least, so that few do not become slabs. */
const fewestBins = 8

/** A bin, with the runs of what it is compared with; null where that is nothing. */
export interface ComparedBin extends Bin {
  before: number | null
}

/** The bins with runs in them, of either, and one on either side. */
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

/** Where a time lies: bins that it is past, and the part of its own, as far as logarithms go. */
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
