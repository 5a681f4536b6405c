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
