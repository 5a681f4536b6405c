import { wilsonInterval } from '../../../core/number/interval.ts'
import { fewest, formatPercent, formatShare } from './format.ts'

/** A share with the interval that it stands for; no interval if there are too few. */
export function Rate({ hits, of }: { hits: number; of: number }) {
  const interval = wilsonInterval(hits, of)
  return (
    <span class="rate">
      {formatShare(hits, of)}
      {interval && of >= fewest && (
        <small title="95% confidence interval of the completion rate (Wilson)">
          {formatPercent(interval.low)} to {formatPercent(interval.high)}
        </small>
      )}
    </span>
  )
}
