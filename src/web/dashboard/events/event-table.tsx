import { browserZone } from '../analytics/zone.ts'
import { may } from '../api/session.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { formatSecondOfDay } from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import type { SeenEvent } from './watch.ts'

/** The name of a flow by its key. */
type NameOf = (flowKey: string) => string

const toneOfVerdict: Record<SeenEvent['verdict'], Tone> = {
  accepted: 'good',
  duplicate: 'neutral',
  rejected: 'bad',
}

export const verdictNames: Record<SeenEvent['verdict'], string> = {
  accepted: 'Accepted',
  duplicate: 'Duplicate',
  rejected: 'Rejected',
}

/** The kind of an event in words: `step_viewed` is "Step viewed". */
export const kindName = (kind: string): string =>
  kind === 'custom'
    ? 'Custom event'
    : `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll('_', ' ')}`

function Flow({
  event: { flowKey, flowId, stepKey, stepId },
  nameOf,
}: {
  event: SeenEvent
  nameOf: NameOf
}) {
  const step = stepKey ?? stepId
  if (!flowId && !step) return null
  return (
    <span class="event-place">
      {flowKey ? (
        <a class="row-link" href={addressOf(['flows', flowKey])}>
          {nameOf(flowKey)}
        </a>
      ) : (
        flowId && <span class="break">Unknown flow {flowId}</span>
      )}
      {step && <span class="row-note fine break">{step}</span>}
    </span>
  )
}

/** Whether the event was stored, and if not, why. */
function Result({ event: { verdict, code, message } }: { event: SeenEvent }) {
  const why = verdict === 'duplicate' ? 'Already stored. The first event counts.' : message
  return (
    <span class="event-place">
      <Badge tone={toneOfVerdict[verdict]}>{verdictNames[verdict]}</Badge>
      {why && (
        <span class="row-note fine" title={code ?? undefined}>
          {why}
        </span>
      )}
    </span>
  )
}

const columnsOf = (nameOf: NameOf): Column<SeenEvent>[] => [
  {
    name: 'Event',
    isTitle: true,
    value: ({ kind }) => (kind ? kindName(kind) : 'No kind'),
    cell: ({ kind, name }) => (
      <>
        {kind ? kindName(kind) : 'No kind'}
        {name && <span class="row-note fine break">{name}</span>}
      </>
    ),
  },
  {
    name: 'Time',
    value: ({ receivedAt }) => receivedAt,
    cell: ({ receivedAt }) => (
      <time dateTime={receivedAt}>{formatSecondOfDay(receivedAt, browserZone)}</time>
    ),
  },
  {
    name: 'Result',
    value: ({ verdict }) => verdictNames[verdict],
    cell: event => <Result event={event} />,
  },
  {
    name: 'Flow',
    value: ({ flowKey }) => (flowKey ? nameOf(flowKey) : null),
    cell: event => Flow({ event, nameOf }),
  },
  {
    name: 'Page',
    value: ({ url }) => url ?? null,
    cell: ({ url }) => url && <span class="break">{url}</span>,
  },
]

const personOf = ({ userId, anonymousId }: SeenEvent) =>
  userId ?? (anonymousId ? `Visitor ${anonymousId}` : null)

const person: Column<SeenEvent> = {
  name: 'Person',
  value: personOf,
  cell: event => <span class="break">{personOf(event)}</span>,
}

/** Events with their results, and with their people for those who may see them. */
export const EventTable = ({
  events,
  nameOf,
}: {
  events: readonly SeenEvent[]
  nameOf: NameOf
}) => (
  <Table
    caption="Events as they arrived, newest first"
    class="event-table"
    columns={may('people:read') ? [...columnsOf(nameOf), person] : columnsOf(nameOf)}
    rows={events}
    keyOf={({ number }) => number}
  />
)
