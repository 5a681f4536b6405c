import type { ScaleBand, ScaleLinear } from 'd3-scale'
import { area, curveStep, line } from 'd3-shape'
import { type ChartDay, outcomes } from './chart-day.tsx'

/** The positions of days and counts. */
export interface Scales {
  x: ScaleBand<string>
  y: ScaleLinear<number, number>
}

/** The comparison, behind the bars, as one outline: as high as each day was, and flat across it. */
export function Before({ days, scales: { x, y } }: { days: readonly ChartDay[]; scales: Scales }) {
  const known = days.flatMap(({ date, before }) => (before === null ? [] : [{ date, before }]))
  if (known.length === 0) return null
  const half = x.bandwidth() / 2
  const points = known.map(({ date, before }) => [x(date)! + half, y(before)] as [number, number])
  const [first, last] = [points[0]!, points.at(-1)!]
  const whole = [[first[0] - half, first[1]], ...points, [last[0] + half, last[1]]] as typeof points
  const shape = area()
    .y0(y(0))
    .y1(([, high]) => high)
    .curve(curveStep)
  return (
    <>
      <path class="before-area" d={shape(whole) ?? ''} />
      <path class="before-line" d={line().curve(curveStep)(whole) ?? ''} />
    </>
  )
}

/** The runs of each day by how they ended. A day that is not over is hatched. */
export function Bars({
  days,
  scales: { x, y },
  hatch,
}: {
  days: readonly ChartDay[]
  scales: Scales
  hatch: string
}) {
  const width = x.bandwidth()
  return (
    <>
      {days.map(day => {
        let below = 0
        return (
          <g key={day.date}>
            {outcomes.map(outcome => {
              const from = below
              below += day[outcome]
              if (day[outcome] === 0) return null
              return (
                <rect
                  key={outcome}
                  class={`of-${outcome}`}
                  x={x(day.date)}
                  width={width}
                  y={y(below)}
                  height={y(from) - y(below)}
                />
              )
            })}
            {!day.complete && day.starts > 0 && (
              <rect
                x={x(day.date)}
                width={width}
                y={y(day.starts)}
                height={y(0) - y(day.starts)}
                fill={`url(#${hatch})`}
              />
            )}
          </g>
        )
      })}
    </>
  )
}

/** Stripes in the colour of the background, for days that are not over. */
export const Hatch = ({ id }: { id: string }) => (
  <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect class="hatch" width="2.5" height="5" />
  </pattern>
)
