import { whenWords as words } from '../../words/when.ts'
import { FieldFrame } from './field-frame.tsx'
import { useFormField } from './form-context.ts'
import { type FieldProps, TextField, textOf } from './form-fields.tsx'

const readable = /^(?:\d{4}-\d\d-\d\d)?(?:T\d\d:\d\d)?$/

/** A day and, if it is not the whole of it, a time. Anything else in the file is shown as its text. */
export function TimeField({ path, label, hint }: FieldProps) {
  const { value, problems, write } = useFormField(path)
  const text = textOf(value)
  if (!readable.test(text)) return <TextField path={path} label={label} isCode />
  const [day = '', time = ''] = text.split('T')
  const take = (day: string, time: string) =>
    write(day === '' ? undefined : `${day}${time && `T${time}`}`)
  return (
    <FieldFrame label={label} hint={hint} problems={problems}>
      {wiring => (
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
            aria-label={words.timeOf(label)}
            disabled={day === ''}
            value={time}
            onInput={event => take(day, event.currentTarget.value)}
          />
        </div>
      )}
    </FieldFrame>
  )
}
