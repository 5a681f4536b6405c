import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Field, type FieldProps } from './field.tsx'

/** A few words to choose one from, side by side. */
export function Segments<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  /** Only read aloud. */
  label: string
  options: readonly (readonly [value: Value, name: string])[]
  value: Value
  onChange: (value: Value) => void
}) {
  const name = useId()
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            class="unseen"
            checked={option === value}
            onChange={() => onChange(option)}
          />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** One of a few things, each with what it means: as a list, or as cards side by side. */
export function Choice<Value extends string>({
  options,
  value,
  onChange,
  look = 'list',
  isDisabled = false,
  ...frame
}: FieldProps & {
  options: readonly (readonly [value: Value, name: string, means?: ComponentChildren])[]
  value: string
  onChange: (value: Value) => void
  look?: 'list' | 'cards'
  isDisabled?: boolean
}) {
  const name = useId()
  return (
    <Field {...frame} isGroup>
      {() => (
        <div class={look === 'cards' ? 'grid gap-2 option-cards' : 'stack gap-2'}>
          {options.map(([option, text, means]) => (
            <label key={option} class={look === 'cards' ? 'check option-card' : 'check'}>
              <input
                type="radio"
                name={name}
                disabled={isDisabled}
                checked={option === value}
                onChange={() => onChange(option)}
              />
              <span>
                {text}
                {means && <small>{means}</small>}
              </span>
            </label>
          ))}
        </div>
      )}
    </Field>
  )
}

interface YesOrNo {
  label: ComponentChildren
  /** What it means, below the label. */
  note?: ComponentChildren
  checked: boolean
  onChange: (checked: boolean) => void
  isDisabled?: boolean
}

const YesOrNoField = ({
  label,
  note,
  checked,
  onChange,
  isDisabled = false,
  role,
}: YesOrNo & { role?: 'switch' }) => (
  <label class="check">
    <input
      type="checkbox"
      role={role}
      class={role}
      disabled={isDisabled}
      checked={checked}
      onChange={event => onChange(event.currentTarget.checked)}
    />
    <span>
      {label}
      {note && <small>{note}</small>}
    </span>
  </label>
)

/** One thing to choose or not, among others or with a form that is sent. */
export const Check = (props: YesOrNo) => <YesOrNoField {...props} />

/** Something that is on or off from the moment it is pressed. */
export const Switch = (props: YesOrNo) => <YesOrNoField {...props} role="switch" />
