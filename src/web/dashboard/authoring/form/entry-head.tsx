import { IconButton } from '../../parts/button.tsx'
import { type Entry, maxEntries } from './entries.ts'
import { useForm } from './form.ts'
import { listNames } from './outline.tsx'

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
  return (
    <header class="entry-head line start between gap-3">
      <div class="min-0">
        <p class="hint">{`${listNames[list].one} ${index + 1} of ${count}`}</p>
        <h2 dir="auto">{title}</h2>
      </div>
      {!isLocked && (
        <div class="line gap-1">
          <IconButton icon="up" label="Move up" onClick={() => onMove(index - 1)} />
          <IconButton icon="down" label="Move down" onClick={() => onMove(index + 1)} />
          <IconButton
            icon="copy"
            label="Duplicate"
            disabled={count >= maxEntries}
            onClick={onDuplicate}
          />
          <IconButton icon="remove" label="Delete" onClick={onRemove} />
        </div>
      )}
    </header>
  )
}
