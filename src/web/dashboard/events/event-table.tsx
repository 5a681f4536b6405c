import { may } from '../api/session.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { activityWords as words } from '../words/activity.ts'
import { formatSecondOfDay } from '../words/time.ts'
import type { SeenEvent } from './watch.ts'

const toneOfVerdict: Record<SeenEvent['verdict'], Tone> = {
  accepted: 'good',
  duplicate: 'neutral',
  rejected: 'bad',
}

function Flow({ event: { flowKey, flowId, stepKey, stepId } }: { event: SeenEvent }) {
  const step = stepKey ?? stepId
  if (!flowId && !step) return null
  return (
    <span class="event-place">
      {flowKey ? (
        <a class="row-link" href={addressOf(['flows', flowKey])}>
          {flowKey}
        </a>
      ) : (
        flowId && <span class="address">{words.otherFlow(flowId)}</span>
      )}
      {step && <span class="row-note address">{step}</span>}
    </span>
  )
}

function Verdict({ event: { verdict, code, message } }: { event: SeenEvent }) {
  const why = verdict === 'duplicate' ? words.duplicateWhy : message
  return (
    <span class="event-place">
      <Badge tone={toneOfVerdict[verdict]}>{words.verdicts[verdict]}</Badge>
      {why && (
        <span class="row-note">
          {code && (
            <>
              <code>{code}</code>{' '}
            </>
          )}
          {why}
        </span>
      )}
    </span>
  )
}

const columnsIn = (zone: string): Column<SeenEvent>[] => [
  {
    name: words.kind,
    isTitle: true,
    cell: ({ kind, name }) => (
      <>
        <code>{kind ?? words.noKind}</code>
        {name && <span class="row-note address">{name}</span>}
      </>
    ),
  },
  {
    name: words.time,
    cell: ({ receivedAt }) => (
      <time dateTime={receivedAt}>{formatSecondOfDay(receivedAt, zone)}</time>
    ),
  },
  { name: words.verdict, cell: event => <Verdict event={event} /> },
  { name: words.flow, cell: event => Flow({ event }) },
  {
    name: words.page,
    cell: ({ url }) => url && <span class="address">{url}</span>,
  },
]

const person: Column<SeenEvent> = {
  name: words.person,
  cell: ({ userId, anonymousId }) => (
    <span class="address">{userId ?? (anonymousId && words.visitor(anonymousId))}</span>
  ),
}

/** Events with their outcomes, and with their people for those who may see them. */
export const EventTable = ({ events, zone }: { events: readonly SeenEvent[]; zone: string }) => (
  <Table
    caption={words.caption}
    class="event-table"
    columns={may('people:read') ? [...columnsIn(zone), person] : columnsIn(zone)}
    rows={events}
    keyOf={({ number }) => number}
  />
)
