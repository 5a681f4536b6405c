import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Segments } from '../../parts/choice.tsx'
import { previewWords as words } from '../../words/preview.ts'
import type { FlowPreviewProps } from '../editor/parts.ts'
import { FlowPreview } from './flow-preview.tsx'
import { withTextsOf } from './texts-now.ts'

const room = matchMedia('(min-width: 75rem)')

/** The text of a flow with its preview beside it, or only one of them if there is no room for both. */
export function BesideText({
  children,
  text,
  flow,
  ...preview
}: FlowPreviewProps & {
  /** Newer than the flow if somebody has typed since. */
  text: string
  children: ComponentChildren
}) {
  const isRoomy = useSignal(room.matches)
  const side = useSignal<'text' | 'preview'>('text')
  const last = useRef(flow)
  const now = useMemo(() => flow && (withTextsOf(flow, text) ?? last.current), [flow, text])
  last.current = now ?? last.current
  useEffect(() => {
    const measure = () => {
      isRoomy.value = room.matches
    }
    room.addEventListener('change', measure)
    return () => room.removeEventListener('change', measure)
  }, [])
  return (
    <>
      {!isRoomy.value && (
        <div>
          <Segments
            label={words.side}
            options={(['text', 'preview'] as const).map(one => [one, words.sides[one]] as const)}
            value={side.value}
            onChange={chosen => (side.value = chosen)}
          />
        </div>
      )}
      <div class="beside-text" data-side={isRoomy.value ? 'both' : side.value}>
        <div class="beside-text-text">{children}</div>
        {(isRoomy.value || side.value === 'preview') && <FlowPreview {...preview} flow={now} />}
      </div>
    </>
  )
}
