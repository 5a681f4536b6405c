import { useLayoutEffect, useRef } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
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
  return (
    <header class="entry-head">
      <div class="entry-name">
        <p class="hint">{words.placeOf(words.lists[list].one, index + 1, count)}</p>
        <h2 dir="auto">{title || words.untitled(index + 1)}</h2>
      </div>
      {!isLocked && (
        <div class="entry-actions" ref={box}>
          <IconButton
            icon="up"
            data-move
            label={words.up}
            disabled={index === 0}
            onClick={() => move(index - 1)}
          />
          <IconButton
            icon="down"
            data-move
            label={words.down}
            disabled={index === count - 1}
            onClick={() => move(index + 1)}
          />
          <IconButton
            icon="copy"
            label={words.duplicate}
            disabled={count >= most}
            onClick={onDuplicate}
          />
          <IconButton icon="remove" label={words.remove} onClick={onRemove} />
        </div>
      )}
    </header>
  )
}
