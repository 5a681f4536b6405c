import { useSignal } from '@preact/signals'
import type { WebhookList, WebhookWithSecret } from '../../../modules/alerts/schema.ts'
import { useRead } from '../api/read.ts'
import { Opener } from '../parts/opener.tsx'
import { ShownOnce } from '../parts/shown-once.tsx'
import { say } from '../parts/toast.tsx'
import { useFilters } from '../shell/address.ts'
import { Missing, Notice, Reading } from '../shell/states.tsx'
import { Deliveries } from './deliveries.tsx'
import { NewWebhook, typesOf } from './new-webhook.tsx'
import { hostOf, webhooksPath } from './saving.ts'
import { WebhookTable } from './webhook-table.tsx'

function Webhooks({ of: { webhooks } }: { of: WebhookList }) {
  const shown = useSignal<WebhookWithSecret | null>(null)
  const add = (
    <Opener look="primary" label="Add webhook">
      {close => (
        <NewWebhook
          onMade={made => {
            shown.value = made
            say(`Added ${hostOf(made)} for ${typesOf(made)}.`)
          }}
          onClose={close}
        />
      )}
    </Opener>
  )
  return (
    <>
      {shown.value && (
        <ShownOnce
          title="Secret of the webhook"
          name="Secret of the webhook"
          secret={shown.value.secret}
          hint="Receivers verify messages with it. Copy it now: it is shown only once."
          onDone={() => (shown.value = null)}
        />
      )}
      {webhooks.length === 0 ? (
        <Notice icon="activity" title="No webhooks" actions={add}>
          Add one to get a message when an alert opens or is resolved.
        </Notice>
      ) : (
        <>
          <WebhookTable webhooks={webhooks} onRotated={made => (shown.value = made)} />
          <p>{add}</p>
        </>
      )}
    </>
  )
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
