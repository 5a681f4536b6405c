import { useSignal } from '@preact/signals'
import type { FlowDefinition } from '../../../core/flow/flow.ts'
import type { ChangedFlows, DraftAnswer } from '../../../modules/authoring/schema.ts'
import { act } from '../api/request.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Opener } from '../parts/opener.tsx'
import { say } from '../parts/toast.tsx'
import { useFilters } from '../shell/address.ts'
import { ChangeDialog } from './change-dialog.tsx'
import { PublishReview } from './publish-review.tsx'
import type { Reviewed } from './reviewed.ts'
import { type Plan, planned, RolloutPlan } from './rollout-plan.tsx'

export interface Changing {
  flow: AuthoredFlow
}

const flowIn = ({ draft }: Reviewed) => draft.definition as FlowDefinition

/** Saves the plan with the draft that was reviewed. @returns the ETag to publish by @throws Failure */
async function savePlan(key: string, reviewed: Reviewed, plan: Plan | null): Promise<string> {
  const body = plan && planned(flowIn(reviewed), plan)
  if (!body) return reviewed.etag
  const { etag } = await act<DraftAnswer>(flowPath(key, '/draft'), {
    method: 'PUT',
    body,
    ifMatch: reviewed.etag,
  })
  return etag
}

/** Publishes a draft as the next version, or publishes again what was unpublished. */
export function Publish({ flow }: Changing) {
  const plan = useSignal<Plan | null>(null)
  const { filters, setFilters } = useFilters()
  const isFromEditor = filters.review === 'yes'
  if (!may('flows:publish')) return null
  const { version, hasDraft, key, isLocked } = flow
  const next = hasDraft ? (version ?? 0) + 1 : version!
  const why =
    flow.status === 'published'
      ? 'Visitors get the new version on their next page. Unfinished runs count under the old one.'
      : 'Visitors get it on their next page.'
  return (
    <Opener look="primary" label="Publish" isOpenAtFirst={isFromEditor}>
      {close => (
        <ChangeDialog
          flowKey={key}
          title={hasDraft ? `Publish version ${next}?` : `Publish version ${next} again?`}
          why={why}
          verb="Publish"
          review={reviewed => (
            <>
              <PublishReview flow={flowIn(reviewed)} flowKey={key} />
              {hasDraft && !isLocked && may('flows:write') && (
                <RolloutPlan of={plan} flow={flowIn(reviewed)} />
              )}
            </>
          )}
          compare={hasDraft && version !== null ? { from: `${version}`, to: 'draft' } : null}
          names={[`version ${version}`, 'the draft']}
          act={async (reviewed, body) => {
            const ifMatch = await savePlan(key, reviewed, plan.value)
            const { flows } = await act<ChangedFlows>(flowPath(key, '/publish'), { body, ifMatch })
            const [changed] = flows
            say(
              changed!.outcome === 'already published'
                ? 'This is already published.'
                : `Version ${changed!.version} is live.`,
            )
          }}
          onClose={() => {
            plan.value = null
            if (isFromEditor) setFilters({ review: null }, { replace: true })
            close()
          }}
        />
      )}
    </Opener>
  )
}
