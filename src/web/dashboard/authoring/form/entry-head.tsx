import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { flowFormWords as words } from '../../words/flow-form.ts'
import type { Entry } from './entries.ts'
import { useForm } from './form-context.ts'

/** Says which step or item this is, and offers what can be done with it as a whole. */
export function EntryHead({
  entry,
  count,
  onMove,
  onDuplicate,
  onRemove,
}: {
  entry: Entry
  count: number
  onMove: (to: number) => void
  onDuplicate: () => void
  onRemove: () => void
}) {
  const { isLocked } = useForm()
  const { list, index, title } = entry
  const most = 100
  /** At an end of the list the pressed button becomes disabled, so the other one takes the focus. */
  const box = useRef<HTMLDivElement>(null)
  const moved = useRef(false)
  useLayoutEffect(() => {
    if (!moved.current) return
    moved.current = false
    if (box.current!.contains(document.activeElement)) return
    box.current!.querySelector<HTMLElement>('[data-move]:not(:disabled)')?.focus()
  }, [index])
  const move = (to: number) => {
    moved.current = true
    onMove(to)
  }
  const square = { look: 'quiet', class: 'square' } as const
  return (
    <header class="entry-head">
      <div class="entry-name">
        <p class="hint">{words.placeOf(words.lists[list].one, index + 1, count)}</p>
        <h2 dir="auto">{title || words.untitled(index + 1)}</h2>
      </div>
      {!isLocked && (
        <div class="entry-actions" ref={box}>
          <Button
            {...square}
            icon="up"
            data-move
            aria-label={words.up}
            title={words.up}
            disabled={index === 0}
            onClick={() => move(index - 1)}
          />
          <Button
            {...square}
            icon="down"
            data-move
            aria-label={words.down}
            title={words.down}
            disabled={index === count - 1}
            onClick={() => move(index + 1)}
          />
          <Button
            {...square}
            icon="copy"
            aria-label={words.duplicate}
            title={words.duplicate}
            disabled={count >= most}
            onClick={onDuplicate}
          />
          <Button
            {...square}
            icon="remove"
            aria-label={words.remove}
            title={words.remove}
            onClick={onRemove}
          />
        </div>
      )}
    </header>
  )
}
