import { Icon } from './icon.tsx'
import { type Mark, marked, markOf, marks } from './marks.ts'
import { words } from './words.ts'

/** Marks the chosen words of a field. Its new text is given to `write`, and shown by then. */
export function markIn(
  field: HTMLTextAreaElement,
  mark: Mark,
  write: (text: string) => void,
): void {
  const { text, from, to } = marked(field.value, field.selectionStart, field.selectionEnd, mark)
  write(text)
  requestAnimationFrame(() => {
    field.focus()
    field.setSelectionRange(from, to)
  })
}

/** Does what a key stands for, if it stands for a mark. */
export function markByKey(
  event: KeyboardEvent & { currentTarget: HTMLTextAreaElement },
  write: (text: string) => void,
): void {
  const mark = markOf(event)
  if (!mark) return
  event.preventDefault()
  markIn(event.currentTarget, mark, write)
}

/** Buttons that mark words. The field keeps the focus. */
export const MarkButtons = ({
  apply,
  tabIndex,
}: {
  apply(mark: Mark): void
  tabIndex?: number
}) => (
  <fieldset class="marks" aria-label={words.format}>
    {marks.map(mark => (
      <button
        key={mark.label}
        type="button"
        class={`icon mark-${mark.sign ?? ''}`}
        aria-label={mark.label}
        title={mark.label}
        tabIndex={tabIndex}
        onMouseDown={event => event.preventDefault()}
        onClick={() => apply(mark)}
      >
        {mark.icon ? <Icon name={mark.icon} /> : mark.sign}
      </button>
    ))}
  </fieldset>
)
