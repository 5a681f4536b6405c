import { useSignal } from '@preact/signals'
import { useId, useRef } from 'preact/hooks'
import { Field, type FieldProps, frameOf } from './field.tsx'
import { matching, type Option } from './options.ts'
import { place } from './place.ts'

/** One of a long list, found by typing (ARIA's combobox pattern). */
export function Combobox(
  props: FieldProps & {
    value: string
    /** A function is called when the list is first needed. */
    options: readonly Option[] | (() => readonly Option[])
    onChange: (value: string) => void
    /** What people read for the value, if it is not among the options or these are not read yet. */
    labelOf?: (value: string) => string
    /** The name for choosing none, if that is possible too; its value is empty. */
    none?: string
    /** Whether a text that is none of the options is a value too. */
    canBeOther?: boolean
    placeholder?: string
    isDisabled?: boolean
  },
) {
  const { frame, rest } = frameOf(props)
  const { value, options, onChange, labelOf, none, canBeOther = false } = rest
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  /** What is being typed; null while nothing is. */
  const typed = useSignal<string | null>(null)
  const isOpen = useSignal(false)
  const active = useSignal(0)

  const all = typeof options === 'function' ? (isOpen.value ? options() : []) : options
  const known = all.find(option => option.value === value)
  const shown = known?.label ?? (value === '' ? (none ?? '') : (labelOf?.(value) ?? value))
  const text = typed.value ?? shown
  const offered = none === undefined ? all : [{ value: '', label: none }, ...all]
  const found = matching(offered, typed.value ?? '')
  const other = typed.value?.trim() ?? ''
  if (canBeOther && other !== '' && !found.some(({ label }) => label === other)) {
    found.push({ value: other, label: `Use “${other}”` })
  }

  const open = () => {
    if (rest.isDisabled || isOpen.value) return
    isOpen.value = true
    active.value = Math.max(
      0,
      found.findIndex(option => option.value === value),
    )
    panel.current!.showPopover()
    panel.current!.style.minWidth = `${input.current!.offsetWidth}px`
    // The options are drawn now, and with them the panel has its height.
    requestAnimationFrame(() => isOpen.value && place(panel.current!, input.current!))
  }
  const close = () => {
    isOpen.value = false
    typed.value = null
    panel.current?.hidePopover()
  }
  const choose = (option: Option | undefined) => {
    if (option && option.value !== value) onChange(option.value)
    close()
  }
  const leave = () => {
    if (typed.value === null) return close()
    const exact = found.find(({ label }) => label.toLowerCase() === other.toLowerCase())
    const isEmptied = other === '' && none !== undefined
    choose(exact ?? (isEmptied ? { value: '', label: '' } : canBeOther ? found.at(-1) : undefined))
  }
  const move = (step: number) => {
    open()
    if (found.length > 0) active.value = (active.value + step + found.length) % found.length
    document.getElementById(`${id}-${active.value}`)?.scrollIntoView({ block: 'nearest' })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event
    if (key === 'ArrowDown') move(isOpen.value ? 1 : 0)
    else if (key === 'ArrowUp') move(-1)
    else if (key === 'Enter' && isOpen.value) choose(found[active.value])
    // Otherwise it would close the dialog around it.
    else if (key === 'Escape' && isOpen.value) close()
    else return
    event.preventDefault()
  }
  return (
    <Field {...frame}>
      {wiring => (
        <div>
          <input
            {...wiring}
            ref={input}
            class="input select"
            type="text"
            role="combobox"
            aria-expanded={isOpen.value}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={
              isOpen.value && found.length > 0 ? `${id}-${active.value}` : undefined
            }
            autocomplete="off"
            spellcheck={false}
            disabled={rest.isDisabled}
            placeholder={rest.placeholder}
            value={text}
            onClick={open}
            onFocus={event => event.currentTarget.select()}
            onInput={event => {
              typed.value = event.currentTarget.value
              active.value = 0
              open()
            }}
            onKeyDown={onKeyDown}
            onBlur={leave}
          />
          <div
            ref={panel}
            id={`${id}-list`}
            popover="manual"
            class="menu-panel options"
            role="listbox"
            aria-label={frame.label}
          >
            {isOpen.value &&
              found.map((option, i) => (
                <div
                  key={option.value}
                  id={`${id}-${i}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={i === active.value}
                  onPointerMove={() => (active.value = i)}
                  // The focus stays in the input.
                  onPointerDown={event => event.preventDefault()}
                  onPointerUp={() => choose(option)}
                >
                  <span>{option.label}</span>
                  {option.note && <small>{option.note}</small>}
                </div>
              ))}
            {isOpen.value && found.length === 0 && <p class="hint">No matches</p>}
          </div>
        </div>
      )}
    </Field>
  )
}
