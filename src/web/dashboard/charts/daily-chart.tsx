import { useSignal } from '@preact/signals'
import { scaleBand, scaleLinear } from 'd3-scale'
import { useId } from 'preact/hooks'
import { formatCompact } from '../words/time.ts'
import { type ChartDay, DayTip, sayDay } from './chart-day.tsx'
import { Bars, Before, Hatch, type Scales } from './daily-marks.tsx'
import { useWidth } from './use-width.ts'

const height = 220
const margin = { top: 12, right: 4, bottom: 24, left: 36 }
/** About the room for the label of a day, in pixels. */
const perLabel = 64
function scalesOf(days: readonly ChartDay[], width: number): Scales {
  const most = Math.max(4, ...days.map(({ starts, before }) => Math.max(starts, before ?? 0)))
  const x = scaleBand(
    days.map(({ date }) => date),
    [margin.left, Math.max(margin.left + 1, width - margin.right)],
  )
  x.paddingInner(days.length > 120 ? 0 : days.length > 6 ? 0.25 : 0.6)
  const y = scaleLinear([0, most], [height - margin.bottom, margin.top]).nice(4)
  return { x, y }
}

function Axes({
  days,
  scales: { x, y },
  width,
}: {
  days: readonly ChartDay[]
  scales: Scales
  width: number
}) {
  const every = Math.max(1, Math.ceil((days.length * perLabel) / Math.max(1, width)))
  const labelled = days.filter((_, i) => (days.length - 1 - i) % every === 0)
  return (
    <>
      {y.ticks(4).map(tick => (
        <g key={tick} class="tick">
          <line x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} />
          <text x={margin.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
            {formatCompact(tick)}
          </text>
        </g>
      ))}
      {labelled.map(({ date, label }) => {
        const at = x(date)! + x.bandwidth() / 2
        const anchor = at > width - 28 ? 'end' : 'middle'
        return (
          <text
            key={date}
            class="tick-label"
            x={anchor === 'end' ? width - margin.right : at}
            y={height - 6}
            text-anchor={anchor}
          >
            {label}
          </text>
        )
      })}
    </>
  )
}

/**
 * Runs by day, week or month. The pointer or the arrow keys choose one, whose numbers are shown and read
 * aloud. The same numbers are in the table below.
 */
export function DailyChart({
  days,
  otherName,
  name,
}: {
  days: readonly ChartDay[]
  otherName: string
  name: string
}) {
  const { ref, width } = useWidth()
  const chosen = useSignal<number | null>(null)
  const hatch = useId()
  const scales = scalesOf(days, width.value)
  const { x } = scales
  const last = days.length - 1
  const day = chosen.value === null ? null : days[Math.min(chosen.value, last)]!
  const point = (event: PointerEvent) => {
    const at = event.clientX - ref.current!.getBoundingClientRect().left - margin.left
    chosen.value = Math.max(0, Math.min(last, Math.floor(at / x.step())))
  }
  const move = (event: KeyboardEvent) => {
    const now = chosen.value ?? last
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key]
    if (event.altKey || next === undefined) return
    event.preventDefault()
    chosen.value = Math.max(0, Math.min(last, next))
  }
  const isRight = day !== null && x(day.date)! > width.value / 2
  return (
    <div
      ref={ref}
      class="chart"
      role="slider"
      tabIndex={0}
      aria-label={name}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={chosen.value ?? last}
      aria-valuetext={sayDay(day ?? days[last]!, otherName)}
      onPointerMove={point}
      onPointerLeave={() => (chosen.value = null)}
      onBlur={() => (chosen.value = null)}
      onKeyDown={move}
    >
      <svg width={width.value} height={height} aria-hidden="true">
        <defs>
          <Hatch id={hatch} />
        </defs>
        <Axes days={days} scales={scales} width={width.value} />
        <Before days={days} scales={scales} />
        {day && (
          <rect
            class="chosen"
            x={x(day.date)! - (x.step() - x.bandwidth()) / 2}
            width={x.step()}
            y={margin.top}
            height={height - margin.top - margin.bottom}
          />
        )}
        <Bars days={days} scales={scales} hatch={hatch} />
      </svg>
      {day && (
        <DayTip
          day={day}
          otherName={otherName}
          left={isRight ? null : x(day.date)! + x.step() + 8}
          right={isRight ? width.value - x(day.date)! + 8 : null}
        />
      )}
    </div>
  )
}
