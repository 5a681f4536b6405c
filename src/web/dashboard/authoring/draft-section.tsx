import type { DiffAnswer } from '../../../modules/authoring/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import { Opener } from '../parts/opener.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'
import { ChangeDialog } from './change-dialog.tsx'
import { Difference } from './difference.tsx'
import { partsIn } from './parts-in.ts'
import { DraftPreview } from './preview/draft-preview.tsx'
import { type Changing, Publish } from './publish.tsx'

/** Discards a draft. */
function Discard({ flow }: Changing) {
  const { version, key } = flow
  if (!may('flows:write') || version === null) return null
  return (
    <Opener look="danger" label="Discard draft">
      {close => (
        <ChangeDialog
          flowKey={key}
          title="Discard draft?"
          why={`Your draft changes are deleted. Version ${version} stays as it is.`}
          verb="Discard draft"
          isDanger
          hasNote={false}
          compare={{ from: 'draft', to: `${version}` }}
          names={['the draft', `version ${version}`]}
          act={async ({ etag }) => {
            await act(flowPath(key, '/draft'), { method: 'DELETE', ifMatch: etag })
            say('Draft discarded.')
          }}
          onClose={close}
        />
      )}
    </Opener>
  )
}

/** The draft, and what publishing it would change. */
export function DraftSection({ flow }: Changing) {
  const { version, hasDraft, key, stepCount, itemCount } = flow
  const hasOther = hasDraft && version !== null
  const query = new URLSearchParams({ from: `${version}`, to: 'draft' })
  const difference = useRead<DiffAnswer>(hasOther ? flowPath(key, `/diff?${query}`) : null)
  const canBeShownAgain = !hasDraft && flow.status !== 'published'
  if (!hasDraft && !canBeShownAgain) return <p class="hint">No unpublished changes</p>
  return (
    <section class="part" aria-labelledby="draft">
      <div class="part-head">
        <div>
          <h2 id="draft">{hasDraft ? 'Unpublished draft' : `Version ${version} is not shown`}</h2>
          <p class="hint">Last changed {momentHere(flow.updatedAt)}</p>
        </div>
        <div class="actions">
          {hasDraft && <Discard flow={flow} />}
          <Publish flow={flow} />
        </div>
      </div>
      {/* Above what loads later, which would move its button from under the pointer. */}
      {hasDraft && <DraftPreview flowKey={key} />}
      {hasOther ? (
        <Reading of={difference} lines={3}>
          {data => <Difference of={data} from={`version ${version}`} to="the draft" />}
        </Reading>
      ) : (
        version === null && <p>Never published. It has {partsIn(stepCount, itemCount)}.</p>
      )}
    </section>
  )
}
