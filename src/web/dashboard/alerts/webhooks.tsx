import { type Signal, useSignal } from '@preact/signals'
import type {
  DeliveryJson,
  WebhookJson,
  WebhookList,
  WebhookWithSecret,
} from '../../../modules/alerts/schema.ts'
import { useAction } from '../api/action.ts'
import { forgetReading, readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Rotate } from '../organisations/rotate.tsx'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { alertWords as words } from '../words/alerts.ts'
import { ChooseTypes, NewWebhook } from './new-webhook.tsx'
import { Refused } from './refused.tsx'
import { webhookPath as at } from './saving.ts'
import { hostOf, WebhookTable } from './webhook-table.tsx'

/** The webhooks that messages are sent to, and all that can be done with them. */
export function Webhooks({
  of: { webhooks },
  statusText,
}: {
  of: WebhookList
  statusText: Signal<string | null>
}) {
  const { refused, run } = useAction()
  const isAdding = useSignal(false)
  const shown = useSignal<WebhookWithSecret | null>(null)
  const rotated = useSignal<WebhookJson | null>(null)
  const choosing = useSignal<WebhookJson | null>(null)
  const removed = useSignal<WebhookJson | null>(null)
  const actions = {
    test: (webhook: WebhookJson) =>
      run(async () => {
        const sent = await act<DeliveryJson>(at(webhook, '/test'), {})
        const why = sent.status === null ? (sent.fault ?? '') : words.responded(sent.status)
        statusText.value =
          sent.state === 'delivered'
            ? words.arrived(hostOf(webhook), sent.status ?? 0)
            : words.notArrived(hostOf(webhook), why)
        readAgain()
      }),
    turn: (webhook: WebhookJson, on: boolean) =>
      run(async () => {
        await act(at(webhook), { method: 'PATCH', body: { on } })
        statusText.value = words.switched(hostOf(webhook), on)
        readAgain()
      }),
    choose: (webhook: WebhookJson) => (choosing.value = webhook),
    rotate: (webhook: WebhookJson) => (rotated.value = webhook),
    remove: (webhook: WebhookJson) => (removed.value = webhook),
  }
  return (
    <>
      <Refused of={refused.value} />
      {shown.value && (
        <div class="shown-once">
          <h4>{words.shown}</h4>
          <Code name={words.shown}>{shown.value.secret}</Code>
          <p class="hint">{words.shownWhy}</p>
          <Button onClick={() => (shown.value = null)}>{words.done}</Button>
        </div>
      )}
      {webhooks.length === 0 ? (
        <p class="hint">
          {words.none}. {words.noneWhy}
        </p>
      ) : (
        <WebhookTable webhooks={webhooks} actions={actions} />
      )}
      <div class="row-actions">
        <Button onClick={() => (isAdding.value = true)}>{words.add}</Button>
      </div>
      {isAdding.value && (
        <NewWebhook
          onMade={made => {
            shown.value = made
            statusText.value = words.added(hostOf(made), made.types.length)
          }}
          onClose={() => (isAdding.value = false)}
        />
      )}
      {choosing.value && (
        <ChooseTypes
          of={choosing.value}
          onChosen={changed =>
            (statusText.value = words.chose(hostOf(changed), changed.types.length))
          }
          onClose={() => (choosing.value = null)}
        />
      )}
      {rotated.value && (
        <Rotate<WebhookWithSecret>
          path={at(rotated.value, '/rotate')}
          title={words.rotateTitle(hostOf(rotated.value))}
          verb={words.rotateVerb}
          why={words.rotateWhy}
          onRotated={made => {
            shown.value = made
            statusText.value = words.rotated(hostOf(made))
          }}
          onClose={() => (rotated.value = null)}
        />
      )}
      {removed.value && (
        <Confirm
          title={words.removeTitle(hostOf(removed.value))}
          verb={words.removeVerb}
          isDanger
          act={async () => {
            await act(at(removed.value!), { method: 'DELETE' })
            forgetReading(at(removed.value!, '/deliveries'))
            statusText.value = words.removed(hostOf(removed.value!))
            readAgain()
          }}
          onClose={() => (removed.value = null)}
        >
          <p>{words.removeWhy}</p>
        </Confirm>
      )}
    </>
  )
}
