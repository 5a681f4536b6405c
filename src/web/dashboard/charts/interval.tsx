import { flowWords as words } from '../words/flows.ts'
import { formatPercent } from '../words/time.ts'

/** The ends of the scale on which intervals are drawn, above all of them or below each. */
export const Scale = () => (
  <span class="scale" aria-hidden="true">
    <span>{formatPercent(0)}</span>
    <span>{formatPercent(1)}</span>
  </span>
)

/** A rate as a point, and its interval, on a scale from 0% to 100%. */
export function Interval({ share, low, high }: { share: number; low: number; high: number }) {
  const percent = (value: number) => `${value * 100}%`
  return (
    <span class="interval">
      <svg width="100%" height="16" aria-hidden="true">
        <line class="rail" x1="0" x2="100%" y1="8" y2="8" />
        {['0', '50%', '100%'].map(x => (
          <line key={x} class="mark-line" x1={x} x2={x} y1="3" y2="13" />
        ))}
        <line class="reach" x1={percent(low)} x2={percent(high)} y1="8" y2="8" />
        <circle class="point" cx={percent(share)} cy="8" r="4" />
      </svg>
      <Scale />
      <span class="number">{words.interval(formatPercent(low), formatPercent(high))}</span>
    </span>
  )
}
