import { useSignal } from '@preact/signals'
import type { PinAnswer, RepairAnswer } from '../../../modules/authoring/schema.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { PickOnPage } from '../authoring/pick/pick-on-page.tsx'
import { flowPath } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { Opener } from '../parts/opener.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf } from '../shell/address.ts'
import type { Candidate } from './candidate.ts'
import type { CheckedStep } from './health.ts'

const alsoDraft = 'Your unpublished draft keeps its other changes.'

const pinned = {
  pinned: 'Snapshot saved in the draft. Publish to apply it.',
  'already pinned': 'The draft already has this snapshot.',
  'no baseline': 'No page has reported this element yet.',
  'draft differs': 'The draft points at another element.',
  'says too little': 'The snapshot is not specific enough to find the element.',
} satisfies Record<PinAnswer['steps'][number]['outcome'], string>

/** A step, and where to say what was done about it. */
export interface Acting {
  flow: AuthoredFlow
  step: CheckedStep
  title: string
}

/** A sentence about a draft, with a link to it. */
export const WithDraft = ({ flowKey, children }: { flowKey: string; children: string }) => (
  <>
    {children} <a href={addressOf(['flows', flowKey, 'versions'])}>Review draft</a>
  </>
)

/** Asks before another selector is put into the draft. */
function RepairDialog({
  flow,
  step,
  title,
  selector,
  body,
  onClose,
}: Acting & {
  selector: string
  body: { selector?: string; alone?: boolean }
  onClose: () => void
}) {
  const repair = async () => {
    const path = flowPath(flow.key, `/steps/${encodeURIComponent(step.step)}/repair`)
    const answer = await act<RepairAnswer>(path, { body, ifMatch: flow.etag })
    const isRepaired = answer.outcome === 'repaired'
    const sentence = isRepaired
      ? `Draft updated with ${answer.selector}. Publish to apply it.`
      : 'The draft already has this selector. Publish to apply it.'
    say(<WithDraft flowKey={flow.key}>{sentence}</WithDraft>)
    readAgain()
  }
  return (
    <Confirm
      title={`Use another selector for “${title}”?`}
      verb="Use in draft"
      act={repair}
      onRefused={readAgain}
      onClose={onClose}
    >
      <Facts
        of={[
          ['Before', <code key="before">{step.selector}</code>],
          ['After', <code key="after">{selector}</code>],
        ]}
      />
      <p>
        Changes the draft. Visitors see the change once you publish it. {flow.hasDraft && alsoDraft}
      </p>
    </Confirm>
  )
}

/** Puts the selector that would find the element into the draft. */
export const Repair = ({ candidate, ...acting }: Acting & { candidate: Candidate }) => (
  <Opener look="primary" label="Use in draft">
    {close => <RepairDialog {...acting} selector={candidate.selector} body={{}} onClose={close} />}
  </Opener>
)

/** Puts the selector of an element picked on the page into the draft. */
export function Pick(acting: Acting) {
  const picked = useSignal<string | null>(null)
  const isAlone = useSignal(false)
  const { flow, step } = acting
  return (
    <>
      <PickOnPage
        flowKey={flow.key}
        stepKey={step.step}
        onPicked={({ selector, alternates }) => {
          picked.value = selector
          // A selector that also finds other elements comes without alternates.
          isAlone.value = alternates !== undefined
        }}
      />
      {picked.value !== null && (
        <RepairDialog
          {...acting}
          selector={picked.value}
          body={{ selector: picked.value, alone: isAlone.value }}
          onClose={() => (picked.value = null)}
        />
      )}
    </>
  )
}

/** Makes the draft remember what the element was like. */
export function Pin({ flow, step, title }: Acting) {
  const pin = async () => {
    const body = { flow: flow.key, step: step.step }
    const { steps } = await act<PinAnswer>('/manage/pin', { body })
    const { outcome } = steps[0]!
    const sentence = pinned[outcome]
    const hasDraft = outcome === 'pinned' || outcome === 'already pinned'
    say(hasDraft ? <WithDraft flowKey={flow.key}>{sentence}</WithDraft> : sentence)
    readAgain()
  }
  return (
    <Opener label="Save element snapshot">
      {close => (
        <Confirm
          title={`Save the element snapshot of “${title}”?`}
          verb="Save snapshot"
          act={pin}
          onClose={close}
        >
          <p>
            Saves the element snapshot in the draft. Once published, pages use it when no selector
            matches. {flow.hasDraft && alsoDraft}
          </p>
        </Confirm>
      )}
    </Opener>
  )
}
