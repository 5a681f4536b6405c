import { invalid } from '../../core/errors.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import type { EventLog, LoggedEvent } from '../../storage/interfaces/events.ts'
import { type LogQuery, maxLines, type ToldEvent } from './schema.ts'

/** An event as the API returns it. */
export const toldEvent = (event: LoggedEvent) =>
  ({
    cursor: event.cursor,
    id: event.id,
    kind: event.kind,
    source: event.source,
    userId: event.userId,
    anonymousId: event.anonymousId,
    flowId: event.flow?.id ?? null,
    flowKey: event.flow?.key ?? null,
    flowVersion: event.flowVersion,
    stepId: event.step?.id ?? null,
    stepKey: event.step?.key ?? null,
    itemId: event.item?.id ?? null,
    itemKey: event.item?.key ?? null,
    runId: event.runId,
    sessionId: event.sessionId,
    occurredAt: isoTime(event.occurredAt),
    reportedAt: isoTimeOrNull(event.reportedAt),
    receivedAt: isoTime(event.receivedAt),
    url: event.url,
    name: event.name,
    reason: event.reason,
    // Parsed and written again, because the text that was sent may contain line breaks.
    properties: event.properties === null ? null : JSON.parse(event.properties),
    traits: event.traits === null ? null : JSON.parse(event.traits),
  }) satisfies ToldEvent

const asLines = (events: readonly LoggedEvent[]) =>
  events.map(event => `${JSON.stringify(toldEvent(event))}\n`).join('')

/** Newline-delimited JSON, a page of events at a time. */
export async function* eventLines(
  pages: AsyncIterable<readonly LoggedEvent[]>,
): AsyncGenerator<string> {
  for await (const page of pages) yield asLines(page)
}

/** @throws AppError `validation_failed` if the cursor is not a known one */
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
      'Must be the cursor of an event of this server; after a restore from a backup begin anew, without one',
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
    flow: { id: 'flow_8dPqM2xKc5VnTs1Ya0', key: 'welcome' },
    flowVersion: 1,
    step: { id: 'step_oS7uAWwXw1gOJgTNdr', key: 'hello' },
    item: null,
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
    answer: null,
  },
])
