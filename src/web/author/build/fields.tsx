import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { words } from './words.ts'

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

/** How a text is marked: what stands around the chosen words, and what stands there if none are chosen. */
interface Mark {
  icon?: IconName
  sign?: string
  label: string
  key?: string
  before: string
  after: string
  empty: string
}

const marks: readonly Mark[] = [
  { sign: 'B', label: words.bold, key: 'b', before: '**', after: '**', empty: '' },
  { sign: 'I', label: words.italic, key: 'i', before: '_', after: '_', empty: '' },
  {
    icon: 'link',
    label: words.link,
    key: 'k',
    before: '[',
    after: '](https://)',
    empty: words.linkText,
  },
  { icon: 'list', label: words.list, before: '\n- ', after: '', empty: '' },
  { icon: 'image', label: words.image, before: '![', after: '](https://)', empty: words.imageText },
]

/** A text in Markdown, with buttons that mark the chosen words. */
export function MarkdownField(props: TextProps) {
  const id = useOwnId()
  const area = useRef<HTMLTextAreaElement>(null)
  const { text, write, leave } = useTyped(props)
  const apply = ({ before, after, empty }: Mark) => {
    const field = area.current!
    const { selectionStart: start, selectionEnd: end } = field
    const chosen = text.slice(start, end) || empty
    // A list begins at the start of a line, and has an entry a line.
    const isList = before.startsWith('\n')
    const opening = isList && (start === 0 || text[start - 1] === '\n') ? before.slice(1) : before
    const inner = isList ? chosen.replaceAll('\n', before) : chosen
    write(text.slice(0, start) + opening + inner + after + text.slice(end))
    requestAnimationFrame(() => {
      field.focus()
      // The address of a link is written next.
      const address = after.includes('https://') && chosen !== empty
      const from = start + opening.length + (address ? inner.length + 2 : 0)
      field.setSelectionRange(from, from + (address ? 'https://'.length : inner.length))
    })
  }
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <fieldset class="marks" aria-label={words.format}>
        {marks.map(mark => (
          <button
            key={mark.label}
            type="button"
            class={`icon mark-${mark.sign ?? ''}`}
            aria-label={mark.label}
            title={mark.label}
            onMouseDown={event => event.preventDefault()}
            onClick={() => apply(mark)}
          >
            {mark.icon ? <Icon name={mark.icon} /> : mark.sign}
          </button>
        ))}
      </fieldset>
      <textarea
        ref={area}
        id={id}
        dir="auto"
        rows={4}
        maxLength={props.max}
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onBlur={leave}
        onKeyDown={event => {
          if (!(event.ctrlKey || event.metaKey)) return
          const mark = marks.find(({ key }) => key === event.key.toLowerCase())
          if (!mark) return
          event.preventDefault()
          apply(mark)
        }}
      />
    </div>
  )
}
