import type { Database } from 'bun:sqlite'
import { type EventSource, eventKinds, eventSources, kindCode } from '../../../core/event/event.ts'
import type { NewEvent, StoredEvent } from '../../shared/in-rows.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import { type EventFacts, factOf, type LedgerFact } from '../projections/facts.ts'

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

/** Why published flows waited for an event when it was stored: its place in the batch, and an `Awaited`. */
export type AwaitedEvent = readonly [place: number, max: number, goalOf: readonly number[]]

/** A row that is being filled. */
export class OpenBatch {
  private readonly events: NewEvent[] = []
  private readonly receivedAts: number[] = []
  private readonly facts: LedgerFact[] = []
  /** What published flows ask of its events. */
  readonly awaited: AwaitedEvent[] = []

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
    const { seq, orgRow, source, events, receivedAts, facts, awaited } = this
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
      awaited.length === 0 ? null : JSON.stringify(awaited),
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

/**
 * Events as the ledger keeps them: two JSON objects, each in a line of its own. A field has an array with the value
 * of each event, or that of all if it is the same, and is left out if that is null. The first line has what
 * projections need, the second what only exports show.
 */

/** An event that says nothing. Cairn's own events begin with it. */
export const noEvent: Omit<NewEvent, 'id' | 'kind'> = {
  userId: null,
  anonymousId: null,
  flowRef: null,
  flowVersion: null,
  stepRef: null,
  itemRef: null,
  runId: null,
  sessionId: null,
  occurredAt: 0,
  reportedAt: null,
  url: null,
  name: null,
  reason: null,
  properties: null,
  traits: null,
  answer: null,
}

type Value = string | number | null

function columnOf(values: readonly Value[]): Value | readonly Value[] | undefined {
  const [first] = values
  return values.some(value => value !== first) ? values : (first ?? undefined)
}

/** @param receivedAts when each of the events was received, epoch milliseconds */
export function encodeEvents(events: readonly NewEvent[], receivedAts: readonly number[]): string {
  const facts = {
    id: columnOf(events.map(({ id }) => id)),
    kind: columnOf(events.map(({ kind }) => kindCode[kind])),
    userId: columnOf(events.map(({ userId }) => userId)),
    anonymousId: columnOf(events.map(({ anonymousId }) => anonymousId)),
    flowRef: columnOf(events.map(({ flowRef }) => flowRef)),
    flowVersion: columnOf(events.map(({ flowVersion }) => flowVersion)),
    stepRef: columnOf(events.map(({ stepRef }) => stepRef)),
    itemRef: columnOf(events.map(({ itemRef }) => itemRef)),
    runId: columnOf(events.map(({ runId }) => runId)),
    sessionId: columnOf(events.map(({ sessionId }) => sessionId)),
    occurredAt: columnOf(events.map(({ occurredAt }) => occurredAt)),
    url: columnOf(events.map(({ url }) => url)),
    name: columnOf(events.map(({ name }) => name)),
    traits: columnOf(events.map(({ traits }) => traits)),
    answer: columnOf(events.map(({ answer }) => answer)),
  }
  const details = {
    receivedAt: columnOf(receivedAts),
    reportedAt: columnOf(events.map(({ reportedAt }) => reportedAt)),
    reason: columnOf(events.map(({ reason }) => reason)),
    properties: columnOf(events.map(({ properties }) => properties)),
  }
  return `${JSON.stringify(facts)}\n${JSON.stringify(details)}`
}

/** Gives for each field the function from an event's place to its value. */
function fieldsOf(json: string) {
  const columns = JSON.parse(json) as Record<string, unknown>
  return <Field extends Value>(name: keyof StoredEvent): ((place: number) => Field) => {
    const column = columns[name] ?? null
    return Array.isArray(column) ? place => column[place] : () => column as Field
  }
}

/** The first line of the text, and the second. */
function linesOf(text: string): [facts: string, details: string] {
  const end = text.indexOf('\n')
  return [text.slice(0, end), text.slice(end + 1)]
}

function factsReader(json: string): (place: number) => EventFacts {
  const field = fieldsOf(json)
  const text = field<string | null>
  const number = field<number | null>
  const [id, kind, occurredAt] = [
    field<string>('id'),
    field<number>('kind'),
    field<number>('occurredAt'),
  ]
  const [userId, anonymousId] = [text('userId'), text('anonymousId')]
  const [flowRef, flowVersion] = [number('flowRef'), number('flowVersion')]
  const [stepRef, itemRef] = [number('stepRef'), number('itemRef')]
  const [runId, sessionId, name] = [text('runId'), text('sessionId'), text('name')]
  const [url, traits, answer] = [text('url'), text('traits'), text('answer')]
  return place => ({
    id: id(place),
    kind: eventKinds[kind(place)]!,
    userId: userId(place),
    anonymousId: anonymousId(place),
    flowRef: flowRef(place),
    flowVersion: flowVersion(place),
    stepRef: stepRef(place),
    itemRef: itemRef(place),
    runId: runId(place),
    sessionId: sessionId(place),
    occurredAt: occurredAt(place),
    url: url(place),
    name: name(place),
    traits: traits(place),
    answer: answer(place),
  })
}

/** What the first so many events of a text say, as far as anything follows from it. */
export function decodeFacts(
  text: string,
  events: number,
  orgRow: number,
  source: EventSource,
): LedgerFact[] {
  const facts = factsReader(linesOf(text)[0])
  return Array.from({ length: events }, (_, place) => factOf(orgRow, facts(place), source))
}

export function decodeEvents(text: string, events: number, source: EventSource): StoredEvent[] {
  const [first, second] = linesOf(text)
  const facts = factsReader(first)
  const field = fieldsOf(second)
  const receivedAt = field<number>('receivedAt')
  const reportedAt = field<number | null>('reportedAt')
  const [reason, properties] = [field<string | null>('reason'), field<string | null>('properties')]
  return Array.from({ length: events }, (_, place) => ({
    ...facts(place),
    receivedAt: receivedAt(place),
    reportedAt: reportedAt(place),
    reason: reason(place),
    properties: properties(place),
    source,
  }))
}
