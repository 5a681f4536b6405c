import type { Database } from 'bun:sqlite'
import {
  type EventKind,
  type EventSource,
  eventKinds,
  eventSources,
} from '../../../core/event/event.ts'
import type { StoredEvent } from '../../shared/in-rows.ts'
import { EventBatches, eventsPerBatch, OpenBatch } from '../engine/event-codec/event-batches.ts'
import { decodeFacts, encodeEvents } from '../engine/event-codec/event-text.ts'
import { BatchFlows } from '../projections/pending-facts.ts'

/** A row of the ledger as it was. */
interface EventRow {
  seq: number
  org_id: number
  id: string
  kind: number
  user_id: string | null
  anonymous_id: string | null
  flow_id: number | null
  flow_version: number | null
  step_id: number | null
  item_id: number | null
  run_id: string | null
  session_id: string | null
  occurred_at: number
  reported_at: number | null
  received_at: number
  url: string | null
  name: string | null
  reason: string | null
  properties: string | null
  source: number
}

const pageRows = 1_000

const eventOf = (row: EventRow): StoredEvent => ({
  id: row.id,
  kind: eventKinds[row.kind] as EventKind,
  userId: row.user_id,
  anonymousId: row.anonymous_id,
  flowRef: row.flow_id,
  flowVersion: row.flow_version,
  stepRef: row.step_id,
  itemRef: row.item_id,
  runId: row.run_id,
  sessionId: row.session_id,
  occurredAt: row.occurred_at,
  reportedAt: row.reported_at,
  receivedAt: row.received_at,
  url: row.url,
  name: row.name,
  reason: row.reason,
  properties: row.properties,
  traits: null,
  answer: null,
  source: eventSources[row.source] as EventSource,
})

function* allEvents(
  database: Database,
): Generator<{ seq: number; orgRow: number; event: StoredEvent }> {
  const page = database.query<EventRow, [number]>(
    `select * from events where seq > ? order by seq limit ${pageRows}`,
  )
  for (let seq = 0; ; ) {
    const rows = page.all(seq)
    for (const row of rows) yield { seq: row.seq, orgRow: row.org_id, event: eventOf(row) }
    if (rows.length < pageRows) return
    seq = rows.at(-1)!.seq
  }
}

/**
 * Moves the events of the ledger that had a row an event, in their order, and drops that.
 *
 * @param onShare told every so often how much of them is moved, 0 to 1
 */
export function moveEventsIntoBatches(
  database: Database,
  onShare: (share: number) => void = () => {},
): void {
  const newest = database.query<{ seq: number }, []>('select max(seq) as seq from events').get()
  let read = 0
  const batches = new EventBatches(database)
  const flows = new BatchFlows(database)
  let seq = 0
  let orgRow = 0
  let events: StoredEvent[] = []
  const store = () => {
    const [first] = events
    if (!first) return
    const { receivedAt, source } = first
    const text = encodeEvents(events)
    const batch = new OpenBatch(++seq, orgRow, source)
    batch.add(text, receivedAt)
    batches.write(batch)
    flows.note(seq, decodeFacts(text, orgRow, source))
    flows.writeOwn()
    flows.commit()
    events = []
  }
  for (const next of allEvents(database)) {
    const [first] = events
    const { receivedAt, source } = next.event
    const fits =
      next.orgRow === orgRow &&
      receivedAt === first?.receivedAt &&
      source === first.source &&
      events.length < eventsPerBatch
    if (!fits) store()
    orgRow = next.orgRow
    events.push(next.event)
    if (++read % pageRows === 0) onShare(next.seq / newest!.seq)
  }
  store()
  database.run('drop table events')
}
