import {
  type EventKind,
  type EventSource,
  eventKinds,
  kindCode,
} from '../../../../core/event/event.ts'
import type { NewEvent, StoredEvent } from '../../../shared/in-rows.ts'
import type { Fact, LedgerFact } from '../../projections/facts.ts'

/**
 * Events as text: this is how the ledger keeps them, character by character. (What is stored says which form it has: see `event-batches.ts`.)
 *
 * Only what differs from the event before is written, because the events of one page mostly share their
 * person, session, run and flow. This is done for every event, and costs a fraction of JSON on either side.
 *
 * The texts of several batches, one after the other, are a text too.
 */
export interface EventText {
  count: number
  /** What projections and ids need: for each event its id, code, how much later it occurred, and its changes. */
  facts: string
  /** What only exports show; whoever stores events need not look into it. */
  details: string
}

/** Events of one row of the ledger: of one batch or of several. */
export interface StoredText extends EventText {
  /** When each batch was received. */
  receivedAts: readonly number[]
  source: EventSource
}

/** Follows every value. No text of an event contains NUL. */
const end = '\0'

/** The bit of the first event of a batch, which depends on no event before it. So texts can be joined. */
const first = 1 << 4

/** The bits of what differs from the event before. */
const bits = {
  stepRow: 1 << 5,
  flowRow: 1 << 6,
  userId: 1 << 7,
  anonymousId: 1 << 8,
  runId: 1 << 9,
  sessionId: 1 << 10,
  flowVersion: 1 << 11,
  itemRow: 1 << 12,
  name: 1 << 13,
  url: 1 << 14,
  properties: 1 << 15,
  reason: 1 << 16,
  reportedAt: 1 << 17,
} as const

/**
 * The last bit: a value that only one kind of event has follows, the traits of a start or the answer to a
 * question. Few events have one, so it is never taken from the event before, and absent without the bit.
 */
const said = 1 << 31

/** The first bits are the kind. */
const kindMask = (1 << 4) - 1

/** How much further up the bits of absent values are. */
const absentShift = 13

/** An event that says nothing: it stands before the first one, and Cairn's own events begin with it. */
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

/** How long after its occurrence an event was reported to have occurred: mostly 0. */
const reportedAfter = ({ reportedAt, occurredAt }: Omit<NewEvent, 'id' | 'kind'>) =>
  reportedAt === null ? null : reportedAt - occurredAt

/** Gathers what changes from one event to the next. */
class Changes {
  code = 0
  values = ''

  note(bit: number, value: string | number | null, before: string | number | null): void {
    if (value === before) return
    this.code |= bit
    if (value === null) this.code |= bit << absentShift
    else this.values += value + end
  }
}

/** @param events events that occurred within 10,000 years of 1970, so that all differences are exact */
export function encodeEvents(events: readonly NewEvent[]): EventText {
  let facts = ''
  let details = ''
  let before = noEvent
  const changes = new Changes()
  for (const event of events) {
    changes.code = kindCode[event.kind] | (before === noEvent ? first : 0)
    changes.values = ''
    changes.note(bits.url, event.url, before.url)
    changes.note(bits.properties, event.properties, before.properties)
    changes.note(bits.reason, event.reason, before.reason)
    changes.note(bits.reportedAt, reportedAfter(event), reportedAfter(before))
    details += changes.values
    changes.values = ''
    changes.note(bits.stepRow, event.stepRef, before.stepRef)
    changes.note(bits.flowRow, event.flowRef, before.flowRef)
    changes.note(bits.userId, event.userId, before.userId)
    changes.note(bits.anonymousId, event.anonymousId, before.anonymousId)
    changes.note(bits.runId, event.runId, before.runId)
    changes.note(bits.sessionId, event.sessionId, before.sessionId)
    changes.note(bits.flowVersion, event.flowVersion, before.flowVersion)
    changes.note(bits.itemRow, event.itemRef, before.itemRef)
    changes.note(bits.name, event.name, before.name)
    const saying = event.traits ?? event.answer
    if (saying !== null) {
      changes.code |= said
      changes.values += saying + end
    }
    const later = event.occurredAt - before.occurredAt
    facts += `${event.id}${end}${changes.code}${end}${later}${end}${changes.values}`
    before = event
  }
  return { count: events.length, facts, details }
}

/** Reads facts, one event after the other: what does not change stays as it is. */
class FactReader {
  id = ''
  code = 0
  occurredAt = 0
  stepRow: number | null = null
  flowRow: number | null = null
  userId: string | null = null
  anonymousId: string | null = null
  runId: string | null = null
  sessionId: string | null = null
  flowVersion: number | null = null
  itemRow: number | null = null
  name: string | null = null
  private said: string | null = null
  private readonly values: readonly string[]
  private at = 0

  constructor(facts: string) {
    this.values = facts.split(end)
  }

  next(): void {
    const { values } = this
    this.id = values[this.at]!
    const code = Number(values[this.at + 1])
    this.code = code
    if (code & first) this.reset()
    this.occurredAt += Number(values[this.at + 2])
    this.at += 3
    if (code & bits.stepRow) this.stepRow = this.number(bits.stepRow)
    if (code & bits.flowRow) this.flowRow = this.number(bits.flowRow)
    if (code & bits.userId) this.userId = this.text(bits.userId)
    if (code & bits.anonymousId) this.anonymousId = this.text(bits.anonymousId)
    if (code & bits.runId) this.runId = this.text(bits.runId)
    if (code & bits.sessionId) this.sessionId = this.text(bits.sessionId)
    if (code & bits.flowVersion) this.flowVersion = this.number(bits.flowVersion)
    if (code & bits.itemRow) this.itemRow = this.number(bits.itemRow)
    if (code & bits.name) this.name = this.text(bits.name)
    this.said = code & said ? this.values[this.at++]! : null
  }

  get isFirst(): boolean {
    return (this.code & first) !== 0
  }

  get traits(): string | null {
    return this.kind === 'question_answered' ? null : this.said
  }

  get answer(): string | null {
    return this.kind === 'question_answered' ? this.said : null
  }

  get kind(): EventKind {
    return eventKinds[this.code & kindMask] as EventKind
  }

  private reset(): void {
    this.occurredAt = 0
    this.stepRow = null
    this.flowRow = null
    this.userId = null
    this.anonymousId = null
    this.runId = null
    this.sessionId = null
    this.flowVersion = null
    this.itemRow = null
    this.name = null
  }

  private text(bit: number): string | null {
    return this.code & (bit << absentShift) ? null : this.values[this.at++]!
  }

  private number(bit: number): number | null {
    return this.code & (bit << absentShift) ? null : Number(this.values[this.at++])
  }
}

export function decodeFacts(
  { count, facts: text }: Pick<EventText, 'count' | 'facts'>,
  orgRow: number,
  source: EventSource,
): LedgerFact[] {
  const byCustomEvent = source === 'custom_event'
  const reader = new FactReader(text)
  const facts: LedgerFact[] = []
  for (let i = 0; i < count; i++) {
    reader.next()
    facts.push({
      id: reader.id,
      orgRow,
      flowRow: reader.flowRow,
      itemRow: reader.itemRow,
      byCustomEvent,
      kind: reader.kind,
      userId: reader.userId,
      anonymousId: reader.anonymousId,
      flowVersion: reader.flowVersion,
      stepId: reader.stepRow,
      runId: reader.runId,
      sessionId: reader.sessionId,
      occurredAt: reader.occurredAt,
      traits: reader.traits,
      answer: reader.answer,
      name: reader.name,
    })
  }
  return facts
}

export function decodeEvents({
  count,
  facts,
  details,
  receivedAts,
  source,
}: StoredText): StoredEvent[] {
  const events: StoredEvent[] = []
  const reader = new FactReader(facts)
  const values = details.split(end)
  let at = 0
  let url: string | null = null
  let properties: string | null = null
  let reason: string | null = null
  let after: number | null = null
  let batch = -1
  for (let i = 0; i < count; i++) {
    reader.next()
    const { code } = reader
    if (reader.isFirst) {
      batch++
      url = properties = reason = after = null
    }
    const absent = code >> absentShift
    if (code & bits.url) url = absent & bits.url ? null : values[at++]!
    if (code & bits.properties) properties = absent & bits.properties ? null : values[at++]!
    if (code & bits.reason) reason = absent & bits.reason ? null : values[at++]!
    if (code & bits.reportedAt) after = absent & bits.reportedAt ? null : Number(values[at++])
    events.push({
      id: reader.id,
      kind: reader.kind,
      userId: reader.userId,
      anonymousId: reader.anonymousId,
      flowRef: reader.flowRow,
      flowVersion: reader.flowVersion,
      stepRef: reader.stepRow,
      itemRef: reader.itemRow,
      runId: reader.runId,
      sessionId: reader.sessionId,
      occurredAt: reader.occurredAt,
      reportedAt: after === null ? null : reader.occurredAt + after,
      receivedAt: receivedAts[batch]!,
      url,
      name: reader.name,
      reason,
      properties,
      traits: reader.traits,
      answer: reader.answer,
      source,
    })
  }
  return events
}

/** The same text with some events replaced; each stays in its place and in its batch. */
export function rewriteEvents(text: EventText, rewrite: (event: NewEvent) => NewEvent): EventText {
  // The batches' own numbers stand in for the times of receipt.
  const batches = Array.from({ length: text.count }, (_, batch) => batch)
  const events = decodeEvents({ ...text, receivedAts: batches, source: 'events' })
  const rewritten: EventText = { count: 0, facts: '', details: '' }
  for (const batch of Map.groupBy(events, ({ receivedAt }) => receivedAt).values()) {
    const { count, facts, details } = encodeEvents(batch.map(rewrite))
    rewritten.count += count
    rewritten.facts += facts
    rewritten.details += details
  }
  return rewritten
}

/** Whether an event means something for the projections of a flow. */
export const isOfFlow = (fact: LedgerFact): fact is LedgerFact & Fact =>
  fact.flowRow !== null && fact.kind !== 'custom'
