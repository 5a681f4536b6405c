import type { Database } from 'bun:sqlite'
import { type EventSource, eventSources } from '../core/event.ts'
import type { EventText, StoredText } from './event-text.ts'
import type { LedgerFact } from './facts.ts'

/** The ledger: a row a batch of one organisation's events, in the order of their arrival. */

/** Events of one row: its number times this, plus an event's place, is the event's own number. */
export const eventsPerBatch = 64

/** A row's texts are stored as bytes, for SQLite's own tools cut a text at its first NUL. */
export interface BatchRow {
  seq: number
  received_at: number
  source: number
  events: number
  facts: Uint8Array
  details: Uint8Array
}

const encoder = new TextEncoder()

/** An id may begin with the character that would be a byte order mark. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const textIn = (bytes: Uint8Array): string => decoder.decode(bytes)

export const storedText = (row: BatchRow): StoredText => ({
  count: row.events,
  facts: textIn(row.facts),
  details: textIn(row.details),
  receivedAt: row.received_at,
  source: eventSources[row.source] as EventSource,
})

/** Between which times events of one flow occurred. */
interface Span {
  flowRow: number
  firstAt: number
  lastAt: number
}

function spansOf(facts: readonly LedgerFact[]): Span[] {
  const spans: Span[] = []
  for (const { flowRow, occurredAt: at } of facts) {
    if (flowRow === null) continue
    const span = spans.find(known => known.flowRow === flowRow)
    if (!span) spans.push({ flowRow, firstAt: at, lastAt: at })
    else if (at < span.firstAt) span.firstAt = at
    else if (at > span.lastAt) span.lastAt = at
  }
  return spans
}

/** Writes the ledger's rows, and which flows' events they hold. */
export class EventBatches {
  private readonly insertBatch
  private readonly insertFlow

  constructor(database: Database) {
    this.insertBatch = database.query(
      `insert into event_batches (seq, org_id, received_at, source, events, facts, details)
      values (?, ?, ?, ?, ?, ?, ?)`,
    )
    this.insertFlow = database.query(
      'insert into event_batch_flows (org_id, flow_id, seq, first_at, last_at) values (?, ?, ?, ?, ?)',
    )
  }

  /** @param facts what the text says, for whoever calls has read it already */
  add(
    seq: number,
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    text: EventText,
    facts: readonly LedgerFact[],
  ): void {
    this.insertBatch.run(
      seq,
      orgRow,
      receivedAt,
      eventSources.indexOf(source),
      text.count,
      encoder.encode(text.facts),
      encoder.encode(text.details),
    )
    for (const { flowRow, firstAt, lastAt } of spansOf(facts)) {
      this.insertFlow.run(orgRow, flowRow, seq, firstAt, lastAt)
    }
  }
}
