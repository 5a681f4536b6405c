/** Height of a bar, pixels. */
const height = 18

const percent = (part: number, whole: number) => `${whole === 0 ? 0 : (part / whole) * 100}%`

/**
 * Parts of a whole as one bar, from the start on. Below it is the share that it is compared with. The
 * numbers are beside it.
 */
export function PartsBar({
  parts,
  whole,
  before = null,
}: {
  /** The class of a legend, and how much. */
  parts: readonly (readonly [legend: string, amount: number])[]
  whole: number
  before?: number | null
}) {
  let from = 0
  const placed = parts.map(([legend, amount]) => {
    const start = from
    from += amount
    return { legend, start, amount }
  })
  return (
    <svg
      class="parts-bar"
      width="100%"
      height={before === null ? height : height + 6}
      aria-hidden="true"
    >
      <rect class="rail" width="100%" height={height} rx="3" />
      {placed.map(({ legend, start, amount }) => (
        <rect
          key={legend}
          class={`of-${legend}`}
          x={percent(start, whole)}
          width={percent(amount, whole)}
          height={height}
        />
      ))}
      {before !== null && (
        <rect class="of-before" width={percent(before, 1)} height="3" y={height + 3} rx="1.5" />
      )}
    </svg>
  )
}

/** A point and a range around or after it, on a scale from 0 to `whole`. */
export const RangeLine = ({
  point,
  low,
  high,
  whole,
}: {
  point: number
  low: number
  high: number
  whole: number
}) => (
  <svg class="range-line" width="100%" height="12" aria-hidden="true">
    <line class="rail" x1="0" x2="100%" y1="6" y2="6" />
    <line class="reach" x1={percent(low, whole)} x2={percent(high, whole)} y1="6" y2="6" />
    <circle class="point" cx={percent(point, whole)} cy="6" r="4" />
  </svg>
)
