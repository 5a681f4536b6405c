import type { Signal } from '@preact/signals'
import type { ComponentChildren, InputHTMLAttributes, JSX } from 'preact'
import { useId } from 'preact/hooks'

/** An input with its label, a hint about its purpose, and what is wrong with it. */
export function Field({
  label,
  hint,
  problem,
  children,
}: {
  label: string
  hint?: ComponentChildren
  problem?: string | undefined
  children: (wiring: {
    id: string
    'aria-describedby': string
    'aria-invalid': boolean
  }) => JSX.Element
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-hint ${id}-problem`, 'aria-invalid': !!problem })}
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
      <p id={`${id}-problem`} class="problem" role="alert">
        {problem}
      </p>
    </div>
  )
}

/** A field for a line of text. */
export const InputField = ({
  label,
  hint,
  problem,
  of,
  ...input
}: {
  label: string
  hint?: ComponentChildren
  problem?: string | undefined
  of: Signal<string>
} & InputHTMLAttributes<HTMLInputElement>) => (
  <Field label={label} hint={hint} problem={problem}>
    {wiring => (
      <input
        class="input"
        {...wiring}
        {...input}
        value={of.value}
        onInput={event => (of.value = event.currentTarget.value)}
      />
    )}
  </Field>
)

/** A few things to choose one from. */
export function Segments<Value extends string>({
  legend,
  options,
  value,
  onChoose,
}: {
  legend: string
  options: readonly (readonly [Value, string])[]
  value: Value
  onChoose: (value: Value) => void
}) {
  const name = useId()
  return (
    <fieldset class="segments">
      <legend class="unseen">{legend}</legend>
      {options.map(([option, label]) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            class="unseen"
            checked={option === value}
            onChange={() => onChoose(option)}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
}
