import type { EventKind, EventSource } from '../../../core/event/event.ts'
import { dayMs } from '../../../core/time/durations.ts'
import type { StoredEvent } from '../../shared/in-rows.ts'
import type { Queries } from '../database/connection.ts'
import {
  asDoubles,
  type ColumnTypes,
  fromArrays,
  joined,
  type Part,
  partOf,
} from '../rows/arrays.ts'

/** What is read of a row of `events`. */
export interface EventRow {
  seq: number
  id: string
  kind: EventKind
  source: EventSource
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
  traits: string | null
  answer: string | null
}

/** What is selected of `events`, in the order of `events.seq` (see `asDoubles`). */
export const eventColumns = [
  asDoubles('events', 'seq', 'flow_id', 'flow_version', 'step_id', 'item_id'),
  asDoubles('events', 'occurred_at', 'reported_at', 'received_at'),
  'events.id, kind, source, user_id, anonymous_id, run_id, session_id, url, name, reason',
  'properties, traits, answer',
].join(', ')

const eventTypes = {
  ...{ org_id: 'bigint', seq: 'bigint', day: 'integer', id: 'text', kind: 'text', source: 'text' },
  ...{ user_id: 'text', anonymous_id: 'text', flow_id: 'bigint', flow_version: 'bigint' },
  ...{ step_id: 'bigint', item_id: 'bigint', run_id: 'text', session_id: 'text' },
  ...{ occurred_at: 'bigint', reported_at: 'bigint', received_at: 'bigint', url: 'text' },
  ...{ name: 'text', reason: 'text', properties: 'text', traits: 'text', answer: 'text' },
} as const satisfies ColumnTypes

const columnNames = Object.keys(eventTypes) as (keyof typeof eventTypes)[]

/** Rows of `events` on their way there: made before it is known which numbers they get. */
export interface EventParts {
  count: number
  /** A part a column; that of `seq` is null. */
  parts: readonly Part[]
}

/** The rows of some events, but for their numbers. */
export function partsOf(orgRow: number, events: readonly StoredEvent[]): EventParts {
  const rows = events.map(event => rowOf(orgRow, 0, event))
  const parts = columnNames.map(name => (name === 'seq' ? null : partOf(rows, row => row[name])))
  return { count: rows.length, parts }
}

const insertion = `insert into events (${columnNames.join(', ')}) select * from ${fromArrays(eventTypes)}`

/** Stores rows of `events`, each with the number that its first one gets. */
export function insertEvents(
  queries: Queries,
  stored: readonly (EventParts & { firstSeq: number })[],
): Promise<number> {
  const counts = stored.map(({ count }) => count)
  const numbers = stored.map(({ firstSeq, count }) =>
    Array.from({ length: count }, (_, i) => firstSeq + i).join(),
  )
  const values = columnNames.map((name, column) =>
    joined(name === 'seq' ? numbers : stored.map(({ parts }) => parts[column]!), counts),
  )
  return queries.run(insertion, ...values)
}

/** The part of `events` that has what was received at a moment. */
export const dayOf = (receivedAt: number) => Math.floor(receivedAt / dayMs)

/** A whole row of `events`, as `json_populate_recordset` takes it. */
export const rowOf = (
  orgRow: number,
  seq: number,
  event: StoredEvent,
): EventRow & { org_id: number; day: number } => ({
  org_id: orgRow,
  seq,
  day: dayOf(event.receivedAt),
  id: event.id,
  kind: event.kind,
  source: event.source,
  user_id: event.userId,
  anonymous_id: event.anonymousId,
  flow_id: event.flowRef,
  flow_version: event.flowVersion,
  step_id: event.stepRef,
  item_id: event.itemRef,
  run_id: event.runId,
  session_id: event.sessionId,
  occurred_at: event.occurredAt,
  reported_at: event.reportedAt,
  received_at: event.receivedAt,
  url: event.url,
  name: event.name,
  reason: event.reason,
  properties: event.properties,
  traits: event.traits,
  answer: event.answer,
})

export const eventOf = (row: EventRow): StoredEvent => ({
  id: row.id,
  kind: row.kind,
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
  traits: row.traits,
  answer: row.answer,
  source: row.source,
})

/** An event's place in the ledger of its organisation, as callers know it: its number in base 36. */
export const cursorOf = ({ seq }: Pick<EventRow, 'seq'>) => seq.toString(36)
export const seqOf = (cursor: string) => Number.parseInt(cursor, 36)
