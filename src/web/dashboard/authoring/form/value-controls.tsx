import { Code } from './controls.tsx'
import { Dropdown } from './dropdown.tsx'
import { textOf } from './flow-json.ts'
import type { InputProps } from './table.ts'

/** Values with a form of their own: colours, times, lengths of time. */

/** A colour as CSS writes it, with a palette. */
export const Colour = (props: InputProps) => {
  const { field, value, write } = props
  const isHex = typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)
  return (
    <div class="with-end">
      <Code {...props} />
      <input
        type="color"
        data-unset={value === undefined}
        aria-label={`Choose: ${field.label}`}
        value={isHex ? value : '#808080'}
        onInput={event => write(event.currentTarget.value)}
      />
    </div>
  )
}

const readable = /^(?:\d{4}-\d\d-\d\d)?(?:T\d\d:\d\d)?$/

/** A day and, if it is not the whole of it, a time. */
export function Moment(props: InputProps) {
  const { wiring, field, value, write } = props
  const text = textOf(value)
  if (!readable.test(text)) return <Code {...props} />
  const [day = '', time = ''] = text.split('T')
  const take = (day: string, time: string) =>
    write(day === '' ? undefined : `${day}${time && `T${time}`}`)
  return (
    <div class="day-and-time">
      <input
        {...wiring}
        type="date"
        class="input"
        value={day}
        onInput={event => take(event.currentTarget.value, time)}
      />
      <input
        type="time"
        class="input"
        aria-label={`${field.label}: time, if not the whole day`}
        disabled={day === ''}
        value={time}
        onInput={event => take(day, event.currentTarget.value)}
      />
    </div>
  )
}

const units = [
  ['m', 'minutes'],
  ['h', 'hours'],
  ['d', 'days'],
] as const

/** A length of time, such as seven days. */
export function Span({ wiring, field, value, write }: InputProps) {
  const [, count = '', unit = 'd'] = /^(\d*)([mhd])$/.exec(textOf(value)) ?? []
  const take = (count: string, unit: string) =>
    write(count.trim() === '' ? undefined : count + unit)
  return (
    <div class="day-and-time">
      <input
        {...wiring}
        class="input short"
        inputMode="numeric"
        autocomplete="off"
        value={count || textOf(value).replace(/[mhd]$/, '')}
        onInput={event => take(event.currentTarget.value, unit)}
      />
      <Dropdown
        aria-label={`${field.label}: unit`}
        value={unit}
        options={units}
        onChoose={chosen => take(count, chosen)}
      />
    </div>
  )
}
