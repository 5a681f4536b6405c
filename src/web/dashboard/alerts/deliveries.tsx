import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Delivery, DeliveryList, Webhook } from '../../../modules/alerts/schema.ts'
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

const tones: Readonly<Record<Delivery['state'], Tone>> = {
  pending: 'accent',
  delivered: 'good',
  failed: 'bad',
}

const columns = (replay: (delivery: Delivery) => void): Column<Delivery>[] => [
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
    name: words.answer,
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
  {
    head: <span class="unseen">{words.replay}</span>,
    name: '',
    cell: delivery => (
      <span class="row-actions">
        {delivery.state !== 'pending' && (
          <Button
            aria-label={words.replayOf(delivery.mail ?? delivery.type, delivery.id)}
            onClick={() => replay(delivery)}
          >
            {words.replay}
          </Button>
        )}
      </span>
    ),
  },
]

/** What was sent and what is waiting, each with a button to replay it. */
function Sent({
  path,
  caption,
  empty,
  said,
}: {
  path: string
  caption: string
  /** Shown if there are none. */
  empty: ComponentChildren
  said: Signal<string | null>
}) {
  const list = useRead<DeliveryList>(path, soonMs)
  const { refused, run } = useAction()
  const replay = (delivery: Delivery) =>
    run(async () => {
      await act(`${path}/${encodeURIComponent(delivery.id)}/replay`, {})
      said.value = words.replayed(delivery.id)
      readAgain()
    })
  return (
    <>
      <Refused of={refused.value} />
      <Reading of={list} lines={4}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            empty
          ) : (
            <Table
              caption={caption}
              columns={columns(replay)}
              rows={deliveries}
              keyOf={delivery => delivery.id}
            />
          )
        }
      </Reading>
    </>
  )
}

/** What was sent to a webhook, and what is waiting. */
export function Deliveries({
  of: { id, url },
  ...props
}: {
  of: Webhook
  said: Signal<string | null>
}) {
  const caption = words.deliveriesOf(new URL(url).host)
  return (
    <>
      <div class="part-head">
        <h3>{caption}</h3>
        <a href={addressOf(['settings', 'alerts'])}>{words.back}</a>
      </div>
      <Sent
        path={`${webhooksPath}/${encodeURIComponent(id)}/deliveries`}
        caption={caption}
        empty={<Notice title={words.nothingSent}>{words.nothingSentWhy}</Notice>}
        {...props}
      />
    </>
  )
}

/** The mails of the weekly report, and what became of each. */
export const Mails = (props: { said: Signal<string | null> }) => (
  <>
    <h4>{words.mailsSent}</h4>
    <Sent
      path={mailsPath}
      caption={words.mailsSent}
      empty={<p class="hint">{words.noMailSent}</p>}
      {...props}
    />
  </>
)
