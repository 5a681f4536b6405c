import type { ComponentChildren } from 'preact'
import { defaultZone } from '../../analytics/zone.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { firstText, editorWords as words } from '../../words/editor.ts'
import { formatMoment } from '../../words/time.ts'
import type { Unsaved } from './unsaved.ts'

/** Longer lines are cut. */
const longest = 80

/** The first line that was written; empty if lines were only taken out. */
function firstChanged({ text, base }: Unsaved): string {
  const before = new Set((base?.text ?? firstText).split('\n'))
  const line =
    text
      .split('\n')
      .find(one => one.trim() !== '' && !before.has(one))
      ?.trim() ?? ''
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

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
  const title = words.left(formatMoment(at, defaultZone(), { second: '2-digit' }))
  const line = firstChanged(work)
  return (
    <EditorNotice
      title={title}
      actions={
        <>
          <Button aria-label={`${words.discard}: ${title}`} onClick={onDiscard}>
            {words.discard}
          </Button>
          <Button look="primary" aria-label={`${words.goOn}: ${title}`} onClick={onGoOn}>
            {words.goOn}
          </Button>
        </>
      }
    >
      {line && (
        <>
          {words.leftFrom} <code>{line}</code>{' '}
        </>
      )}
      {words.leftWhy}
    </EditorNotice>
  )
}
