import type { Database } from 'bun:sqlite'
import { type EventSource, eventSources } from '../../../../core/event/event.ts'
import type { NewEvent } from '../../../shared/in-rows.ts'
import type { LedgerFact } from '../../projections/facts.ts'
import { TransactionParticipant } from '../participant.ts'
import { decodeFacts, type EventText, encodeEvents, type StoredText } from './event-text.ts'

/**
 * The ledger: one row per batch of one organisation's events, in the order of their arrival. Small batches
 * that are stored together share a row.
 */

/** The most events of one row. The row's number times this, plus an event's place, is the event's own number. */
export const eventsPerBatch = 64

export interface BatchRow {
  seq: number
  received_at: number
  /** How much later than the first each further batch of the row was received: milliseconds, space-separated. */
  later: string
  source: number
  events: number
  /** The events: see `packed`. */
  body: Uint8Array
}

/** A row without what only exports show. */
export type FactsRow = Pick<BatchRow, 'seq' | 'source' | 'events' | 'body'>

export const factsColumns = 'seq, source, events, body'
export const batchColumns = `${factsColumns}, received_at, later`

const encoder = new TextEncoder()

/** Keeps a leading byte order mark, because an id may begin with that character. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Fewer bytes are kept as they are: compressing them would cost more than it saves. */
const minCompressedBytes = 256

/** The first byte of what zstd has compressed (RFC 8878, 3.1.1). No digit is. */
const zstdMark = 0x28

/**
 * Events as the ledger keeps them: the length of the facts, a line break, facts and details, as UTF-8. As bytes,
 * because SQLite's own tools cut a text at its first NUL. Compressed if that is worth it.
 */
export function packed({ facts, details }: Pick<EventText, 'facts' | 'details'>): Uint8Array {
  const bytes = encoder.encode(`${facts.length}\n${facts}${details}`)
  // A higher level takes a fifth more time for a fiftieth of the size.
  return bytes.length < minCompressedBytes ? bytes : Bun.zstdCompressSync(bytes, { level: 1 })
}

const textOf = ({ events, body }: Pick<BatchRow, 'events' | 'body'>): EventText => {
  const text = decoder.decode(body[0] === zstdMark ? Bun.zstdDecompressSync(body) : body)
  const begin = text.indexOf('\n') + 1
  const end = begin + Number(text.slice(0, begin - 1))
  return { count: events, facts: text.slice(begin, end), details: text.slice(end) }
}

const sourceOf = ({ source }: Pick<BatchRow, 'source'>) => eventSources[source] as EventSource

/** What a row's events say, as far as anything follows from it. */
export const factsOf = (row: FactsRow, orgRow: number): LedgerFact[] =>
  decodeFacts(textOf(row), orgRow, sourceOf(row))

/** What a row's columns say of its flows. */
export interface FlowsOfRow {
  flows: string
  firstAt: number
  lastAt: number
}

/** Of which flows there are events, each between commas, and between which times those occurred. */
export function flowsOf(facts: readonly LedgerFact[]): FlowsOfRow {
  const flows = new Set<number>()
  let [firstAt, lastAt] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
  for (const { flowRow, occurredAt } of facts) {
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

const receiptsIn = ({ received_at, later }: BatchRow): number[] => {
  if (later === '') return [received_at]
  return [received_at, ...later.split(' ').map(ms => received_at + Number(ms))]
}

/** When the last batch of a row was received. */
export const lastReceipt = ({ received_at, later }: Pick<BatchRow, 'received_at' | 'later'>) =>
  received_at + Number(later.slice(later.lastIndexOf(' ') + 1))

export const storedText = (row: BatchRow): StoredText => ({
  ...textOf(row),
  receivedAts: receiptsIn(row),
  source: sourceOf(row),
})

/** What published flows asked of an event when it was stored: its place, and an `Asked`. */
export type AskedEvent = readonly [place: number, most: number, goalOf: readonly number[]]

/** A row that is being filled. */
export class OpenBatch {
  count = 0
  facts = ''
  details = ''
  later = ''
  receivedAt = 0
  private readonly stored: LedgerFact[] = []
  /** What published flows ask of its events. */
  readonly asked: AskedEvent[] = []

  constructor(
    readonly seq: number,
    readonly orgRow: number,
    readonly source: EventSource,
  ) {}

  /** @param facts what the events say */
  add(events: readonly NewEvent[], receivedAt: number, facts: readonly LedgerFact[]): void {
    if (events.length === 0) return
    const text = encodeEvents(events)
    if (this.count === 0) this.receivedAt = receivedAt
    else this.later += `${this.later && ' '}${receivedAt - this.receivedAt}`
    this.count += text.count
    this.facts += text.facts
    this.details += text.details
    this.stored.push(...facts)
  }

  get ofFlows(): FlowsOfRow {
    return flowsOf(this.stored)
  }
}

/** Writes the ledger's rows. What was added is stored once it is flushed. */
export class EventBatches extends TransactionParticipant {
  private readonly insertBatch
  private open: OpenBatch[] = []
  /** The last open row of each organisation. */
  private readonly lastOf = new Map<number, OpenBatch>()

  constructor(database: Database) {
    super()
    this.insertBatch = database.query(
      `insert into event_batches
        (seq, org_id, received_at, later, source, events, flows, first_at, last_at, asked, body)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
    this.rollback()
    for (const batch of open) if (batch.count > 0) this.write(batch)
  }

  /** Forgets what was added and not flushed. What was added before a savepoint has been flushed. */
  override rollback(): void {
    this.open = []
    this.lastOf.clear()
  }

  write(batch: OpenBatch): void {
    const { seq, orgRow, receivedAt, later, source, count, asked, facts, details } = batch
    const { flows, firstAt, lastAt } = batch.ofFlows
    this.insertBatch.run(
      seq,
      orgRow,
      receivedAt,
      later,
      eventSources.indexOf(source),
      count,
      flows,
      firstAt,
      lastAt,
      asked.length === 0 ? null : JSON.stringify(asked),
      packed({ facts, details }),
    )
  }
}
