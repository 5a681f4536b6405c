import type {
  DeliveryJson,
  WebhookJson,
  WebhookWithSecret,
} from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useAction } from '../api/action.ts'
import { forgetReading, readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Rotate } from '../organisations/rotate.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { formatAge } from '../parts/format.ts'
import { Opener } from '../parts/opener.tsx'
import { Rejection } from '../parts/rejection.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf } from '../shell/address.ts'
import { ChooseTypes } from './new-webhook.tsx'
import { hostOf, webhookPath } from './saving.ts'

const disabledWhys = {
  asked: 'Disabled by an owner',
  gone: 'The receiver no longer exists',
  failing: 'Deliveries failed for 5 days',
}

/** Whether a webhook works, and why. */
function stateOf({ disabledAt, disabledWhy, failingSince, oldSecretUntil }: WebhookJson) {
  if (disabledAt !== null) {
    return ['neutral', 'Disabled', disabledWhy && disabledWhys[disabledWhy]] as const
  }
  if (failingSince !== null) {
    return ['bad', 'Failing', `Failing since ${formatAge(failingSince)}`] as const
  }
  const isDouble = oldSecretUntil !== null && Date.parse(oldSecretUntil) > Date.now()
  const until = isDouble && `The old secret is valid until ${momentHere(oldSecretUntil)}`
  return ['good', 'Enabled', until] as const
}

const columns: Column<WebhookJson>[] = [
  {
    name: 'Address',
    isTitle: true,
    cell: ({ id, url, types }) => (
      <>
        <span class="webhook-url">{url}</span>
        <span class="row-note fine">{types.join(', ') || 'All message types'}</span>
        <span class="row-note fine">
          <a href={addressOf(['settings', 'webhooks'], { webhook: id })}>Deliveries</a>
        </span>
      </>
    ),
  },
  {
    name: 'Status',
    cell: webhook => {
      const [tone, name, why] = stateOf(webhook)
      return (
        <>
          <Badge tone={tone}>{name}</Badge>
          <span class="row-note fine">{why}</span>
        </>
      )
    },
  },
]

async function sendTest(webhook: WebhookJson): Promise<void> {
  const host = hostOf(webhook)
  const { state, status, fault } = await act<DeliveryJson>(webhookPath(webhook, '/test'), {})
  const why = status === null ? (fault ?? '') : `it returned ${status}`
  say(
    state === 'delivered'
      ? `Test delivered: ${host} returned ${status}.`
      : `Test not delivered to ${host}: ${why}.`,
  )
  readAgain()
}

async function turn(webhook: WebhookJson, on: boolean): Promise<void> {
  await act(webhookPath(webhook), { method: 'PATCH', body: { on } })
  say(`${on ? 'Enabled' : 'Disabled'} ${hostOf(webhook)}.`)
  readAgain()
}

async function remove(webhook: WebhookJson): Promise<void> {
  await act(webhookPath(webhook), { method: 'DELETE' })
  forgetReading(webhookPath(webhook, '/deliveries'))
  say(`Deleted ${hostOf(webhook)}.`)
  readAgain()
}

/** The webhooks that messages are sent to, and what can be done with each. */
export function WebhookTable({
  webhooks,
  onRotated,
}: {
  webhooks: readonly WebhookJson[]
  onRotated: (made: WebhookWithSecret) => void
}) {
  const { refused, run } = useAction()
  const buttons = (webhook: WebhookJson) => {
    const host = hostOf(webhook)
    const isOn = webhook.disabledAt === null
    const verb = isOn ? 'Disable' : 'Enable'
    return (
      <>
        <Button aria-label={`Send test to ${host}`} onClick={() => run(() => sendTest(webhook))}>
          Send test
        </Button>
        <Button aria-label={`${verb} ${host}`} onClick={() => run(() => turn(webhook, !isOn))}>
          {verb}
        </Button>
        <Opener label="Choose types" aria-label={`Choose types ${host}`}>
          {close => <ChooseTypes of={webhook} onClose={close} />}
        </Opener>
        <Opener label="Rotate secret" aria-label={`Rotate secret ${host}`}>
          {close => (
            <Rotate<WebhookWithSecret>
              path={webhookPath(webhook, '/rotate')}
              title={`Rotate the secret of ${host}`}
              verb="Rotate secret"
              why="Creates a new secret. Messages are signed with both until the grace period ends."
              onRotated={made => {
                onRotated(made)
                say(`${host} has a new secret.`)
              }}
              onClose={close}
            />
          )}
        </Opener>
        <ConfirmButton
          label="Delete"
          name={`Delete ${host}`}
          title={`Delete ${host}`}
          verb="Delete webhook"
          isDanger
          act={() => remove(webhook)}
        >
          <p>Cairn sends no more messages there and deletes its deliveries.</p>
        </ConfirmButton>
      </>
    )
  }
  return (
    <>
      <Rejection failure={refused.value} />
      <Table
        caption="Webhooks"
        columns={[...columns, actionsColumn(buttons)]}
        rows={webhooks}
        keyOf={({ id }) => id}
      />
    </>
  )
}
