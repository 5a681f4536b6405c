import type { WebhookJson } from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { alertWords as words } from '../words/alerts.ts'
import { formatAge } from '../words/time.ts'

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
  const name = disabledAt !== null ? words.off : failingSince !== null ? words.failing : words.on
  const isDouble = oldSecretUntil !== null && Date.parse(oldSecretUntil) > Date.now()
  return (
    <>
      <Badge tone={tone}>{name}</Badge>
      <span class="row-note">
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
    name: words.address,
    isTitle: true,
    cell: webhook => (
      <>
        <span class="webhook-url">{webhook.url}</span>
        <span class="row-note">{words.subscribed(webhook.types)}</span>
        <span class="row-note">
          <a href={addressOf(['settings', 'alerts'], { webhook: webhook.id })}>
            {words.deliveries}
          </a>
        </span>
      </>
    ),
  },
  { name: words.state, cell: webhook => <State of={webhook} /> },
  {
    head: <span class="unseen">{words.test}</span>,
    name: '',
    cell: webhook => {
      const isOn = webhook.disabledAt === null
      const of = (verb: string) => `${verb} ${hostOf(webhook)}`
      return (
        <span class="row-actions webhook-actions">
          <Button aria-label={words.testOf(hostOf(webhook))} onClick={() => test(webhook)}>
            {words.test}
          </Button>
          <Button
            aria-label={of(isOn ? words.switchOff : words.switchOn)}
            onClick={() => turn(webhook, !isOn)}
          >
            {isOn ? words.switchOff : words.switchOn}
          </Button>
          <Button aria-label={of(words.choose)} onClick={() => choose(webhook)}>
            {words.choose}
          </Button>
          <Button aria-label={of(words.rotate)} onClick={() => rotate(webhook)}>
            {words.rotate}
          </Button>
          <Button look="danger" aria-label={of(words.remove)} onClick={() => remove(webhook)}>
            {words.remove}
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
}) => (
  <Table
    caption={words.caption}
    columns={columns(actions)}
    rows={webhooks}
    keyOf={({ id }) => id}
  />
)
