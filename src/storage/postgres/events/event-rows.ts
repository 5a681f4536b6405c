import type { EventKind, EventSource } from '../../../core/event/event.ts'
import { dayMs } from '../../../core/time/durations.ts'
import type { StoredEvent } from '../../shared/in-rows.ts'
import type { Queries } from '../database/connection.ts'
import { asDoubles, type ColumnTypes, fromArrays, inArrays } from '../rows/arrays.ts'
import { fieldOf, mostByStatement } from '../rows/lines.ts'

/** What is read from a row of `events`. */
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

/** What is selected from `events`, ordered by `events.seq` (see `asDoubles`). */
export const eventColumns = [
  asDoubles('events', 'seq', 'flow_id', 'flow_version', 'step_id', 'item_id'),
  asDoubles('events', 'occurred_at', 'reported_at', 'received_at'),
  'events.id, kind, source, user_id, anonymous_id, run_id, session_id, url, name, reason',
  'properties, traits, answer',
].join(', ')

const eventTypes = {
  ...{ seq: 'bigint', org_id: 'bigint', day: 'integer', id: 'text', kind: 'text', source: 'text' },
  ...{ user_id: 'text', anonymous_id: 'text', flow_id: 'bigint', flow_version: 'bigint' },
  ...{ step_id: 'bigint', item_id: 'bigint', run_id: 'text', session_id: 'text' },
  ...{ occurred_at: 'bigint', reported_at: 'bigint', received_at: 'bigint', url: 'text' },
  ...{ name: 'text', reason: 'text', properties: 'text', traits: 'text', answer: 'text' },
} as const satisfies ColumnTypes

/** The number comes first, because the rest of a line is known before it. */
const columnNames = Object.keys(eventTypes) as (keyof typeof eventTypes)[]
const behindNumber = columnNames.slice(1)
const columns = columnNames.join(', ')

/** Events that are to become rows of `events`, before it is known which numbers they get. */
export interface UnnumberedEvents {
  orgRow: number
  events: readonly StoredEvent[]
  /** What follows the number in the line of each. */
  lines: readonly string[]
}

/** @param orgRow whose events they are */
export function unnumbered(orgRow: number, events: readonly StoredEvent[]): UnnumberedEvents {
  const lines = events.map(event => {
    const row = rowOf(orgRow, 0, event)
    let line = ''
    for (const name of behindNumber) line += `\t${fieldOf(row[name])}`
    return `${line}\n`
  })
  return { orgRow, events, lines }
}

/** Stores batches of events, each with the number of its first event. */
export async function insertEvents(
  queries: Queries,
  stored: readonly (UnnumberedEvents & { firstSeq: number })[],
): Promise<void> {
  const count = stored.reduce((sum, { events }) => sum + events.length, 0)
  if (count <= mostByStatement) {
    const rows = stored.flatMap(({ orgRow, events, firstSeq }) =>
      events.map((event, i) => rowOf(orgRow, firstSeq + i, event)),
    )
    await queries.run(
      `insert into events (${columns}) select * from ${fromArrays(eventTypes)}`,
      ...inArrays(eventTypes, rows),
    )
    return
  }
  let text = ''
  for (const { lines, firstSeq } of stored) {
    for (const [i, line] of lines.entries()) text += `${firstSeq + i}${line}`
  }
  await queries.copy(`events (${columns})`, text)
}

/** The partition of `events` that has what was received at a moment. */
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
