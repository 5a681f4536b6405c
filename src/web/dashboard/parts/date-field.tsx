import { Field, type FieldProps, frameOf } from './field.tsx'

/**
 * A calendar day and, if wanted, a time on it.
 *
 * @param props.value `2026-11-23`, with a time `2026-11-23T14:30`; empty if there is none
 */
export function DateField(
  props: FieldProps & {
    value: string
    onChange: (value: string) => void
    /** Whether a time may be added to the day. */
    hasTime?: boolean
    min?: string
    max?: string
    isRequired?: boolean
    isDisabled?: boolean
  },
) {
  const { frame, rest } = frameOf(props)
  const { value, onChange, hasTime, isDisabled, isRequired, min, max } = rest
  const [day = '', time = ''] = value.split('T')
  const change = (day: string, time: string) => onChange(day && `${day}${time && `T${time}`}`)
  return (
    <Field {...frame}>
      {wiring => (
        <span class="row gap-1">
          <input
            {...wiring}
            type="date"
            class="input day"
            required={isRequired}
            disabled={isDisabled}
            min={min}
            max={max}
            value={day}
            onInput={event => change(event.currentTarget.value, time)}
          />
          {hasTime && (
            <input
              type="time"
              class="input day"
              aria-label={`${frame.label}: time`}
              disabled={isDisabled || day === ''}
              value={time}
              onInput={event => change(day, event.currentTarget.value)}
            />
          )}
        </span>
      )}
    </Field>
  )
}
