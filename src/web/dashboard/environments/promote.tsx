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
import { FailureNotice, Skeleton } from '../shell/states.tsx'
import { environmentsPath } from './links.ts'

const words = {
  published: (name: string, version: number) => `“${name}” is published as version ${version}.`,
  promoted: (name: string) => `“${name}” is now the draft here.`,
  promoteTitle: (name: string) => `Promote “${name}”?`,
  quicker: (who: string) => `${who} changed it after you opened it. Review it below, then promote.`,
  foreign: (origins: string) =>
    `Uses staging addresses: ${origins}. Change them before you publish.`,
  sideThere: (name: string) => name,
}

export type StagedFlow = StagedFlows['flows'][number]

/** Shows what promoting a flow would change here, and promotes exactly what was shown. */
export function Promote({
  flow: { key, name },
  staging,
  onPromoted,
  onClose,
}: {
  flow: StagedFlow
  staging: { slug: string; name: string }
  onPromoted: (said: string) => void
  onClose: () => void
}) {
  const path = `${environmentsPath}/${staging.slug}/flows/${encodeURIComponent(key)}`
  const { value, failure, again } = useOnce(
    path,
    async () => (await ask<PromotionAnswer>(`${path}/diff`)).value,
  )
  const quicker = useSignal<string | null>(null)
  const publish = useSignal(false)
  const promote = async () => {
    const { production, staging: there } = value!
    const body = { stagingEtag: there.etag, publish: publish.value, side: there.side }
    const known = production ? { ifMatch: production.etag } : { isNew: true }
    const { flows } = await act<PushedFlows>(`${path}/promote`, { body, ...known })
    onPromoted(publish.value ? words.published(name, flows[0]!.version!) : words.promoted(name))
    readAgain()
  }
  return (
    <Confirm
      title={words.promoteTitle(name)}
      verb="Promote flow"
      isWide
      isReady={value !== null}
      act={promote}
      onRefused={({ status, told }) => {
        if (status !== 412) return
        const who = told.body?.changedBy
        quicker.value = words.quicker(typeof who === 'string' ? who : 'Someone')
        void again()
      }}
      showsItself={({ status }) => status === 412}
      onClose={onClose}
    >
      <p>
        {publish.value
          ? 'Visitors see it on their next page.'
          : 'It becomes the draft here. Visitors see no change until you publish it.'}
      </p>
      {quicker.value && (
        <p class="problem" role="alert">
          {quicker.value}
        </p>
      )}
      {failure ? (
        <FailureNotice failure={failure} again={again} />
      ) : value === null ? (
        <Skeleton lines={3} />
      ) : (
        <>
          {value.production?.hasDraft && (
            <p class="hint">The unpublished draft here is replaced.</p>
          )}
          {value.foreignOrigins.length > 0 && (
            <p class="problem">{words.foreign(value.foreignOrigins.join(', '))}</p>
          )}
          <Difference of={value} from="what is here" to={words.sideThere(staging.name)} />
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
