import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { DateField } from '../../parts/date-field.tsx'
import { Field } from '../../parts/field.tsx'
import { NumberField } from '../../parts/number-field.tsx'
import { LanguageField, ZoneField } from '../../parts/pickers.tsx'
import { Select } from '../../parts/select.tsx'
import { TextArea, TextField } from '../../parts/text-field.tsx'
import { behindNull, defaultOf, schemaAt, textOf } from './flow-json.ts'
import type { ControlProps } from './table.ts'

/** Controls for the values of a flow. Each is given its row of the table, and the frame made of it. */

const placeholderOf = ({ field: { placeholder }, part, flow }: ControlProps) =>
  typeof placeholder === 'function' ? placeholder(part, flow) : placeholder

export const Text = ({ isCode = false, ...props }: ControlProps & { isCode?: boolean }) => (
  <TextField
    {...props.frame}
    isCode={isCode}
    placeholder={placeholderOf(props)}
    value={textOf(props.value)}
    onChange={props.write}
  />
)

export const Code = (props: ControlProps) => <Text {...props} isCode />

export const Long = ({ frame, value, write }: ControlProps) => (
  <TextArea {...frame} rows={4} value={textOf(value)} onChange={write} />
)

/** What is no number is kept as a text, which no rule accepts. */
const ownOf = (value: number) => (Number.isNaN(value) ? 'not a number' : value)

/** A number, in another unit than the flow's if it is `times` as much there, or counted from another. */
const number =
  (times = 1, more = 0): ComponentType<ControlProps> =>
  ({ frame, field, path, value, write }) => {
    const { minimum = 0, maximum } = behindNull(schemaAt(path) ?? ({} as never))
    const byDefault = defaultOf(path)
    return (
      <NumberField
        {...frame}
        {...(field.unit && { unit: field.unit })}
        per={times}
        isFraction={times > 1}
        min={minimum / times + more}
        {...(maximum !== undefined && { max: maximum / times + more })}
        placeholder={
          typeof field.placeholder === 'string'
            ? field.placeholder
            : typeof byDefault === 'number'
              ? `${byDefault / times}`
              : ''
        }
        value={typeof value === 'number' ? value + more : value === undefined ? null : Number.NaN}
        onChange={next => write(next === null ? undefined : ownOf(next - more))}
      />
    )
  }

const secondMs = 1_000
export const Whole = number()
export const Seconds = number(secondMs)
/** People count from one. */
export const Place = number(1, 1)

/** Entries of plain text, one per line, as typed for as long as somebody types. */
export function Lines({ frame, value, write }: ControlProps) {
  const typed = useSignal<string | null>(null)
  return (
    <div onFocusOut={() => (typed.value = null)}>
      <TextArea
        {...frame}
        isCode
        rows={2}
        value={typed.value ?? (Array.isArray(value) ? value.join('\n') : textOf(value))}
        onChange={text => {
          typed.value = text
          const lines = text.split('\n').filter(line => line.trim() !== '')
          write(lines.length > 0 ? lines : undefined)
        }}
      />
    </div>
  )
}

/** A colour as CSS writes it, with a palette. */
export const Colour = ({ frame, value, write }: ControlProps) => (
  <Field {...frame}>
    {wiring => (
      <div class="with-end">
        <input
          {...wiring}
          class="input code-input"
          dir="ltr"
          autocomplete="off"
          spellcheck={false}
          value={textOf(value)}
          onInput={event => write(event.currentTarget.value)}
        />
        <input
          type="color"
          data-unset={value === undefined}
          aria-label={`Choose: ${frame.label}`}
          value={/^#[0-9a-f]{6}$/i.test(textOf(value)) ? textOf(value) : '#808080'}
          onInput={event => write(event.currentTarget.value)}
        />
      </div>
    )}
  </Field>
)

const readable = /^(?:\d{4}-\d\d-\d\d)?(?:T\d\d:\d\d)?$/

export const Moment = (props: ControlProps) =>
  readable.test(textOf(props.value)) ? (
    <DateField
      {...props.frame}
      hasTime
      value={textOf(props.value)}
      onChange={next => props.write(next || undefined)}
    />
  ) : (
    <Code {...props} />
  )

const units = { m: 'minutes', h: 'hours', d: 'days' } as const

/** A length of time, such as seven days. */
export function Span({ frame, value, write }: ControlProps) {
  const [, count = '', unit = 'd'] = /^(.*?)([mhd])?$/.exec(textOf(value)) ?? []
  const take = (count: string, unit: string) => write(count === '' ? undefined : count + unit)
  return (
    <div class="grid fields">
      <TextField
        {...frame}
        value={count}
        placeholder="7"
        onChange={text => take(text.trim(), unit)}
      />
      <Select
        label="Unit"
        value={unit}
        options={Object.entries(units)}
        onChange={chosen => take(count, chosen)}
      />
    </div>
  )
}

export const Zone = ({ frame, value, write }: ControlProps) => (
  <ZoneField {...frame} value={textOf(value) || 'UTC'} onChange={write} />
)

export const Language = ({ frame, value, write }: ControlProps) => (
  <LanguageField
    {...frame}
    value={textOf(value)}
    none="Not set"
    onChange={tag => write(tag || undefined)}
  />
)
