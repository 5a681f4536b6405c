import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { Path } from '../../../../core/flow/edit/source.ts'
import type { Plain } from '../../../../core/flow/minimal.ts'
import { FieldFrame, KeptValue } from './field-frame.tsx'
import { defaultOf, hintOf } from './fields.ts'
import { useFormField } from './form-context.ts'
import { useDraft } from './use-draft.ts'

/** The kinds of fields in the form. Each has a path in the file, and a name. */

export interface FieldProps {
  path: Path
  label: string
  /** Shown in place of the schema's description. */
  hint?: ComponentChildren
  placeholder?: string
  /** Whether machines read it, such as a selector, a pattern or the name of an event. */
  isCode?: boolean
}

export const isPlain = (value: Plain | undefined) => typeof value !== 'object' || value === null

export const textOf = (value: Plain | undefined) =>
  value === undefined || value === null ? '' : String(value)

/** A line of text. */
export function TextField({
  path,
  label,
  hint,
  placeholder,
  isCode,
  hintPath = path,
  isEmptyNothing = false,
  beside,
  suggestions,
  onText,
}: FieldProps & {
  hintPath?: Path
  /** Whether an empty text removes even a required field, because everything around it is removed as well. */
  isEmptyNothing?: boolean
  /** What is drawn over the end of the input. */
  beside?: ComponentChildren
  suggestions?: readonly string[]
  onText?: (text: string) => void
}) {
  const { value, problems, write } = useFormField(path)
  const list = useId()
  const take = (text: string) => {
    if (write(text === '' && isEmptyNothing ? undefined : text)) onText?.(text)
  }
  if (!isPlain(value)) return <KeptValue label={label} value={value!} />
  return (
    <FieldFrame label={label} hint={hint ?? hintOf(hintPath)} problems={problems}>
      {wiring => (
        <div class="with-end">
          <input
            {...wiring}
            class={`input ${isCode ? 'code-input' : ''}`}
            autocomplete="off"
            spellcheck={!isCode}
            dir={isCode ? 'ltr' : 'auto'}
            placeholder={placeholder}
            list={suggestions && list}
            value={textOf(value)}
            onInput={event => take(event.currentTarget.value)}
          />
          {beside}
          {suggestions && (
            <datalist id={list}>
              {suggestions.map(one => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </div>
      )}
    </FieldFrame>
  )
}

/** Text of several lines. */
export function LongField({ path, label, hint, rows = 4 }: FieldProps & { rows?: number }) {
  const { value, problems, write } = useFormField(path)
  if (!isPlain(value)) return <KeptValue label={label} value={value!} />
  return (
    <FieldFrame label={label} hint={hint ?? hintOf(path)} problems={problems}>
      {wiring => (
        <textarea
          {...wiring}
          class="input prose-input"
          dir="auto"
          rows={rows}
          value={textOf(value)}
          onInput={event => write(event.currentTarget.value)}
        />
      )}
    </FieldFrame>
  )
}

/** A number. Anything else is written as it is, and the rules say what is wrong. */
export function NumberField({ path, label, hint }: FieldProps) {
  const { value, problems, write } = useFormField(path)
  const read = (text: string): Plain | undefined => {
    if (text.trim() === '') return undefined
    return /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : text
  }
  const byDefault = defaultOf(path)
  const [text, take] = useDraft<Plain | undefined>(value ?? undefined, textOf, read)
  if (!isPlain(value)) return <KeptValue label={label} value={value!} />
  return (
    <FieldFrame label={label} hint={hint ?? hintOf(path)} problems={problems}>
      {wiring => (
        <input
          {...wiring}
          class="input short"
          inputMode="numeric"
          autocomplete="off"
          placeholder={textOf(byDefault)}
          value={text}
          onInput={event => write(take(event.currentTarget.value))}
        />
      )}
    </FieldFrame>
  )
}

/** Entries of plain text, one per line. */
export function LinesField({ path, label, hint }: FieldProps) {
  const { value, problems, write } = useFormField(path)
  const read = (text: string): Plain | undefined => {
    const lines = text.split('\n').filter(line => line.trim() !== '')
    return lines.length > 0 ? lines : undefined
  }
  const format = (lines: Plain | undefined) => (Array.isArray(lines) ? lines.join('\n') : '')
  const [text, take] = useDraft<Plain | undefined>(value, format, read)
  const isShown = value === undefined || (Array.isArray(value) && value.every(isPlain))
  if (!isShown) return <KeptValue label={label} value={value} />
  return (
    <FieldFrame label={label} hint={hint ?? hintOf(path)} problems={problems}>
      {wiring => (
        <textarea
          {...wiring}
          class="input code-input"
          dir="ltr"
          rows={2}
          spellcheck={false}
          value={text}
          onInput={event => write(take(event.currentTarget.value))}
        />
      )}
    </FieldFrame>
  )
}
