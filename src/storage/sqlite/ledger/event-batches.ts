import type { Database } from 'bun:sqlite'
import { type EventSource, eventSources } from '../../../core/event/event.ts'
import type { NewEvent, StoredEvent } from '../../shared/in-rows.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import type { LedgerFact } from '../projections/facts.ts'
import { decodeEvents, decodeFacts, encodeEvents } from './event-columns.ts'

/**
 * The ledger: rows of one organisation's events each, in the order of their arrival. Batches that are stored
 * together share a row.
 */

/** The most events of one row. The row's number times this, plus an event's place, is the event's own number. */
export const eventsPerBatch = 256

export interface BatchRow {
  seq: number
  source: number
  /** How many. */
  events: number
  /** The events: see `packed`. */
  body: Uint8Array
}

export const batchColumns = 'seq, source, events, body'

/** Keeps a leading byte order mark, because an id may begin with that character. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Fewer characters are kept as they are: compressing them would cost more than it saves. */
const minCompressedLength = 512

/** The first byte of what zstd has compressed (RFC 8878, 3.1.1). JSON objects begin otherwise. */
const zstdMark = 0x28

/** The text of `encodeEvents` as UTF-8, compressed if that is worth it. As bytes, because SQLite's own tools cut a text at its first NUL. */
export function packed(text: string): Uint8Array {
  if (text.length < minCompressedLength) return Buffer.from(text)
  // A higher level takes a fifth more time for a fiftieth of the size.
  return Bun.zstdCompressSync(text, { level: 1 })
}

const textOf = ({ body }: BatchRow) =>
  decoder.decode(body[0] === zstdMark ? Bun.zstdDecompressSync(body) : body)

export const sourceOf = ({ source }: Pick<BatchRow, 'source'>) =>
  eventSources[source] as EventSource

/** What a row's events say, as far as anything follows from it. */
export const factsOf = (row: BatchRow, orgRow: number): LedgerFact[] =>
  decodeFacts(textOf(row), row.events, orgRow, sourceOf(row))

export const eventsOf = (row: BatchRow): StoredEvent[] =>
  decodeEvents(textOf(row), row.events, sourceOf(row))

/** What a row's columns say of its flows. */
export interface FlowsOfRow {
  flows: string
  firstAt: number
  lastAt: number
}

/** Of which flows there are events, each between commas, and between which times those occurred. */
export function flowsOf(
  events: readonly { flowRow: number | null; occurredAt: number }[],
): FlowsOfRow {
  const flows = new Set<number>()
  let [firstAt, lastAt] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
  for (const { flowRow, occurredAt } of events) {
    if (flowRow === null) continue
    flows.add(flowRow)
    if (occurredAt < firstAt) firstAt = occurredAt
    if (occurredAt > lastAt) lastAt = occurredAt
  }
  if (flows.size === 0) return { flows: '', firstAt: 0, lastAt: 0 }
  return { flows: `,${[...flows].join()},`, firstAt, lastAt }
}

/** The flows in such a column. */
export const flowRowsIn = (flows: string): number[] =>
  flows === '' ? [] : flows.slice(1, -1).split(',').map(Number)

/** What published flows asked of an event when it was stored: its place, and an `Asked`. */
export type AskedEvent = readonly [place: number, most: number, goalOf: readonly number[]]

/** A row that is being filled. */
export class OpenBatch {
  private readonly events: NewEvent[] = []
  private readonly receivedAts: number[] = []
  private readonly facts: LedgerFact[] = []
  /** What published flows ask of its events. */
  readonly asked: AskedEvent[] = []

  constructor(
    readonly seq: number,
    readonly orgRow: number,
    readonly source: EventSource,
  ) {}

  /** @param facts what the events say */
  add(events: readonly NewEvent[], receivedAt: number, facts: readonly LedgerFact[]): void {
    this.events.push(...events)
    this.facts.push(...facts)
    for (const _ of events) this.receivedAts.push(receivedAt)
  }

  get count(): number {
    return this.events.length
  }

  /** The columns of the row, in the order of `insert`. */
  get columns() {
    const { seq, orgRow, source, events, receivedAts, facts, asked } = this
    const { flows, firstAt, lastAt } = flowsOf(facts)
    return [
      seq,
      orgRow,
      Math.max(...receivedAts),
      eventSources.indexOf(source),
      events.length,
      flows,
      firstAt,
      lastAt,
      asked.length === 0 ? null : JSON.stringify(asked),
      packed(encodeEvents(events, receivedAts)),
    ]
  }
}

export const insertBatch = (database: Database) =>
  database.query(
    `insert into event_batches
      (seq, org_id, received_at, source, events, flows, first_at, last_at, asked, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )

/** Writes the ledger's rows. What was added is stored once it is flushed. */
export class EventBatches extends TransactionParticipant {
  private readonly insert
  private open: OpenBatch[] = []
  /** The last open row of each organisation. */
  private readonly lastOf = new Map<number, OpenBatch>()

  constructor(database: Database) {
    super()
    this.insert = insertBatch(database)
  }

  /** An organisation's row with room for so many events: the one that is being filled, or a new one. */
  withRoom(orgRow: number, source: EventSource, events: number, newSeq: () => number): OpenBatch {
    const last = this.lastOf.get(orgRow)
    if (last?.source === source && last.count + events <= eventsPerBatch) return last
    const row = new OpenBatch(newSeq(), orgRow, source)
    this.open.push(row)
    this.lastOf.set(orgRow, row)
    return row
  }

  flush(): void {
    const { open } = this
    this.rollback()
    for (const row of open) if (row.count > 0) this.write(row)
  }

  /** Forgets what was added and not flushed. What was added before a savepoint has been flushed. */
  override rollback(): void {
    this.open = []
    this.lastOf.clear()
  }

  write(row: OpenBatch): void {
    this.insert.run(...row.columns)
  }
}
