import type { Signal } from '@preact/signals'
import type { DeliveryJson, DeliveryList, WebhookJson } from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useAction } from '../api/action.ts'
import { readAgain, soonMs, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { alertWords as words } from '../words/alerts.ts'
import { Refused } from './refused.tsx'
import { mailsPath, webhooksPath } from './saving.ts'

const tones: Readonly<Record<DeliveryJson['state'], Tone>> = {
  pending: 'accent',
  delivered: 'good',
  failed: 'bad',
}

const columns: Column<DeliveryJson>[] = [
  {
    name: words.message,
    isTitle: true,
    cell: ({ type, mail, id, body }) => (
      <>
        {mail ?? type}
        <span class="row-note">
          <code>{id}</code>
        </span>
        <details class="sent-body">
          <summary>{words.body}</summary>
          <pre>{JSON.stringify(JSON.parse(body), null, 2)}</pre>
        </details>
      </>
    ),
  },
  {
    name: words.made,
    cell: ({ createdAt }) => momentHere(createdAt),
  },
  {
    name: words.response,
    cell: ({ status, fault, attempts, nextAt }) => (
      <>
        {status ?? fault ?? '–'}
        <span class="row-note">
          {words.tries(attempts)}
          {nextAt && attempts > 0 && `, ${words.next(momentHere(nextAt))}`}
        </span>
      </>
    ),
  },
  {
    name: words.state,
    cell: ({ state }) => <Badge tone={tones[state]}>{words.deliveryStates[state]}</Badge>,
  },
]

const replayColumn = (replay: (delivery: DeliveryJson) => void): Column<DeliveryJson> => ({
  head: <span class="unseen">{words.replay}</span>,
  name: '',
  cell: delivery => (
    <span class="row-actions">
      {delivery.state !== 'pending' && (
        <Button
          aria-label={words.replayOf(delivery.type, delivery.id)}
          onClick={() => replay(delivery)}
        >
          {words.replay}
        </Button>
      )}
    </span>
  ),
})

/** Messages to a webhook, each with a button to replay it. */
export function Deliveries({
  of: { id, url },
  statusText,
}: {
  of: WebhookJson
  statusText: Signal<string | null>
}) {
  const path = `${webhooksPath}/${encodeURIComponent(id)}/deliveries`
  const caption = words.deliveriesOf(new URL(url).host)
  const list = useRead<DeliveryList>(path, soonMs)
  const { refused, run } = useAction()
  const replay = (delivery: DeliveryJson) =>
    run(async () => {
      await act(`${path}/${encodeURIComponent(delivery.id)}/replay`, {})
      statusText.value = words.replayed(delivery.id)
      readAgain()
    })
  return (
    <>
      <div class="part-head">
        <h3>{caption}</h3>
        <a href={addressOf(['settings', 'alerts'])}>{words.back}</a>
      </div>
      <Refused of={refused.value} />
      <Reading of={list} lines={4}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <Notice title={words.nothingSent}>{words.nothingSentWhy}</Notice>
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
      <h4>{words.mailsSent}</h4>
      <Reading of={list} lines={2}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <p class="hint">{words.noMailSent}</p>
          ) : (
            <Table
              caption={words.mailsSent}
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
