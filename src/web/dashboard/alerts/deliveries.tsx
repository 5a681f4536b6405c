import type { DeliveryJson, DeliveryList, WebhookJson } from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useAction } from '../api/action.ts'
import { readAgain, soonMs, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Rejection } from '../parts/rejection.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { mailsPath, webhooksPath } from './saving.ts'

const words = {
  tries: (count: number) => `${count} ${count === 1 ? 'attempt' : 'attempts'}`,
  next: (age: string) => `next ${age}`,
  deliveryStates: { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' },
  replayOf: (type: string, id: string) => `Send again: ${type} ${id}`,
  deliveriesOf: (host: string) => `Messages to ${host} in the last 7 days`,
  replayed: () => 'Queued to be sent again.',
}

const tones: Readonly<Record<DeliveryJson['state'], Tone>> = {
  pending: 'accent',
  delivered: 'good',
  failed: 'bad',
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
          {words.tries(attempts)}
          {nextAt && attempts > 0 && `, ${words.next(momentHere(nextAt))}`}
        </span>
      </>
    ),
  },
  {
    name: 'Status',
    cell: ({ state }) => <Badge tone={tones[state]}>{words.deliveryStates[state]}</Badge>,
  },
]

const replayColumn = (replay: (delivery: DeliveryJson) => void): Column<DeliveryJson> => ({
  head: <span class="unseen">Send again</span>,
  name: '',
  cell: delivery => (
    <span class="row-actions">
      {delivery.state !== 'pending' && (
        <Button
          aria-label={words.replayOf(delivery.type, delivery.id)}
          onClick={() => replay(delivery)}
        >
          Send again
        </Button>
      )}
    </span>
  ),
})

/** Messages to a webhook, each with a button to replay it. */
export function Deliveries({ of: { id, url } }: { of: WebhookJson }) {
  const path = `${webhooksPath}/${encodeURIComponent(id)}/deliveries`
  const caption = words.deliveriesOf(new URL(url).host)
  const list = useRead<DeliveryList>(path, soonMs)
  const { refused, run } = useAction()
  const replay = (delivery: DeliveryJson) =>
    run(async () => {
      await act(`${path}/${encodeURIComponent(delivery.id)}/replay`, {})
      say(words.replayed())
      readAgain()
    })
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
              columns={[...columns, replayColumn(replay)]}
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
