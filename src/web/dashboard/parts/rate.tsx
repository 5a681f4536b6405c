import { wilsonInterval } from '../../../core/number/interval.ts'
import { flowWords as words } from '../words/flows.ts'
import { fewest, formatPercent, formatShare } from '../words/time.ts'

/** A share with the interval that it stands for; no interval if there are too few. */
export function Rate({ hits, of }: { hits: number; of: number }) {
  const interval = wilsonInterval(hits, of)
  return (
    <span class="rate">
      {formatShare(hits, of)}
      {interval && of >= fewest && (
        <small title={words.intervalMeans}>
          {words.interval(formatPercent(interval.low), formatPercent(interval.high))}
        </small>
      )}
    </span>
  )
}
