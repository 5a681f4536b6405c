import type { ComponentChildren } from 'preact'
import { usualZone } from '../../analytics/zone.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { editorWords as words } from '../../words/editor.ts'
import { formatClock, formatMoment } from '../../words/time.ts'
import type { Unsaved } from './unsaved.ts'

const dayMs = 86_400_000

/** Something to know before writing, and what to do about it. */
export const EditorNotice = ({
  title,
  children,
  actions,
}: {
  title: string
  children?: ComponentChildren
  actions?: ComponentChildren
}) => (
  <section class="editor-notice">
    <Icon name="info" />
    <div>
      <strong>{title}</strong> {children}
    </div>
    {actions && <div class="actions">{actions}</div>}
  </section>
)

/** Work that was left here without being saved. */
export function LeftWork({
  work,
  onGoOn,
  onDiscard,
}: {
  work: Unsaved
  onGoOn(): void
  onDiscard(): void
}) {
  const at = new Date(work.at).toISOString()
  const isToday = Date.now() - work.at < dayMs
  const time = isToday ? formatClock(at, usualZone()) : formatMoment(at, usualZone())
  return (
    <EditorNotice
      title={words.left(time)}
      actions={
        <>
          <Button onClick={onDiscard}>{words.discard}</Button>
          <Button look="primary" onClick={onGoOn}>
            {words.goOn}
          </Button>
        </>
      }
    >
      {words.leftWhy}
    </EditorNotice>
  )
}
