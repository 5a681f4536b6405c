import { flowWords as words } from '../words/flows.ts'
import { formatPercent } from '../words/time.ts'

/** A rate as a point, and the interval in which it lies, on a scale from nothing to all. */
export function Interval({ share, low, high }: { share: number; low: number; high: number }) {
  const percent = (value: number) => `${value * 100}%`
  return (
    <span class="interval">
      <svg width="100%" height="16" aria-hidden="true">
        <line class="rail" x1="0" x2="100%" y1="8" y2="8" />
        <line class="reach" x1={percent(low)} x2={percent(high)} y1="8" y2="8" />
        <circle class="point" cx={percent(share)} cy="8" r="4" />
      </svg>
      <span class="number">{words.interval(formatPercent(low), formatPercent(high))}</span>
    </span>
  )
}
