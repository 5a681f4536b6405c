import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { Flow } from '../../../../core/flow/flow.ts'
import { itemsOf } from '../../../../core/flow/items.ts'
import type { MaybeTheme } from '../../../../core/flow/merged-theme.ts'
import { shownAs } from '../../../../core/flow/shown-as.ts'
import { session } from '../../api/session.ts'
import { useWidth } from '../../charts/use-width.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/select.tsx'
import { sizeIn } from './appearance.ts'
import { PreviewControls } from './preview-controls.tsx'
import { PreviewNotes } from './preview-notes.tsx'
import { useFrame } from './use-frame.ts'

export interface FlowPreviewProps {
  /** What pages would get; null while it cannot be told, such as for a flow with errors. */
  flow: Flow | null
  /** Whether the flow is not known yet. */
  isLoading?: boolean
  /** The key of the step or item that is shown. */
  part: string | null
  onPart(key: string | null): void
  /** The organisation's theme; if left out, the one that is set. */
  theme?: MaybeTheme
}

/** In the folder of this file, whatever path a proxy has put in front. */
const address = new URL('preview.html', import.meta.url).href

const partsOf = (flow: Flow) => (shownAs(flow) === 'steps' ? flow.steps : itemsOf(flow))

/** The languages that a flow has texts in, its own first. */
const localesOf = (flow: Flow | null) => [
  ...(flow?.locale ? [flow.locale] : []),
  ...Object.keys(flow?.texts ?? {}),
]

/** Above and below the preview: what stands there while all of it is in sight, in pixels. */
const besidePreview = 260
const minScale = 0.5

const endings = {
  completed: 'Completed: the flow closes.',
  dismissed: 'Closed by the visitor.',
}

/** What visitors will see of a flow, drawn with the snippet's own stage on a page of grey blocks. */
export function FlowPreview({ flow, isLoading, part, onPart, theme }: FlowPreviewProps) {
  const id = useId()
  const last = useRef<Flow | null>(null)
  if (flow) last.current = flow
  const known = last.current
  const frame = useFrame(known, part, onPart, theme === undefined ? session.value?.theme : theme)
  const { ref: ruler, width } = useWidth()
  const room = useRef<HTMLDivElement>(null)
  const size = sizeIn(width.value)
  useLayoutEffect(() => {
    const { style } = room.current!
    style.setProperty('--preview-width', `${size.width}px`)
    style.setProperty('--preview-height', `${size.height}px`)
    const inWindow = Math.max(minScale, (innerHeight - besidePreview) / size.height)
    const scale = Math.min(1, width.value / size.width, inWindow)
    style.setProperty('--preview-scale', `${scale}`)
  }, [room, size.width, size.height, width.value])

  const parts = known ? partsOf(known) : []
  const at = parts.some(({ key }) => key === part) ? part : frame.shown.value
  const ended = frame.ended.value
  return (
    <section class="preview stack gap-3 min-0" aria-labelledby={id}>
      <div class="split">
        <h2 id={id}>Preview</h2>
        {parts.length > 1 && (
          <Select
            isInline
            label={known && shownAs(known) !== 'steps' ? 'Item' : 'Step'}
            value={at ?? parts[0]!.key}
            options={parts.map(({ key, title }, i) => [key, `${i + 1}. ${title || key}`] as const)}
            onChange={onPart}
          />
        )}
      </div>
      <PreviewControls room={width.value} locales={localesOf(known)} />
      <div class="preview-room framed" ref={room} data-old={flow === null}>
        <div ref={ruler} />
        {known && parts.length > 0 && (
          <iframe
            ref={frame.ref}
            title="Preview of the flow"
            src={address}
            sandbox="allow-scripts"
          />
        )}
        {isLoading || (parts.length > 0 && frame.shown.value === null) ? (
          <p class="preview-nothing soft" role="status">
            Loading preview…
          </p>
        ) : (
          parts.length === 0 && (
            <p class="preview-nothing soft">
              <strong>Nothing to show yet</strong>{' '}
              {known
                ? 'This flow has no steps or items.'
                : 'The preview appears when the flow has no errors.'}
            </p>
          )
        )}
      </div>
      <div role="status" class="preview-status banner break">
        {flow === null && known && (
          <p>The flow has errors. The preview shows it as it was before.</p>
        )}
        {ended && (
          <p>
            {endings[ended]}{' '}
            <Button onClick={() => frame.send({ type: 'again' })}>Show again</Button>
          </p>
        )}
        {frame.link.value !== null && (
          <p>The preview stays here. The link leads to {frame.link.value}</p>
        )}
      </div>
      {known && parts.length > 0 && (
        <PreviewNotes flow={known} at={at} onTrack={name => frame.send({ type: 'track', name })} />
      )}
    </section>
  )
}
