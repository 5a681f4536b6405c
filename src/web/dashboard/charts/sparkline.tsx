import { formatCount, formatShortDay } from '../parts/format.ts'

interface Day {
  date: string
  starts: number
  complete: boolean
}

const width = 88
const height = 24

/** One bar per day; a day that is not over is hatched. The name says what it shows, too. */
export function Sparkline({ days, name }: { days: readonly Day[]; name: string }) {
  const most = Math.max(1, ...days.map(({ starts }) => starts))
  const step = width / days.length
  const gap = Math.min(2, step * 0.3)
  const described = days.map(
    ({ date, starts }) => `${formatShortDay(date)}: ${formatCount(starts)}`,
  )
  return (
    <svg
      class="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${name}: ${described.join(', ')}`}
    >
      {days.map(({ date, starts, complete }, i) => {
        const tall = starts === 0 ? 1 : Math.max(2, (starts / most) * height)
        return (
          <rect
            key={date}
            class={complete ? 'bar' : 'bar open'}
            x={i * step + gap / 2}
            y={height - tall}
            width={step - gap}
            height={tall}
            rx={1}
          />
        )
      })}
    </svg>
  )
}
