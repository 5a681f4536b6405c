import { useSignal } from '@preact/signals'
import type {
  DeliveryJson,
  WebhookJson,
  WebhookList,
  WebhookWithSecret,
} from '../../../modules/alerts/schema.ts'
import { useAction } from '../api/action.ts'
import { forgetReading, readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Rotate } from '../organisations/rotate.tsx'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Rejection } from '../parts/rejection.tsx'
import { say } from '../parts/toast.tsx'
import { useFilters } from '../shell/address.ts'
import { Missing, Notice, Reading } from '../shell/states.tsx'
import { Deliveries } from './deliveries.tsx'
import { ChooseTypes, NewWebhook } from './new-webhook.tsx'
import { webhookPath as at, webhooksPath } from './saving.ts'
import { hostOf, WebhookTable } from './webhook-table.tsx'

const words = {
  responded: (status: number) => `it returned ${status}`,
  arrived: (host: string, status: number) => `Test delivered: ${host} returned ${status}.`,
  notArrived: (host: string, why: string) => `Test not delivered to ${host}: ${why}.`,
  switched: (host: string, isOn: boolean) => `${isOn ? 'Enabled' : 'Disabled'} ${host}.`,
  added: (host: string, types: number) => `Added ${host} for ${typesOf(types)}.`,
  chose: (host: string, types: number) => `${host} now gets ${typesOf(types)}.`,
  rotateTitle: (host: string) => `Rotate the secret of ${host}`,
  rotated: (host: string) => `${host} has a new secret.`,
  removeTitle: (host: string) => `Delete ${host}`,
  removed: (host: string) => `Deleted ${host}.`,
}

/** The webhooks that messages are sent to, or the messages to one of them. */
export function WebhooksSection() {
  const list = useRead<WebhookList>(webhooksPath)
  const { filters } = useFilters()
  return (
    <Reading of={list} lines={2}>
      {data => {
        if (!filters.webhook) return <Webhooks of={data} />
        const chosen = data.webhooks.find(({ id }) => id === filters.webhook)
        return chosen ? <Deliveries of={chosen} /> : <Missing />
      }}
    </Reading>
  )
}

/** What is sent to a webhook, in a sentence. */
const typesOf = (types: number) =>
  types === 0 ? 'all message types' : types === 1 ? 'one message type' : `${types} message types`

function Webhooks({ of: { webhooks } }: { of: WebhookList }) {
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
        say(
          sent.state === 'delivered'
            ? words.arrived(hostOf(webhook), sent.status ?? 0)
            : words.notArrived(hostOf(webhook), why),
        )
        readAgain()
      }),
    turn: (webhook: WebhookJson, on: boolean) =>
      run(async () => {
        await act(at(webhook), { method: 'PATCH', body: { on } })
        say(words.switched(hostOf(webhook), on))
        readAgain()
      }),
    choose: (webhook: WebhookJson) => (choosing.value = webhook),
    rotate: (webhook: WebhookJson) => (rotated.value = webhook),
    remove: (webhook: WebhookJson) => (removed.value = webhook),
  }
  const add = (
    <Button look="primary" onClick={() => (isAdding.value = true)}>
      Add webhook
    </Button>
  )
  return (
    <>
      <Rejection failure={refused.value} />
      {shown.value && (
        <div class="shown-once">
          <h3>Secret of the webhook</h3>
          <Code name="Secret of the webhook">{shown.value.secret}</Code>
          <p class="hint">Receivers verify messages with it. Copy it now: it is shown only once.</p>
          <Button onClick={() => (shown.value = null)}>Done</Button>
        </div>
      )}
      {webhooks.length === 0 ? (
        <Notice icon="activity" title="No webhooks" actions={add}>
          Add one to get a message when an alert opens or is resolved.
        </Notice>
      ) : (
        <>
          <WebhookTable webhooks={webhooks} actions={actions} />
          <p>{add}</p>
        </>
      )}
      {isAdding.value && (
        <NewWebhook
          onMade={made => {
            shown.value = made
            say(words.added(hostOf(made), made.types.length))
          }}
          onClose={() => (isAdding.value = false)}
        />
      )}
      {choosing.value && (
        <ChooseTypes
          of={choosing.value}
          onChosen={changed => say(words.chose(hostOf(changed), changed.types.length))}
          onClose={() => (choosing.value = null)}
        />
      )}
      {rotated.value && (
        <Rotate<WebhookWithSecret>
          path={at(rotated.value, '/rotate')}
          title={words.rotateTitle(hostOf(rotated.value))}
          verb="Rotate secret"
          why="Creates a new secret. Messages are signed with both until the grace period ends."
          onRotated={made => {
            shown.value = made
            say(words.rotated(hostOf(made)))
          }}
          onClose={() => (rotated.value = null)}
        />
      )}
      {removed.value && (
        <Confirm
          title={words.removeTitle(hostOf(removed.value))}
          verb="Delete webhook"
          isDanger
          act={async () => {
            await act(at(removed.value!), { method: 'DELETE' })
            forgetReading(at(removed.value!, '/deliveries'))
            say(words.removed(hostOf(removed.value!)))
            readAgain()
          }}
          onClose={() => (removed.value = null)}
        >
          <p>Cairn sends no more messages there and deletes its deliveries.</p>
        </Confirm>
      )}
    </>
  )
}
