import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { MarkButtons, markByKey, markIn } from './mark-buttons.tsx'

/** Fields for the values of a step. What is being typed stays as typed, whatever is saved meanwhile. */

let count = 0

/** Preact's own ids begin anew each time the whole is rendered. */
const useOwnId = () => useState(() => `field-${++count}`)[0]

interface TextProps {
  label: string
  value: string
  max: number
  hint?: string
  placeholder?: string
  /** Whether an empty text is no value. Then it is not proposed. */
  isNeeded?: boolean
  onType(text: string): void
}

/** The text as typed for as long as somebody types. */
function useTyped({ value, isNeeded, onType }: TextProps) {
  const [typed, set] = useState<string | null>(null)
  const write = (text: string) => {
    set(text)
    if (text.trim() !== '' || !isNeeded) onType(text)
  }
  return { text: typed ?? value, write, leave: () => set(null) }
}

export function TextField(props: TextProps) {
  const id = useOwnId()
  const { text, write, leave } = useTyped(props)
  const { label, max, hint, placeholder } = props
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        dir="auto"
        maxLength={max}
        placeholder={placeholder}
        autocomplete="off"
        value={text}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onBlur={leave}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

export function Select<Value extends string>({
  label,
  value,
  options,
  only,
  onChange,
}: {
  label: string
  value: Value
  options: Readonly<Record<Value, string>>
  /** Those that are offered; all, if absent. */
  only?: readonly Value[] | undefined
  onChange(value: Value): void
}) {
  const id = useOwnId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
      >
        {Object.entries<string>(options)
          .filter(([word]) => only?.includes(word as Value) ?? true)
          .map(([word, name]) => (
            <option key={word} value={word}>
              {name}
            </option>
          ))}
      </select>
    </div>
  )
}

export const Group = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <fieldset>
    <legend>{title}</legend>
    {children}
  </fieldset>
)

/** A text in Markdown, with buttons that mark the chosen words. */
export function MarkdownField(props: TextProps) {
  const id = useOwnId()
  const area = useRef<HTMLTextAreaElement>(null)
  const { text, write, leave } = useTyped(props)
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <MarkButtons apply={mark => markIn(area.current!, mark, write)} />
      <textarea
        ref={area}
        id={id}
        dir="auto"
        rows={4}
        maxLength={props.max}
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onBlur={leave}
        onKeyDown={event => markByKey(event, write)}
      />
    </div>
  )
}
