import { useSignal } from '@preact/signals'
import { Field, type FieldProps, frameOf } from './field.tsx'
import { formatCount, numberIn } from './format.ts'

/**
 * A number with its unit.
 *
 * @param props.value null if there is none
 * @param props.onChange gets null if the field is empty, and NaN if its text is no number within the
 *   bounds, which the field then says itself
 * @param props.per how many of the unit of `value` are in one of the unit that is shown: 1000 if
 *   milliseconds are shown as seconds
 */
export function NumberField(
  props: FieldProps & {
    value: number | null
    onChange: (value: number | null) => void
    /** Shown after the number: seconds, days, %. */
    unit?: string
    /** Bounds in the shown unit. */
    min?: number
    max?: number
    /** Whether parts of one are possible. */
    isFraction?: boolean
    per?: number
    placeholder?: string
    isDisabled?: boolean
  },
) {
  const { frame, rest } = frameOf(props)
  const { value, onChange, unit, min = 0, max = 1e9, per = 1, placeholder } = rest
  const isWhole = !rest.isFraction
  const typed = useSignal<{ text: string; value: number | null } | null>(null)
  const shown = value === null || Number.isNaN(value) ? '' : `${value / per}`
  // What was typed stays as it was typed for as long as the value is what it means.
  const own = typed.value
  const text = own && Object.is(own.value, value) ? own.text : shown
  const number = numberIn(text, min, max, isWhole)
  const wrong = Number.isNaN(number)
    ? `Enter a number from ${formatCount(min)} to ${formatCount(max)}.`
    : undefined
  return (
    <Field {...frame} problem={wrong ?? frame.problem}>
      {wiring => (
        <span class="line">
          <input
            {...wiring}
            class="input short"
            inputMode={isWhole ? 'numeric' : 'decimal'}
            autocomplete="off"
            disabled={rest.isDisabled}
            placeholder={placeholder}
            value={text}
            onInput={event => {
              const { value: text } = event.currentTarget
              const number = numberIn(text, min, max, isWhole)
              const next = number === null ? null : number * per
              typed.value = { text, value: next }
              onChange(next)
            }}
          />
          {unit && <span class="soft">{unit}</span>}
        </span>
      )}
    </Field>
  )
}
