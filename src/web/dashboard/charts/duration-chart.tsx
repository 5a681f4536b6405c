import { scaleBand, scaleLinear } from 'd3-scale'
import { durationWords as words } from '../words/durations.ts'
import { formatCompact, formatPercent, formatSeconds } from '../words/time.ts'
import { type ComparedBin, placeOf } from './duration-bins.ts'
import { useWidth } from './use-width.ts'

const height = 200
const margin = { top: 44, right: 12, bottom: 24, left: 36 }
/** About the room for the label of an edge, in pixels. */
const perLabel = 48
/** Room enough for the name of a quantile. */
const textWidth = 130

/** A line at a quantile with its name beside it. Each name has a row and a side of its own. */
function Quantile({
  at,
  row,
  isBefore,
  text,
}: {
  at: number
  row: number
  isBefore: boolean
  text: string
}) {
  return (
    <g class="quantile">
      <line x1={at} x2={at} y1={row * 16 + 4} y2={height - margin.bottom} />
      <text
        x={isBefore ? at - 6 : at + 6}
        y={row * 16 + 14}
        text-anchor={isBefore ? 'end' : 'start'}
      >
        {text}
      </text>
    </g>
  )
}

/** The comparison, behind the bars, as one outline: as high as each bin was, and flat across it. */
function Behind({
  heights,
  left,
  zero,
}: {
  heights: readonly number[]
  left: (bin: number) => number
  zero: number
}) {
  const path = heights.map((high, bin) => `V${high}H${left(bin + 1)}`).join('')
  const outline = `M${left(0)},${zero}${path}V${zero}`
  return (
    <>
      <path class="before-area" d={`${outline}Z`} />
      <path class="before-line" d={outline} />
    </>
  )
}

/** Runs by how long they took, with median and p90. Every number is in the table below, too. */
export function DurationChart({
  bins,
  median,
  p90,
  compared,
  name,
}: {
  bins: readonly ComparedBin[]
  median: number
  p90: number
  /**
   * The number of runs on each side of a comparison. The bars are then shares, because counts out of
   * different totals cannot be compared. Null if there is nothing to compare with.
   */
  compared: { count: number; before: number } | null
  name: string
}) {
  const { ref, width: known } = useWidth()
  const width = known.value
  const end = Math.max(margin.left + 1, width - margin.right)
  const x = scaleBand(
    bins.map(({ fromSeconds }) => fromSeconds),
    [margin.left, end],
  ).paddingInner(0.06)
  const ofThis = ({ count }: ComparedBin) => (compared ? count / compared.count : count)
  const ofOther = ({ before }: ComparedBin) => (compared ? (before ?? 0) / compared.before : 0)
  const most = Math.max(compared ? 0.04 : 4, ...bins.map(ofThis), ...bins.map(ofOther))
  const y = scaleLinear([0, most], [height - margin.bottom, margin.top]).nice(4)
  const left = (bin: number) => margin.left + (bin * (end - margin.left)) / bins.length
  const [medianAt, p90At] = [median, p90].map(time => left(placeOf(time, bins))) as [number, number]
  const every = Math.max(1, Math.ceil((bins.length * perLabel) / Math.max(1, width)))
  return (
    <div ref={ref} class="chart">
      <svg width={width} height={height} role="img" aria-label={name}>
        {y.ticks(4).map(tick => (
          <g key={tick} class="tick">
            <line x1={margin.left} x2={end} y1={y(tick)} y2={y(tick)} />
            <text x={margin.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
              {compared ? formatPercent(tick) : formatCompact(tick)}
            </text>
          </g>
        ))}
        {compared && <Behind heights={bins.map(bin => y(ofOther(bin)))} left={left} zero={y(0)} />}
        {bins.map(bin => (
          <rect
            key={bin.fromSeconds}
            class="of-completions"
            x={x(bin.fromSeconds)}
            width={x.bandwidth()}
            y={y(ofThis(bin))}
            height={y(0) - y(ofThis(bin))}
          />
        ))}
        {bins.map(
          ({ fromSeconds }, bin) =>
            bin % every === 0 && (
              <text
                key={fromSeconds}
                class="tick-label"
                x={left(bin)}
                y={height - 6}
                text-anchor="middle"
              >
                {formatSeconds(fromSeconds)}
              </text>
            ),
        )}
        <Quantile
          at={medianAt}
          row={0}
          isBefore={medianAt > textWidth}
          text={words.median(formatSeconds(median))}
        />
        <Quantile
          at={p90At}
          row={1}
          isBefore={p90At > width - textWidth}
          text={words.p90(formatSeconds(p90))}
        />
      </svg>
    </div>
  )
}
