import type { DeliveryJson, DeliveryList, WebhookJson } from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useAction } from '../api/action.ts'
import { readAgain, soonMs, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Rejection } from '../parts/rejection.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { hostOf, mailsPath, webhookPath } from './saving.ts'

const states: Readonly<Record<DeliveryJson['state'], readonly [Tone, string]>> = {
  pending: ['accent', 'Pending'],
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
}

const columns: Column<DeliveryJson>[] = [
  {
    name: 'Message',
    isTitle: true,
    cell: ({ type, mail, id, body }) => (
      <>
        {mail ?? type}
        <span class="row-note fine">
          <code>{id}</code>
        </span>
        <details class="sent-body">
          <summary>Message body</summary>
          <pre>{JSON.stringify(JSON.parse(body), null, 2)}</pre>
        </details>
      </>
    ),
  },
  {
    name: 'Created',
    cell: ({ createdAt }) => momentHere(createdAt),
  },
  {
    name: 'Response',
    cell: ({ status, fault, attempts, nextAt }) => (
      <>
        {status ?? fault ?? '–'}
        <span class="row-note fine">
          {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
          {nextAt && attempts > 0 && `, next ${momentHere(nextAt)}`}
        </span>
      </>
    ),
  },
  {
    name: 'Status',
    cell: ({ state }) => <Badge tone={states[state][0]}>{states[state][1]}</Badge>,
  },
]

/** Messages to a webhook, each with a button to replay it. */
export function Deliveries({ of: webhook }: { of: WebhookJson }) {
  const path = webhookPath(webhook, '/deliveries')
  const caption = `Messages to ${hostOf(webhook)} in the last 7 days`
  const list = useRead<DeliveryList>(path, soonMs)
  const { refused, run } = useAction()
  const replay = (delivery: DeliveryJson) =>
    run(async () => {
      await act(`${path}/${encodeURIComponent(delivery.id)}/replay`, {})
      say('Queued to be sent again.')
      readAgain()
    })
  const replayColumn = actionsColumn<DeliveryJson>(
    delivery =>
      delivery.state !== 'pending' && (
        <Button
          aria-label={`Send again: ${delivery.type} ${delivery.id}`}
          onClick={() => replay(delivery)}
        >
          Send again
        </Button>
      ),
  )
  return (
    <>
      <div class="part-head">
        <h3>{caption}</h3>
        <a href={addressOf(['settings', 'webhooks'])}>All webhooks</a>
      </div>
      <Rejection failure={refused.value} />
      <Reading of={list} lines={4}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <Notice title="No messages yet">Send a test, or wait for the first alert.</Notice>
          ) : (
            <Table
              caption={caption}
              columns={[...columns, replayColumn]}
              rows={deliveries}
              keyOf={delivery => delivery.id}
            />
          )
        }
      </Reading>
    </>
  )
}

/** Mails of the weekly report. */
export function Mails() {
  const list = useRead<DeliveryList>(mailsPath, soonMs)
  return (
    <>
      <h3>Mails of the last seven days</h3>
      <Reading of={list} lines={2}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <p class="hint">No mail was sent in the last seven days.</p>
          ) : (
            <Table
              caption="Mails of the last seven days"
              columns={columns}
              rows={deliveries}
              keyOf={delivery => delivery.id}
            />
          )
        }
      </Reading>
    </>
  )
}
