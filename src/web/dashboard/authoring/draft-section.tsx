import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ChangedFlows } from '../../../modules/authoring/schema.ts'
import { useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Opener } from '../parts/opener.tsx'
import { Reading } from '../shell/states.tsx'
import { formatMoment } from '../words/time.ts'
import { versionWords as words } from '../words/versions.ts'
import { ChangeDialog } from './change-dialog.tsx'
import { type DiffAnswer, Difference } from './difference.tsx'
import { DraftPreview } from './preview/draft-preview.tsx'

export interface Changing {
  flow: AuthoredFlow
  said: Signal<ComponentChildren>
}

/** Publishes a draft as the next version, or publishes again what was withdrawn. */
export function Publish({ flow, said }: Changing) {
  if (!may('flows:publish')) return null
  const { version, hasDraft, key } = flow
  const next = hasDraft ? (version ?? 0) + 1 : version!
  const isLive = flow.status === 'published'
  return (
    <Opener look="primary" label={words.publish}>
      {close => (
        <ChangeDialog
          flowKey={key}
          title={hasDraft ? words.publishTitle(next) : words.publishAgainTitle(next)}
          why={hasDraft ? words.publishWhy(isLive) : words.publishAgain}
          verb={words.publish}
          isForVisitors
          compare={hasDraft && version !== null ? { from: `${version}`, to: 'draft' } : null}
          names={[version === null ? '' : words.side(version), words.theDraft]}
          act={async ({ etag }, body) => {
            const path = flowPath(key, '/publish')
            const { flows } = await act<ChangedFlows>(path, { body, ifMatch: etag })
            const [changed] = flows
            said.value =
              changed!.outcome === 'already published'
                ? words.publishedAlready
                : words.published(changed!.version!)
          }}
          onClose={close}
        />
      )}
    </Opener>
  )
}

/** Discards a draft. */
function Discard({ flow, said }: Changing) {
  const { version, key } = flow
  if (!may('flows:write') || version === null) return null
  return (
    <Opener look="danger" label={words.discard}>
      {close => (
        <ChangeDialog
          flowKey={key}
          title={words.discardTitle}
          why={words.discardWhy(version)}
          verb={words.discard}
          isDanger
          hasNote={false}
          compare={{ from: 'draft', to: `${version}` }}
          names={[words.theDraft, words.side(version)]}
          act={async ({ etag }) => {
            await act(flowPath(key, '/draft'), { method: 'DELETE', ifMatch: etag })
            said.value = words.discarded
          }}
          onClose={close}
        />
      )}
    </Opener>
  )
}

/** The draft that waits to be published, and what it would change. */
export function DraftSection({ flow, said, zone }: Changing & { zone: string }) {
  const { version, hasDraft, key, stepCount, itemCount } = flow
  const hasOther = hasDraft && version !== null
  const query = new URLSearchParams({ from: `${version}`, to: 'draft' })
  const difference = useRead<DiffAnswer>(hasOther ? flowPath(key, `/diff?${query}`) : null)
  const canBeShownAgain = !hasDraft && flow.status !== 'published'
  if (!hasDraft && !canBeShownAgain) return <p class="hint">{words.noDraft}</p>
  return (
    <section class="part" aria-labelledby="draft">
      <div class="part-head">
        <div>
          <h2 id="draft">{hasDraft ? words.draftWaits : words.notShown(version!)}</h2>
          <p class="hint">{words.changedAt(formatMoment(flow.updatedAt, zone))}</p>
        </div>
        <div class="actions">
          {hasDraft && <Discard flow={flow} said={said} />}
          <Publish flow={flow} said={said} />
        </div>
      </div>
      {/* Above what loads later, which would move its button from under the pointer. */}
      {hasDraft && <DraftPreview flowKey={key} />}
      {hasOther ? (
        <Reading of={difference} lines={3}>
          {data => <Difference of={data} from={words.side(version)} to={words.theDraft} />}
        </Reading>
      ) : (
        version === null && <p>{words.first(stepCount, itemCount)}</p>
      )}
    </section>
  )
}
