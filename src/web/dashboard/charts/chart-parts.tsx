/** A day, an hour, or a range of durations. */
export interface Slot {
  key: string
  /** Shown below its bar. */
  label: string
  title: string
  /** From bottom to top, as many as the chart has classes; null if nothing was measured. */
  parts: readonly number[] | null
  /** What it is compared with, drawn behind; null or absent if there is nothing, and then in no later slot. */
  before?: number | null
  /** Whether it is not over. */
  isOpen?: boolean
  /** Its numbers, shown and read aloud when it is chosen: names, texts, and the class of a legend. */
  numbers: readonly (readonly [name: string, text: string, legend?: string])[]
}

/** What stood there before, as one outline: as high as each slot was, and flat across it. */
export function Before({
  slots,
  left,
  y,
}: {
  slots: readonly Slot[]
  left: (at: number) => number
  y: (count: number) => number
}) {
  const known = slots.flatMap(({ before }) => (before == null ? [] : [before]))
  if (known.length === 0) return null
  const path = known.map((before, i) => `V${y(before)}H${left(i + 1)}`).join('')
  const outline = `M${left(0)},${y(0)}${path}V${y(0)}`
  return (
    <>
      <path class="before-area" d={`${outline}Z`} />
      <path class="before-line" d={outline} />
    </>
  )
}

/** The height of a mark's name above the bars; each has its own row. */
export const markRow = 16
/** The mean width of a character of such a name. */
const perCharacter = 6.5

/** Something with a name at a place: 2.5 is the middle of the third slot. */
export interface Mark {
  at: number
  name: string
}

/**
 * Lines with their names above the bars. All names are on the same side if there is room, and in such an
 * order that no line runs through a name.
 */
export function Marks({
  marks,
  xOf,
  width,
  bottom,
}: {
  marks: readonly Mark[]
  xOf: (at: number) => number
  width: number
  bottom: number
}) {
  const inOrder = marks.toSorted((a, b) => a.at - b.at)
  const room = ({ name }: Mark) => name.length * perCharacter + 6
  const fitsAfter = (mark: Mark) => xOf(mark.at) + room(mark) < width
  const isAfter = inOrder.every(fitsAfter)
  const isBefore = !isAfter && inOrder.every(mark => xOf(mark.at) > room(mark))
  const rows = isBefore ? inOrder.toReversed() : inOrder
  return rows.map((mark, row) => {
    const x = xOf(mark.at)
    const isStart = isAfter || (!isBefore && fitsAfter(mark))
    return (
      <g key={`${mark.at} ${mark.name}`} class="chart-mark">
        <line x1={x} x2={x} y1={4 + row * markRow} y2={bottom} />
        <text
          x={x + (isStart ? 6 : -6)}
          y={14 + row * markRow}
          text-anchor={isStart ? 'start' : 'end'}
        >
          {mark.name}
        </text>
      </g>
    )
  })
}

export const Tip = ({ slot, style }: { slot: Slot; style: Record<string, string> }) => (
  <div class="chart-tip" style={style}>
    <strong>{slot.title}</strong>
    <table>
      <tbody>
        {slot.numbers.map(([name, text, legend]) => (
          <tr key={name}>
            <td class={legend && `key-${legend}`}>{name}</td>
            <td>{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
