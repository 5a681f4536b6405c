import { useSignal } from '@preact/signals'
import type { Plain } from '../../../../core/flow/plain.ts'
import { Dropdown } from './dropdown.tsx'
import { defaultOf, optionsOf, textOf } from './flow-json.ts'
import type { ControlProps, InputProps } from './table.ts'

const placeholderOf = ({ field: { placeholder }, part, flow }: ControlProps) =>
  typeof placeholder === 'function' ? placeholder(part, flow) : placeholder

export const Text = ({ isCode = false, ...props }: InputProps & { isCode?: boolean }) => (
  <input
    {...props.wiring}
    class={`input ${isCode ? 'code-input' : ''}`}
    autocomplete="off"
    spellcheck={!isCode}
    dir={isCode ? 'ltr' : 'auto'}
    placeholder={placeholderOf(props)}
    value={textOf(props.value)}
    onInput={event => props.write(event.currentTarget.value)}
  />
)

export const Code = (props: InputProps) => <Text {...props} isCode />

export const Long = ({ wiring, value, write }: InputProps) => (
  <textarea
    {...wiring}
    class="input prose-input"
    dir="auto"
    rows={4}
    value={textOf(value)}
    onInput={event => write(event.currentTarget.value)}
  />
)

/**
 * Shows what is typed for as long as somebody types, because it could also be written in another way.
 * @returns what an input needs
 */
function useTyped(shown: string, take: (text: string) => void) {
  const typed = useSignal<string | null>(null)
  return {
    value: typed.value ?? shown,
    onInput: (event: { currentTarget: { value: string } }) => {
      typed.value = event.currentTarget.value
      take(event.currentTarget.value)
    },
    onBlur: () => {
      typed.value = null
    },
  }
}

/** A number that the flow has in another unit. Anything else is kept, and the rules say what is wrong. */
export const number =
  (times = 1, less = 0) =>
  ({ wiring, path, value, write, field }: InputProps) => {
    const shown = (one: Plain | undefined) =>
      typeof one === 'number' ? String((one + less) / times) : textOf(one)
    const typed = useTyped(shown(value), text => {
      if (text.trim() === '') return write(undefined)
      const isNumber = /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(text)
      write(isNumber ? Math.round(Number(text) * times * 1e6) / 1e6 - less : text)
    })
    const byDefault = shown(defaultOf(path))
    return (
      <input
        {...wiring}
        {...typed}
        class="input short"
        inputMode="decimal"
        autocomplete="off"
        placeholder={typeof field.placeholder === 'string' ? field.placeholder : byDefault}
      />
    )
  }

export function Lines({ wiring, value, write }: InputProps) {
  const typed = useTyped(Array.isArray(value) ? value.join('\n') : textOf(value), text => {
    const lines = text.split('\n').filter(line => line.trim() !== '')
    write(lines.length > 0 ? lines : undefined)
  })
  return (
    <textarea
      {...wiring}
      {...typed}
      class="input code-input"
      dir="ltr"
      rows={2}
      spellcheck={false}
    />
  )
}

export function Choice({ wiring, field, path, value, write, part, flow }: InputProps) {
  const said = textOf(value ?? field.chosen?.(part, flow) ?? defaultOf(path))
  return (
    <Dropdown
      {...wiring}
      value={said}
      options={optionsOf(path).map(([word]) => [word, field.names?.[word] ?? word])}
      none={field.none ?? (said === '' ? '' : undefined)}
      onChoose={word => write(word || undefined)}
    />
  )
}
