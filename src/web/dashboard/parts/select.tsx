import { Field, type FieldProps } from './field.tsx'

/** One of several things, chosen from a list. A value that is none of them is shown as it is. */
export function Select<Value extends string>({
  value,
  options,
  none,
  onChange,
  isDisabled = false,
  ...frame
}: FieldProps & {
  value: string
  options: readonly (readonly [value: Value, name: string])[]
  /** The name for choosing none, if that is possible too; its value is empty. */
  none?: string | undefined
  isDisabled?: boolean
  onChange: (value: Value) => void
}) {
  const isKnown = options.some(([one]) => one === value) || (value === '' && none !== undefined)
  return (
    <Field {...frame}>
      {wiring => (
        <select
          {...wiring}
          class="input select"
          disabled={isDisabled}
          value={value}
          onChange={event => onChange(event.currentTarget.value as Value)}
        >
          {none !== undefined && <option value="">{none}</option>}
          {!isKnown && <option value={value}>{value}</option>}
          {options.map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
