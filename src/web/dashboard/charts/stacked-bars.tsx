import { scaleBand, scaleLinear } from 'd3-scale'
import { useId } from 'preact/hooks'
import { formatCompact } from '../words/time.ts'
import { Hatch } from './daily-marks.tsx'
import { useWidth } from './use-width.ts'

const height = 128
const margin = { top: 20, right: 4, bottom: 20, left: 32 }
/** About the room for the label of a bar, in pixels. */
const perLabel = 56

/** A day or an hour. */
export interface Slot {
  key: string
  /** Shown below its bar. */
  label: string
  /** Everything that its bar says, in words. */
  said: string
  /** From bottom to top; null if nothing was measured, and then nothing is drawn. */
  parts: readonly number[] | null
  /** Whether it is not over. */
  isOpen: boolean
  /** The name of what began with it. */
  mark?: string | null
}

const sum = (parts: readonly number[]) => parts.reduce((all, part) => all + part, 0)

/** A small chart of bars in parts. Each number is in the table below, too. */
export function StackedBars({
  slots,
  classes,
  name,
}: {
  slots: readonly Slot[]
  /** One for each part. */
  classes: readonly string[]
  name: string
}) {
  const { ref, width: known } = useWidth()
  const hatch = useId()
  const width = known.value
  const end = Math.max(margin.left + 1, width - margin.right)
  const x = scaleBand(
    slots.map(({ key }) => key),
    [margin.left, end],
  ).paddingInner(0.25)
  const most = Math.max(4, ...slots.map(({ parts }) => sum(parts ?? [])))
  const y = scaleLinear([0, most], [height - margin.bottom, margin.top]).nice(2)
  const every = Math.max(1, Math.ceil((slots.length * perLabel) / Math.max(1, width)))
  const marked = slots.filter(({ mark }) => mark)
  const middle = (key: string) => x(key)! + x.bandwidth() / 2
  return (
    <div ref={ref} class="chart">
      <svg width={width} height={height} role="img" aria-label={name}>
        <defs>
          <Hatch id={hatch} />
        </defs>
        {y.ticks(2).map(tick => (
          <g key={tick} class="tick">
            <line x1={margin.left} x2={end} y1={y(tick)} y2={y(tick)} />
            <text x={margin.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
              {formatCompact(tick)}
            </text>
          </g>
        ))}
        {slots.map(({ key, said, parts, isOpen }) => {
          let below = 0
          if (parts === null) return null
          const all = sum(parts)
          const place = { x: x(key), width: x.bandwidth() }
          return (
            <g key={key} data-slot>
              <title>{said}</title>
              {parts.map((part, i) => {
                const from = below
                below += part
                if (part === 0) return null
                const tall = y(from) - y(below)
                return (
                  <rect key={classes[i]} class={classes[i]} {...place} y={y(below)} height={tall} />
                )
              })}
              {isOpen && (
                <rect {...place} y={y(all)} height={y(0) - y(all)} fill={`url(#${hatch})`} />
              )}
            </g>
          )
        })}
        {marked.map(({ key, mark }, i) => {
          const next = marked[i + 1]
          // If two names would overlap, only the later one is drawn. Both are given in words.
          const isCrowded = next !== undefined && x(next.key)! - x(key)! < perLabel
          const isLate = middle(key) > width / 2
          return (
            <g key={key} class="chart-mark">
              <line x1={x(key)} x2={x(key)} y1={4} y2={height - margin.bottom} />
              {!isCrowded && (
                <text x={x(key)! + (isLate ? -4 : 4)} y={12} text-anchor={isLate ? 'end' : 'start'}>
                  {mark}
                </text>
              )}
            </g>
          )
        })}
        {slots.map(({ key, label }, i) => {
          if ((slots.length - 1 - i) % every !== 0) return null
          const isLast = middle(key) > width - 28
          return (
            <text
              key={key}
              class="tick-label"
              x={isLast ? end : middle(key)}
              y={height - 4}
              text-anchor={isLast ? 'end' : 'middle'}
            >
              {label}
            </text>
          )
        })}
      </svg>
    </div>
  )
}
