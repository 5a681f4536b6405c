import { useSignal } from '@preact/signals'
import type { PushedFlows } from '../../../modules/authoring/schema.ts'
import type { PromotionAnswer, StagedFlows } from '../../../modules/environments/schema.ts'
import { useOnce } from '../api/once.ts'
import { readAgain } from '../api/read.ts'
import { act, ask } from '../api/request.ts'
import { may } from '../api/session.ts'
import { Difference } from '../authoring/difference.tsx'
import { Check } from '../parts/choice.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { say } from '../parts/toast.tsx'
import { FailureNotice, Skeleton } from '../shell/states.tsx'
import { environmentsPath } from './links.ts'

export type StagedFlow = StagedFlows['flows'][number]

/** Shows what promoting a flow would change here, and promotes exactly what was shown. */
export function Promote({
  flow: { key, name },
  staging,
  onClose,
}: {
  flow: StagedFlow
  staging: { slug: string; name: string }
  onClose: () => void
}) {
  const path = `${environmentsPath}/${staging.slug}/flows/${encodeURIComponent(key)}`
  const { value, failure, again } = useOnce(
    path,
    async () => (await ask<PromotionAnswer>(`${path}/diff`)).value,
  )
  const overtaken = useSignal<string | null>(null)
  const publish = useSignal(false)
  const promote = async () => {
    const { production, staging: there } = value!
    const body = { stagingEtag: there.etag, publish: publish.value, side: there.side }
    const known = production ? { ifMatch: production.etag } : { isNew: true }
    const { flows } = await act<PushedFlows>(`${path}/promote`, { body, ...known })
    say(
      publish.value
        ? `“${name}” is published as version ${flows[0]!.version}.`
        : `“${name}” is now the draft here.`,
    )
    readAgain()
  }
  return (
    <Confirm
      title={`Promote “${name}”?`}
      verb="Promote flow"
      isWide
      isReady={value !== null}
      act={promote}
      onRefused={({ status, response }) => {
        if (status !== 412) return
        const who = response.body?.changedBy
        overtaken.value = `Someone else saved first: ${typeof who === 'string' ? who : 'somebody'} changed it after you opened it. Review it below, then try again.`
        void again()
      }}
      showsItself={() => overtaken.value !== null}
      onClose={onClose}
    >
      <p>
        {publish.value
          ? 'Visitors get it on their next page.'
          : 'It becomes the draft here. Visitors see no change until you publish it.'}
      </p>
      {overtaken.value && (
        <p class="problem" role="alert">
          {overtaken.value}
        </p>
      )}
      {failure ? (
        <FailureNotice failure={failure} again={again} />
      ) : value === null ? (
        <Skeleton lines={3} />
      ) : (
        <>
          {value.production?.hasDraft && (
            <p class="hint">It replaces the unpublished draft here.</p>
          )}
          {value.foreignOrigins.length > 0 && (
            <p class="problem">
              Uses staging addresses: {value.foreignOrigins.join(', ')}. Change them before you
              publish.
            </p>
          )}
          <Difference of={value} from="this organisation" to={staging.name} />
        </>
      )}
      {may('flows:publish') && (
        <Check
          label="Publish now"
          checked={publish.value}
          onChange={checked => (publish.value = checked)}
        />
      )}
    </Confirm>
  )
}
