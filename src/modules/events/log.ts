import { invalid } from '../../core/errors.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import type { EventLog, LoggedEvent } from '../../storage/interfaces/events.ts'
import { type LogQuery, maxLines } from './schema.ts'

/** By hand, because an export of a million events would take several times as long by the schema. */
const lineOf = ({ occurredAt, reportedAt, receivedAt, ...event }: LoggedEvent) => {
  const times = {
    occurredAt: isoTime(occurredAt),
    reportedAt: isoTimeOrNull(reportedAt),
    receivedAt: isoTime(receivedAt),
  }
  return `${JSON.stringify({ ...event, ...times })}\n`
}

const asLines = (events: readonly LoggedEvent[]) => events.map(lineOf).join('')

/** Newline-delimited JSON, a page of events at a time. */
export async function* eventLines(
  pages: AsyncIterable<readonly LoggedEvent[]>,
): AsyncGenerator<string> {
  for await (const page of pages) yield asLines(page)
}

/** @throws AppError `validation_failed` if no event of this server has had this cursor */
export async function pageOfLog(
  log: EventLog,
  orgRef: OrganisationRef,
  { after, limit }: LogQuery,
) {
  const pages = await log.after(orgRef, after ?? null, Number(limit ?? maxLines))
  if (pages) return pages
  throw invalid({
    path: '/after',
    message:
      'Must be the cursor of an event of this server. After a restore from a backup, start again without one',
  })
}

export const exampleLine = asLines([
  {
    cursor: '2h4c',
    id: '0199c0de-0000-7000-8000-000000000001',
    kind: 'step_viewed',
    source: 'events',
    userId: 'ann',
    anonymousId: null,
    flowId: 'flow_8dPqM2xKc5VnTs1Ya0',
    flowKey: 'welcome',
    flowVersion: 1,
    stepId: 'step_oS7uAWwXw1gOJgTNdr',
    stepKey: 'hello',
    itemId: null,
    itemKey: null,
    runId: null,
    sessionId: 's1',
    occurredAt: Date.UTC(2026, 10, 20, 9, 30),
    reportedAt: null,
    receivedAt: Date.UTC(2026, 10, 20, 9, 30, 2),
    url: 'https://app.example.com/projects',
    name: null,
    reason: null,
    properties: null,
    traits: null,
  },
])
