import type { Database } from 'bun:sqlite'
import { type EventSource, eventSources } from '../../core/event/event.ts'
import type { TimeRange } from '../../core/time/time-range.ts'
import type { StoredEvent } from '../in-rows.ts'
import type { Fact } from '../projections/facts.ts'
import { type BatchRow, storedText, textIn } from './event-batches.ts'
import { decodeEvents, decodeFacts, isOfFlow } from './event-text.ts'

/** What is read of the ledger: always in the order of arrival. */

/**
 * Batches that a statement reads, 512 events of the usual sort: as many as are handed out at once, so
 * that a collection of garbage meanwhile finds little that is still held, and ages none of it.
 */
const pageBatches = 8

function* pages<Row extends { seq: number }>(read: (after: number) => Row[], after: number) {
  for (let seq = after; ; ) {
    const page = read(seq)
    yield page
    if (page.length < pageBatches) return
    seq = (page.at(-1) as Row).seq
  }
}

/** A flow's events that occurred in a range; a page is a statement of its own. */
export function flowEvents(database: Database) {
  const statement = database.query<BatchRow, [number, number, number, number, number]>(
    `select seq, received_at, later, source, events, facts, details
    from event_batch_flows cross join event_batches using (seq)
    where event_batch_flows.org_id = ? and flow_id = ? and seq > ? and last_at >= ? and first_at < ?
    order by seq limit ${pageBatches}`,
  )
  return function* (orgRow: number, flowRow: number, { startMs, endMs }: TimeRange) {
    const read = (after: number) => statement.all(orgRow, flowRow, after, startMs, endMs)
    const isAsked = ({ flowRef: of, occurredAt: at }: StoredEvent) =>
      of === flowRow && at >= startMs && at < endMs
    for (const page of pages(read, 0)) {
      for (const row of page) yield decodeEvents(storedText(row)).filter(isAsked)
    }
  }
}

/** What a flow's events after a row of the ledger, up to another, mean for its projections. */
export function* flowFacts(
  database: Database,
  orgRow: number,
  flowRow: number,
  after: number,
  upTo = Number.MAX_SAFE_INTEGER,
): Generator<Fact[]> {
  const statement = database.query<
    Pick<BatchRow, 'seq' | 'source' | 'events' | 'facts'>,
    [number, number, number, number]
  >(
    `select seq, source, events, facts
    from event_batch_flows cross join event_batches using (seq)
    where event_batch_flows.org_id = ? and flow_id = ? and seq > ? and seq <= ?
    order by seq limit ${pageBatches}`,
  )
  const read = (seq: number) => statement.all(orgRow, flowRow, seq, upTo)
  for (const page of pages(read, after)) {
    yield page.flatMap(({ events, facts, source }) =>
      decodeFacts(
        { count: events, facts: textIn(facts) },
        orgRow,
        eventSources[source] as EventSource,
      )
        .filter(isOfFlow)
        .filter(fact => fact.flowRow === flowRow),
    )
  }
}
