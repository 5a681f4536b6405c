import { Field, type FieldProps, frameOf, type Wiring } from './field.tsx'

interface TextInput {
  value: string
  onChange: (text: string) => void
  /** Whether machines read it, such as a selector or the name of an event. */
  isCode?: boolean
  maxLength?: number
  placeholder?: string | undefined
  lang?: string
  dir?: 'ltr' | 'rtl' | 'auto'
  isDisabled?: boolean
  isRequired?: boolean
}

/** What both kinds of text input have in common. */
const attributesOf = (
  { value, onChange, isCode, isDisabled, isRequired, ...more }: TextInput,
  wiring: Wiring,
) => ({
  dir: isCode ? ('ltr' as const) : ('auto' as const),
  spellcheck: !isCode,
  ...more,
  ...wiring,
  disabled: isDisabled,
  required: isRequired,
  value,
  onInput: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
})

/** A line of text. */
export function TextField({
  type = 'text',
  inputMode,
  autocomplete = 'off',
  ...props
}: FieldProps &
  TextInput & {
    type?: 'text' | 'url' | 'email' | 'password' | 'search'
    inputMode?: 'text' | 'url' | 'email'
    autocomplete?: string
  }) {
  const { frame, rest } = frameOf(props)
  return (
    <Field {...frame}>
      {wiring => (
        <input
          type={type as 'text'}
          inputMode={inputMode}
          autocomplete={autocomplete}
          {...attributesOf(rest, wiring)}
          class={rest.isCode ? 'input code-input' : 'input'}
        />
      )}
    </Field>
  )
}

/** Text of several lines, which grows with them. */
export function TextArea({ rows = 3, ...props }: FieldProps & TextInput & { rows?: number }) {
  const { frame, rest } = frameOf(props)
  return (
    <Field {...frame}>
      {wiring => (
        <textarea
          rows={rows}
          {...attributesOf(rest, wiring)}
          class={rest.isCode ? 'input code-input' : 'input prose-input'}
        />
      )}
    </Field>
  )
}
