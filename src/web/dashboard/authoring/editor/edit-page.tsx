import { useSignal } from '@preact/signals'
import { useCallback, useEffect } from 'preact/hooks'
import { Failure } from '../../api/failure.ts'
import { may, presence } from '../../api/session.ts'
import { FlowFrame } from '../../flows/flow-frame.tsx'
import type { AuthoredFlow } from '../../flows/flow-list.ts'
import { useFilters } from '../../shell/address.ts'
import type { PageProps } from '../../shell/routes.ts'
import { FailureNotice, Skeleton } from '../../shell/states.tsx'
import { BuildNotice, BuildOnPage } from '../build/build-on-page.tsx'
import { useBuilding } from '../build/use-building.ts'
import { entriesOf } from '../form/entries.ts'
import { kindOf } from '../form/flow-json.ts'
import { PreviewOnPage } from '../preview/on-page.tsx'
import { readBase } from './draft.ts'
import { Editing } from './editing.ts'
import { Locked } from './locked.tsx'
import { Workbench } from './workbench.tsx'

/** Reads a flow to edit; reads it again if somebody else has changed it and nothing is unsaved here. */
function useFlowEditing({ key, etag }: AuthoredFlow) {
  const editing = useSignal<Editing | null>(null)
  const failure = useSignal<Failure | null>(null)
  const load = useCallback(async () => {
    try {
      const base = await readBase(key)
      failure.value = null
      const known = editing.peek()
      if (!known) editing.value = new Editing(base, base.flow)
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
    if (isIn && (!known || (isOther && !known.isDirty.peek()))) void load()
  }, [etag, load, isIn])
  return { editing: editing.value, failure: failure.value, again: () => void load() }
}

function Edit({ flow }: { flow: AuthoredFlow }) {
  const { editing, failure, again } = useFlowEditing(flow)
  if (!editing) {
    if (failure && failure.status !== 401) return <FailureNotice failure={failure} again={again} />
    return <Skeleton />
  }
  return <EditLoaded flow={flow} editing={editing} />
}

function EditLoaded({ flow, editing }: { flow: AuthoredFlow; editing: Editing }) {
  const isEditor = may('flows:write')
  const canWrite = isEditor && !flow.isLocked
  const { filters } = useFilters()
  const part = useSignal<string | null>(filters.part ?? null)
  const building = useBuilding(editing, flow.key, key => (part.value = key))
  const { flow: written } = editing.work.value
  const steps = written ? entriesOf(written, 'steps') : []
  const isOfSteps = written !== null && ['tour', 'announcement'].includes(kindOf(written))
  const step = steps.find(({ key }) => key === part.value) ?? steps[0]
  return (
    <Workbench
      editing={editing}
      flowKey={flow.key}
      part={part}
      canWrite={canWrite}
      canPublish={flow.hasDraft || flow.status !== 'published'}
      actions={
        <>
          {canWrite && isOfSteps && (
            <BuildOnPage building={building} flowKey={flow.key} stepKey={step?.key ?? 'step-1'} />
          )}
          <PreviewOnPage flowKey={flow.key} isUnsaved={editing.isDirty.value} />
        </>
      }
    >
      {flow.isLocked && <Locked flow={flow} />}
      {canWrite && <BuildNotice building={building} />}
      {!isEditor && <p class="hint">View only. Editing needs the editor role.</p>}
    </Workbench>
  )
}

/** The page where a flow is written. */
export default function EditPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <Edit flow={flow} />}</FlowFrame>
}
