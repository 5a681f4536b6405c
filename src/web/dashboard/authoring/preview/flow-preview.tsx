import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { Flow } from '../../../../core/flow/flow.ts'
import { shownAs } from '../../../../core/flow/shown-as.ts'
import { session } from '../../api/session.ts'
import { useWidth } from '../../charts/use-width.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/select.tsx'
import { previewWords as words } from '../../words/preview.ts'
import type { FlowPreviewProps } from '../editor/parts.ts'
import { sizeIn } from './looks.ts'
import { PreviewControls } from './preview-controls.tsx'
import { PreviewNotes } from './preview-notes.tsx'
import { useFrame } from './use-frame.ts'

/** In the folder of this file, whatever path a proxy has put in front. */
const address = new URL('preview.html', import.meta.url).href

const partsOf = (flow: Flow) =>
  shownAs(flow) === 'checklist' ? (flow.checklist?.items ?? []) : flow.steps

/** The languages that a flow has texts in, its own first. */
const localesOf = (flow: Flow | null) => [
  ...(flow?.locale ? [flow.locale] : []),
  ...Object.keys(flow?.texts ?? {}),
]

/** What visitors will see of a flow, drawn with the snippet's own stage on a page of grey blocks. */
export function FlowPreview({ flow, part, onPart, theme }: FlowPreviewProps) {
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
    style.setProperty('--preview-scale', `${Math.min(1, width.value / size.width)}`)
  }, [room, size.width, size.height, width.value])

  const parts = known ? partsOf(known) : []
  const at = parts.some(({ key }) => key === part) ? part : frame.shown.value
  const ended = frame.ended.value
  return (
    <section class="preview" aria-labelledby={id}>
      <div class="preview-head">
        <h2 id={id}>{words.title}</h2>
        {parts.length > 1 && (
          <Select
            isInline
            label={known && shownAs(known) === 'checklist' ? words.item : words.step}
            value={at ?? parts[0]!.key}
            options={parts.map(
              ({ key, title }, i) => [key, words.numbered(i + 1, title || key)] as const,
            )}
            onChange={onPart}
          />
        )}
      </div>
      <PreviewControls room={width.value} locales={localesOf(known)} />
      <div class="preview-room" ref={room} data-old={flow === null}>
        <div ref={ruler} />
        {known && parts.length > 0 ? (
          <iframe ref={frame.ref} title={words.frame} src={address} sandbox="allow-scripts" />
        ) : (
          <p class="preview-nothing">
            <strong>{words.nothing}</strong> {known ? words.noParts : words.nothingWhy}
          </p>
        )}
      </div>
      <div role="status" class="preview-said">
        {flow === null && known && <p>{words.isOld}</p>}
        {ended && (
          <p>
            {words[ended]}{' '}
            <Button onClick={() => frame.send({ type: 'again' })}>{words.again}</Button>
          </p>
        )}
        {frame.link.value !== null && <p>{words.leadsTo(frame.link.value)}</p>}
      </div>
      {known && parts.length > 0 && (
        <PreviewNotes flow={known} at={at} onTrack={name => frame.send({ type: 'track', name })} />
      )}
    </section>
  )
}
