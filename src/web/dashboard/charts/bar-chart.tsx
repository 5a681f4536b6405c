import { useSignal } from '@preact/signals'
import { scaleLinear } from 'd3-scale'
import { useId } from 'preact/hooks'
import { formatCompact } from '../parts/format.ts'
import { Before, type Mark, Marks, markRow, type Slot, Tip } from './chart-parts.tsx'
import { useWidth } from './use-width.ts'

export type { Mark, Slot }

const margin = { top: 12, right: 4, bottom: 24, left: 40 }
/** About the room for a label below a bar, in pixels. */
const perLabel = 64
const sum = (parts: readonly number[] | null) => (parts ?? []).reduce((all, part) => all + part, 0)

/**
 * Bars in parts. The pointer or the arrow keys choose one, whose numbers are shown and read aloud. The
 * same numbers are in a table beside it.
 */
export function BarChart({
  slots,
  classes,
  name,
  marks = [],
  height: bars = 220,
  formatTick = formatCompact,
  least = 4,
  lowest = 0,
  isAtEdge = false,
}: {
  slots: readonly Slot[]
  /** What the parts of each bar are, as in the legend. */
  classes: readonly string[]
  name: string
  marks?: readonly Mark[]
  height?: number
  formatTick?: (tick: number) => string
  /** How far the scale goes at least. */
  least?: number
  /** Where the scale begins, at most zero. A bar of one part may be below zero. */
  lowest?: number
  /** Whether labels stand where slots begin, as for ranges. */
  isAtEdge?: boolean
}) {
  const { ref, width: known } = useWidth()
  const chosen = useSignal<number | null>(null)
  const hatch = useId()
  const width = known.value
  const height = bars + Math.max(0, marks.length - 1) * markRow
  const top = margin.top + marks.length * markRow
  const end = Math.max(margin.left + 1, width - margin.right)
  const step = (end - margin.left) / slots.length
  const left = (at: number) => margin.left + at * step
  const gap = step * (slots.length > 120 ? 0 : isAtEdge ? 0.06 : slots.length > 6 ? 0.25 : 0.6)
  const most = Math.max(
    least,
    ...slots.map(({ parts, before }) => Math.max(sum(parts), before ?? 0)),
  )
  const y = scaleLinear([lowest, most], [height - margin.bottom, top]).nice(4)
  const every = Math.max(1, Math.ceil(perLabel / Math.max(1, step)))
  const last = slots.length - 1
  const at = chosen.value === null ? null : Math.min(chosen.value, last)
  const slot = slots[at ?? last]!
  const choose = (place: number) => (chosen.value = Math.max(0, Math.min(last, place)))
  const isLate = (place: number) => left(place) > width / 2
  return (
    <div
      ref={ref}
      class="chart"
      role="slider"
      tabIndex={0}
      aria-label={name}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={[slot.title, ...slot.numbers.map(([of, text]) => `${text} ${of}`)].join(', ')}
      onPointerMove={({ clientX }) =>
        choose(
          Math.floor((clientX - ref.current!.getBoundingClientRect().left - margin.left) / step),
        )
      }
      onPointerLeave={() => (chosen.value = null)}
      onBlur={() => (chosen.value = null)}
      onKeyDown={event => {
        const now = at ?? last
        const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key]
        if (event.altKey || next === undefined) return
        event.preventDefault()
        choose(next)
      }}
    >
      <svg width={width} height={height} aria-hidden="true">
        <pattern
          id={hatch}
          width="5"
          height="5"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect class="hatch" width="2.5" height="5" />
        </pattern>
        {y.ticks(4).map(tick => (
          <g key={tick} class="tick">
            <line x1={margin.left} x2={end} y1={y(tick)} y2={y(tick)} />
            <text x={margin.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
              {formatTick(tick)}
            </text>
          </g>
        ))}
        <Before slots={slots} left={left} y={y} />
        {at !== null && (
          <rect
            class="chosen"
            x={left(at)}
            width={step}
            y={top}
            height={height - top - margin.bottom}
          />
        )}
        {slots.map(({ key, parts, isOpen }, i) => {
          let below = 0
          const place = { x: left(i) + gap / 2, width: Math.max(1, step - gap) }
          return (
            <g key={key} class="slot">
              {(parts ?? []).map((part, at) => {
                const from = below
                below += part
                if (part === 0) return null
                return (
                  <rect
                    key={classes[at]}
                    class={`of-${classes[at]}`}
                    {...place}
                    y={Math.min(y(below), y(from))}
                    height={Math.abs(y(from) - y(below))}
                  />
                )
              })}
              {isOpen && (
                <rect {...place} y={y(below)} height={y(0) - y(below)} fill={`url(#${hatch})`} />
              )}
            </g>
          )
        })}
        <Marks marks={marks} xOf={left} width={width} bottom={height - margin.bottom} />
        {slots.map(({ key, label }, i) => {
          if ((isAtEdge ? i : last - i) % every !== 0) return null
          const middle = isAtEdge ? left(i) : left(i + 0.5)
          const isLast = middle > width - 28
          return (
            <text
              key={key}
              class="tick-label"
              x={isLast ? end : middle}
              y={height - 6}
              text-anchor={isLast ? 'end' : 'middle'}
            >
              {label}
            </text>
          )
        })}
      </svg>
      {at !== null && (
        <Tip
          slot={slot}
          style={
            isLate(at) ? { right: `${width - left(at) + 8}px` } : { left: `${left(at + 1) + 8}px` }
          }
        />
      )}
    </div>
  )
}
