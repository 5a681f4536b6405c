import type { Clock } from '../../core/time/clock.ts'
import { textStream, unreadStream } from '../../http/download.ts'
import { timeIn } from '../../http/input.ts'
import { may } from '../../http/principal.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { ActivityStore, EventLog, EventStores } from '../../storage/interfaces/events.ts'
import { activityPage } from './activity.ts'
import { eventLines, exampleLine, pageOfLog } from './log.ts'
import {
  ActivityPage,
  ActivityQuery,
  type AllRejected,
  Batch,
  BatchResult,
  EventLines,
  LogQuery,
  NothingKept,
} from './schema.ts'
import { eventService } from './service.ts'

/**
 * Routes for events: browsers and back ends report them, and warehouses read all of them.
 *
 * @param deps read at each request, because the retention time may change
 */
export function eventRoutes(
  deps: { stores: EventStores; clock: Clock; retentionDays: number },
  { log, activity }: { log: EventLog; activity: ActivityStore },
): Route[] {
  const service = eventService(deps)
  return [
    route({
      method: 'POST',
      path: '/events',
      operation: 'reportEvents',
      tag: 'Events',
      summary: 'Reports 1 to 50 events; each is judged on its own',
      description:
        "An event's id is stored once, however often and from wherever it is sent. A bad event never " +
        'costs its neighbours: it is rejected with a code, the others are kept.\n\n' +
        '**202 means stored**: the answer leaves after the transaction that holds the batch is ' +
        "committed and synced to disk. A batch in which every event names another organisation's " +
        'flow, step or item, or a user without the right `userHash` where that is required, is 401.',
      caller: 'snippet key',
      bucket: 'events',
      body: Batch,
      bodyLimitBytes: 1024 * 1024,
      responses: {
        202: {
          description: 'At least one event was kept, or had been before.',
          schema: BatchResult,
        },
        422: {
          description: 'Nothing was kept: the envelope is wrong, or every event in it.',
          schema: NothingKept,
        },
      },
      async handle(call) {
        const { events } = call.body
        const sentAt = timeIn(call.body, 'sentAt')
        const result = await service.accept(
          call.org,
          events,
          call.bodyText,
          sentAt,
          call.receivedAt,
        )
        if (result.rejected < events.length) return json(202, result)
        const refused: AllRejected = {
          ...result,
          error: 'Every event was rejected',
          code: 'validation_failed',
        }
        return json(422, refused)
      },
    }),
    route({
      ...managing('analytics:read'),
      method: 'GET',
      path: '/manage/events',
      operation: 'readEvents',
      summary: 'Every stored event, in the order of arrival, after a cursor: for warehouses',
      query: LogQuery,
      description:
        'Ask on with the `cursor` of the last line that you have kept: nothing is left out, and nothing ' +
        'comes twice, whatever is stored meanwhile. An empty answer says that there is nothing new: keep ' +
        'the cursor that you have. An answer that fails midway breaks the connection; its whole lines are ' +
        'good. Events whose time is over are deleted, and skipped; of people who were erased there are ' +
        'pseudonyms. After a restore from a backup begin anew.',
      responses: {
        200: {
          description: 'A line of JSON an event.',
          schema: EventLines,
          example: exampleLine,
          type: 'application/x-ndjson',
        },
      },
      isLong: true,
      async handle(call) {
        const pages = await pageOfLog(log, call.org.ref, call.query)
        const isHead = call.request.method === 'HEAD'
        return {
          status: 200,
          body: isHead ? unreadStream() : textStream(eventLines(pages), call.onBroken),
          headers: { 'Content-Type': 'application/x-ndjson; charset=utf-8' },
        }
      },
    }),
    route({
      ...managing('analytics:read'),
      method: 'GET',
      path: '/manage/activity',
      operation: 'watchActivity',
      summary: 'Events as they arrive, each with its verdict: for who is installing',
      query: ActivityQuery,
      errors: ['overloaded'],
      description:
        'Ask every few seconds. Asking is watching: for half a minute what `POST /events` judges is ' +
        'remembered, in memory alone, and at most 500 events of it. Nothing is told of people who were ' +
        'erased. Texts that are too long are cut. With `--ack buffer` a duplicate is told as accepted, as the sender is told.',
      responses: { 200: { description: 'What has arrived since.', schema: ActivityPage } },
      async handle({ org, query, principal }) {
        const told = await activity.after(org.ref, query.after ?? null)
        return json(200, activityPage(told, may(principal, 'people:read')))
      },
    }),
  ]
}
