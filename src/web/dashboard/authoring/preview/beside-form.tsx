import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Mapping } from '../../../../core/flow/plain.ts'
import { Segments } from '../../parts/choice.tsx'
import { FlowPreview, type FlowPreviewProps } from './flow-preview.tsx'
import { withTextsOf } from './texts-now.ts'

const room = matchMedia('(min-width: 75rem)')

const sides = [
  ['form', 'Write'],
  ['preview', 'Preview'],
] as const

/** The form of a flow with its preview beside it, or only one of them if there is no room for both. */
export function BesideForm({
  children,
  written,
  flow,
  ...preview
}: FlowPreviewProps & {
  /** Newer than the flow if somebody has typed since; null while it cannot be read. */
  written: Mapping | null
  children: ComponentChildren
}) {
  const isRoomy = useSignal(room.matches)
  const side = useSignal<'form' | 'preview'>('form')
  const last = useRef(flow)
  const now = useMemo(
    () => flow && (written ? withTextsOf(flow, written) : last.current),
    [flow, written],
  )
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
            label="Write or preview"
            options={sides}
            value={side.value}
            onChange={chosen => (side.value = chosen)}
          />
        </div>
      )}
      <div class="beside-form stack start gap-5" data-side={isRoomy.value ? 'both' : side.value}>
        <div class="beside-form-form stack gap-3 min-0">{children}</div>
        {(isRoomy.value || side.value === 'preview') && <FlowPreview {...preview} flow={now} />}
      </div>
    </>
  )
}
