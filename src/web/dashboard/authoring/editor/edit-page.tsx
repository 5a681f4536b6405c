import { useSignal } from '@preact/signals'
import { useCallback, useEffect } from 'preact/hooks'
import { Failure } from '../../api/failure.ts'
import { may, presence } from '../../api/session.ts'
import { FlowFrame } from '../../flows/flow-frame.tsx'
import type { AuthoredFlow } from '../../flows/flow-list.ts'
import { LinkButton } from '../../parts/button.tsx'
import { addressOf } from '../../shell/address.ts'
import type { PageProps } from '../../shell/routes.ts'
import { FailureNotice, Skeleton } from '../../shell/states.tsx'
import { editorWords as words } from '../../words/editor.ts'
import { PreviewOnPage } from '../preview/on-page.tsx'
import { readBase } from './base.ts'
import { Editing } from './editing.ts'
import { Locked } from './locked.tsx'
import { Workbench } from './workbench.tsx'

/** Reads a flow to edit; reads it again if somebody else has changed it and nothing is unsaved here. */
function useFlowEditing({ key, etag }: AuthoredFlow) {
  const editing = useSignal<Editing | null>(null)
  const failure = useSignal<Failure | null>(null)
  const isChangedElsewhere = useSignal(false)
  const load = useCallback(async () => {
    try {
      const base = await readBase(key)
      failure.value = null
      const known = editing.peek()
      if (!known) editing.value = new Editing(key, base, base.text, () => {})
      else if (!known.isDirty.peek()) known.load(base)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      failure.value = error
    }
  }, [key])
  const isIn = presence.value === 'in'
  useEffect(() => {
    const known = editing.peek()
    // The list may be older than what was saved here, so only an ETag never seen here is somebody else's.
    const isOther = known !== null && !known.known.has(etag)
    isChangedElsewhere.value = isOther
    if (isIn && (!known || (isOther && !known.isDirty.peek()))) void load()
  }, [etag, load, isIn])
  return {
    editing: editing.value,
    failure: failure.value,
    isChangedElsewhere: isChangedElsewhere.value,
    again: () => void load(),
  }
}

function Edit({ flow }: { flow: AuthoredFlow }) {
  const { editing, failure, isChangedElsewhere, again } = useFlowEditing(flow)
  if (!editing) {
    if (failure && failure.status !== 401) return <FailureNotice failure={failure} again={again} />
    return <Skeleton />
  }
  const canWrite = may('flows:write') && !flow.isLocked
  return (
    <Workbench
      editing={editing}
      canWrite={canWrite}
      isChangedElsewhere={isChangedElsewhere}
      actions={
        <>
          <PreviewOnPage flowKey={flow.key} isUnsaved={editing.isDirty.value} />
          {flow.hasDraft && (
            <LinkButton href={addressOf(['flows', flow.key, 'versions'])}>
              {words.review}
            </LinkButton>
          )}
        </>
      }
    >
      {flow.isLocked && <Locked flow={flow} text={editing.text.value} />}
      {!may('flows:write') && <p class="hint">{words.readOnly}</p>}
    </Workbench>
  )
}

/** The page where a flow is written. */
export default function EditPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <Edit flow={flow} />}</FlowFrame>
}
