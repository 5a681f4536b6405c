import type { WebhookJson } from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { formatAge } from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'

const words = {
  offWhy: {
    asked: 'Disabled by an owner',
    gone: 'The receiver no longer exists',
    failing: 'Deliveries failed for 5 days',
  },
  since: (age: string) => `Failing since ${age}`,
  doubly: (moment: string) => `The old secret is valid until ${moment}`,
  subscribed: (types: readonly string[]) =>
    types.length === 0 ? 'All message types' : types.join(', '),
  testOf: (host: string) => `Send test to ${host}`,
}

/** What can be done with a webhook. */
export interface WebhookActions {
  test: (webhook: WebhookJson) => void
  turn: (webhook: WebhookJson, on: boolean) => void
  choose: (webhook: WebhookJson) => void
  rotate: (webhook: WebhookJson) => void
  remove: (webhook: WebhookJson) => void
}

export const hostOf = ({ url }: { url: string }) => new URL(url).host

function State({ of }: { of: WebhookJson }) {
  const { disabledAt, disabledWhy, failingSince, oldSecretUntil } = of
  const tone = disabledAt !== null ? 'neutral' : failingSince !== null ? 'bad' : 'good'
  const name = disabledAt !== null ? 'Disabled' : failingSince !== null ? 'Failing' : 'Enabled'
  const isDouble = oldSecretUntil !== null && Date.parse(oldSecretUntil) > Date.now()
  return (
    <>
      <Badge tone={tone}>{name}</Badge>
      <span class="row-note fine">
        {disabledAt !== null && disabledWhy !== null && words.offWhy[disabledWhy]}
        {disabledAt === null && failingSince !== null && words.since(formatAge(failingSince))}
        {disabledAt === null &&
          failingSince === null &&
          isDouble &&
          words.doubly(momentHere(oldSecretUntil))}
      </span>
    </>
  )
}

const columns = ({ test, turn, choose, rotate, remove }: WebhookActions): Column<WebhookJson>[] => [
  {
    name: 'Address',
    isTitle: true,
    cell: webhook => (
      <>
        <span class="webhook-url">{webhook.url}</span>
        <span class="row-note fine">{words.subscribed(webhook.types)}</span>
        <span class="row-note fine">
          <a href={addressOf(['settings', 'webhooks'], { webhook: webhook.id })}>Deliveries</a>
        </span>
      </>
    ),
  },
  { name: 'Status', cell: webhook => <State of={webhook} /> },
  {
    head: <span class="unseen">Send test</span>,
    name: '',
    cell: webhook => {
      const isOn = webhook.disabledAt === null
      const of = (verb: string) => `${verb} ${hostOf(webhook)}`
      return (
        <span class="row-actions">
          <Button aria-label={words.testOf(hostOf(webhook))} onClick={() => test(webhook)}>
            Send test
          </Button>
          <Button aria-label={of(isOn ? 'Disable' : 'Enable')} onClick={() => turn(webhook, !isOn)}>
            {isOn ? 'Disable' : 'Enable'}
          </Button>
          <Button aria-label={of('Choose types')} onClick={() => choose(webhook)}>
            Choose types
          </Button>
          <Button aria-label={of('Rotate secret')} onClick={() => rotate(webhook)}>
            Rotate secret
          </Button>
          <Button look="danger" aria-label={of('Delete')} onClick={() => remove(webhook)}>
            Delete
          </Button>
        </span>
      )
    },
  },
]

/** The webhooks that messages are sent to. */
export const WebhookTable = ({
  webhooks,
  actions,
}: {
  webhooks: readonly WebhookJson[]
  actions: WebhookActions
}) => <Table caption="Webhooks" columns={columns(actions)} rows={webhooks} keyOf={({ id }) => id} />
