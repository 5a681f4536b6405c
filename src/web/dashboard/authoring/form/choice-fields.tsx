import { useId } from 'preact/hooks'
import { GroupFrame, KeptValue, Problems, SelectField } from './field-frame.tsx'
import { defaultOf, hintOf, optionsOf } from './fields.ts'
import { useFormField } from './form-context.ts'
import { type FieldProps, isPlain, textOf } from './form-fields.tsx'

/** Fields with a few things to choose from. */

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** A field for yes or no. */
export function CheckField({ path, label }: FieldProps) {
  const id = useId()
  const { value, problems, write } = useFormField(path)
  // A field without a default counts as false if the file does not set it.
  const checked = value ?? defaultOf(path) ?? false
  if (typeof checked !== 'boolean') return <KeptValue label={label} value={value!} />
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          aria-describedby={`${id}-problems`}
          checked={checked}
          onChange={event => write(event.currentTarget.checked)}
        />
        <span>
          {label}
          <small>{hintOf(path)}</small>
        </span>
      </label>
      <Problems of={problems} id={`${id}-problems`} />
    </div>
  )
}

/** One of a few words: in a list, or side by side if there is room for what each means. */
export function ChoiceField({
  path,
  label,
  names,
  chosen,
  looks = 'list',
  hint,
  unsaid,
  onChoose,
}: FieldProps & {
  names: Readonly<Record<string, string>>
  /** The word shown if the file says nothing and there is no plain default. */
  chosen?: string
  looks?: 'list' | 'cards'
  /** The name for choosing none, if that is possible too. */
  unsaid?: string
  onChoose?: (word: string) => void
}) {
  const name = useId()
  const { value, problems, write } = useFormField(path)
  const said = textOf(value ?? chosen ?? defaultOf(path))
  const options = optionsOf(path)
  const choose = onChoose ?? write
  if (!isPlain(value)) return <KeptValue label={label} value={value!} />
  if (looks === 'cards') {
    return (
      <GroupFrame label={label} hint={hint} problems={problems}>
        <div class="option-cards">
          {options.map(([word, means]) => (
            <label key={word} class="option-card">
              <input
                type="radio"
                name={name}
                checked={word === said}
                onChange={() => choose(word)}
              />
              <span>
                {names[word] ?? word}
                <small>{sentence(means)}</small>
              </span>
            </label>
          ))}
        </div>
      </GroupFrame>
    )
  }
  const means = sentence(options.find(([word]) => word === said)?.[1] ?? '')
  return (
    <SelectField
      label={label}
      hint={hint ?? (means || hintOf(path))}
      problems={problems}
      value={said}
      options={options.map(([word]) => [word, names[word] ?? word])}
      none={unsaid ?? (said === '' ? '' : undefined)}
      onChoose={choose}
    />
  )
}
