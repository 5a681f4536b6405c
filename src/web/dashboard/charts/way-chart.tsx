/** One stop of the ways: the start, a step, or an end. */
export interface Stop {
  id: string
  name: string
  /** Which of the outcome colours it has. */
  looks: 'start' | 'step' | 'completions' | 'dismissals' | 'inProgress'
  /** The number of runs that came here. */
  runs: string
  /** The number of runs that went past it; null if none did. */
  past: string | null
}

/** Runs from one stop to another. The stops are given by their places. */
export interface Leg {
  from: number
  to: number
  runs: number
  isEnd: boolean
}

const rowHeight = 40
const centre = 96
const width = 232
const thickest = 16
/** How far an arc swings out, depending on the number of stops that it spans. */
const swing = (span: number) => Math.min(120, 22 + span * 18)

const yOf = (place: number) => (place + 0.5) * rowHeight

/** A straight line to the next stop; otherwise an arc, forwards on one side and back on the other. */
function pathOf({ from, to }: Leg): string {
  const [begin, end] = [yOf(from), yOf(to)]
  if (to === from + 1) return `M ${centre} ${begin} V ${end}`
  const out = centre + (to > from ? swing(to - from) : -swing(from - to) * 0.7)
  return `M ${centre} ${begin} C ${out} ${begin}, ${out} ${end}, ${centre} ${end}`
}

/**
 * The stops from top to bottom, with the ways of runs between them: the more runs, the broader. A table
 * says the same.
 */
export function WayChart({ stops, legs }: { stops: readonly Stop[]; legs: readonly Leg[] }) {
  const most = Math.max(1, ...legs.map(({ runs }) => runs))
  // The broad ones are drawn first, so that they hide no others.
  const inOrder = legs.toSorted((a, b) => b.runs - a.runs)
  return (
    <div class="way-chart" aria-hidden="true">
      <svg width={width} height={stops.length * rowHeight} aria-hidden="true">
        {inOrder.map(leg => (
          <path
            key={`${leg.from} ${leg.to}`}
            class={`way ${leg.isEnd ? `to-${stops[leg.to]!.looks}` : leg.to > leg.from ? '' : 'back'}`}
            d={pathOf(leg)}
            stroke-width={Math.max(1.5, (leg.runs / most) * thickest)}
          />
        ))}
        {stops.map(({ id, looks }, place) => (
          <circle key={id} class={`stop of-${looks}`} cx={centre} cy={yOf(place)} r="6" />
        ))}
      </svg>
      <ol>
        {stops.map(({ id, name, runs, past }) => (
          <li key={id} class="line between gap-4">
            <span class="ellipsis">{name}</span>
            <span class="number">
              {runs}
              {past !== null && <small>{past}</small>}
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
