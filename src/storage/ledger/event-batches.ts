import type { Database } from 'bun:sqlite'
import { type EventSource, eventSources } from '../../core/event/event.ts'
import type { LedgerFact } from '../projections/facts.ts'
import type { EventText, StoredText } from './event-text.ts'

/**
 * The ledger: a row a batch of one organisation's events, in the order of their arrival. Small batches
 * that are stored together share a row.
 */

/** Events of one row: its number times this, plus an event's place, is the event's own number. */
export const eventsPerBatch = 64

/** A row's texts are stored as bytes, for SQLite's own tools cut a text at its first NUL. */
export interface BatchRow {
  seq: number
  received_at: number
  /** How much later each further batch of the row was received, milliseconds; a space between. */
  later: string
  source: number
  events: number
  facts: Uint8Array
  details: Uint8Array
}

const encoder = new TextEncoder()

/** An id may begin with the character that would be a byte order mark. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const textIn = (bytes: Uint8Array): string => decoder.decode(bytes)

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

const receiptsIn = ({ received_at, later }: BatchRow): number[] => {
  if (later === '') return [received_at]
  return [received_at, ...later.split(' ').map(ms => received_at + Number(ms))]
}

/** When the last batch of a row was received. */
export const lastReceipt = ({ received_at, later }: Pick<BatchRow, 'received_at' | 'later'>) =>
  received_at + Number(later.slice(later.lastIndexOf(' ') + 1))

export const storedText = (row: BatchRow): StoredText => ({
  count: row.events,
  facts: textIn(row.facts),
  details: textIn(row.details),
  receivedAts: receiptsIn(row),
  source: eventSources[row.source] as EventSource,
})

/** Between which times events of one flow occurred. */
interface Span {
  flowRow: number
  firstAt: number
  lastAt: number
}

/** A row that is being filled. */
export class OpenBatch {
  count = 0
  facts = ''
  details = ''
  later = ''
  readonly spans: Span[] = []
  receivedAt = 0

  constructor(
    readonly seq: number,
    readonly orgRow: number,
    readonly source: EventSource,
  ) {}

  /** @param facts what the text says, for whoever calls has read it already */
  add(text: EventText, receivedAt: number, facts: readonly LedgerFact[]): void {
    if (text.count === 0) return
    if (this.count === 0) this.receivedAt = receivedAt
    else this.later += `${this.later && ' '}${receivedAt - this.receivedAt}`
    this.count += text.count
    this.facts += text.facts
    this.details += text.details
    for (const { flowRow, occurredAt } of facts)
      if (flowRow !== null) this.span(flowRow, occurredAt)
  }

  private span(flowRow: number, at: number): void {
    const span = this.spans.find(known => known.flowRow === flowRow)
    if (!span) this.spans.push({ flowRow, firstAt: at, lastAt: at })
    else if (at < span.firstAt) span.firstAt = at
    else if (at > span.lastAt) span.lastAt = at
  }
}

/** Writes the ledger's rows, and which flows' events they hold. What was added is stored once it is flushed. */
export class EventBatches {
  private readonly insertBatch
  private readonly insertFlow
  private open: OpenBatch[] = []
  /** The last one of each organisation. */
  private readonly lastOf = new Map<number, OpenBatch>()

  constructor(database: Database) {
    this.insertBatch = database.query(
      `insert into event_batches (seq, org_id, received_at, later, source, events, facts, details)
      values (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.insertFlow = database.query(
      'insert into event_batch_flows (org_id, flow_id, seq, first_at, last_at) values (?, ?, ?, ?, ?)',
    )
  }

  /** An organisation's row with room for so many events: the one that is being filled, or a new one. */
  withRoom(orgRow: number, source: EventSource, events: number, newSeq: () => number): OpenBatch {
    const last = this.lastOf.get(orgRow)
    if (last?.source === source && last.count + events <= eventsPerBatch) return last
    const batch = new OpenBatch(newSeq(), orgRow, source)
    this.open.push(batch)
    this.lastOf.set(orgRow, batch)
    return batch
  }

  flush(): void {
    const { open } = this
    this.forget()
    for (const batch of open) if (batch.count > 0) this.write(batch)
  }

  /** Forgets what was added and not flushed. */
  forget(): void {
    this.open = []
    this.lastOf.clear()
  }

  write({ seq, orgRow, receivedAt, later, source, count, facts, details, spans }: OpenBatch): void {
    this.insertBatch.run(
      seq,
      orgRow,
      receivedAt,
      later,
      eventSources.indexOf(source),
      count,
      bytesOf(facts),
      bytesOf(details),
    )
    for (const { flowRow, firstAt, lastAt } of spans) {
      this.insertFlow.run(orgRow, flowRow, seq, firstAt, lastAt)
    }
  }
}
