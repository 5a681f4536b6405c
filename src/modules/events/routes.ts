import type { Clock } from '../../core/time/clock.ts'
import { textStream, unreadStream } from '../../http/download.ts'
import { timeIn } from '../../http/input.ts'
import { management } from '../../http/management.ts'
import { may } from '../../http/principal.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import {
  Activity,
  type ActivityStore,
  type EventLog,
  type EventStores,
} from '../../storage/interfaces/events.ts'
import { withoutPeople } from './activity.ts'
import { eventLines, exampleLine, pageOfLog } from './log.ts'
import {
  ActivityQuery,
  type AllRejected,
  Batch,
  BatchResult,
  EventLines,
  LogQuery,
  NothingKept,
} from './schema.ts'
import { acceptEvents } from './service.ts'

const analyst = management('analytics:read')

/**
 * Routes for events: browsers and back ends report them, and warehouses read all of them.
 *
 * @param deps read at each request, because the retention time may change
 */
export function eventRoutes(
  deps: { stores: EventStores; clock: Clock; retentionDays: number },
  { log, activity }: { log: EventLog; activity: ActivityStore },
): Route[] {
  return [
    route({
      method: 'POST',
      path: '/events',
      operation: 'reportEvents',
      tag: 'Events',
      summary: 'Report 1 to 50 events',
      description:
        'Each event is judged on its own: a bad event is rejected with a code, and the others are ' +
        'stored. An event with an `id` is stored once, however often it is sent.\n\n' +
        '**202 means stored**: the response is sent after the transaction with the batch is committed ' +
        "and synced to disk. The response is 401 if every event names another organisation's flow, " +
        'step or item, or a user without a required `userHash`.',
      caller: 'snippet key',
      bucket: 'events',
      body: Batch,
      bodyLimitBytes: 1024 * 1024,
      responses: {
        202: {
          description: 'At least one event was stored, now or before.',
          schema: BatchResult,
        },
        422: {
          description: 'Nothing was stored: the batch is invalid, or every event in it.',
          schema: NothingKept,
        },
      },
      async handle(call) {
        const { events } = call.body
        const sentAt = timeIn(call.body, 'sentAt')
        const result = await acceptEvents(
          deps,
          call.org,
          events,
          call.bodyText,
          sentAt,
          call.receivedAt,
        )
        if (result.rejected < events.length) return json(202, result)
        const rejection: AllRejected = {
          ...result,
          error: 'Every event was rejected',
          code: 'validation_failed',
        }
        return json(422, rejection)
      },
    }),
    route({
      ...managing('analytics:read'),
      method: 'GET',
      path: '/manage/events',
      operation: 'readEvents',
      summary: 'Export stored events in order of arrival',
      query: LogQuery,
      description:
        'For data warehouses. Send the `cursor` of your last line as `after` to get later events: none is ' +
        'left out, and none is returned twice. An empty response means that there are no new events. If ' +
        'a response fails midway, the connection is closed, and all complete lines are valid. Expired ' +
        'events are left out, and erased people have pseudonyms. After a restore from a backup, start ' +
        'again without a cursor.',
      responses: {
        200: {
          description: 'One event per line, as JSON.',
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
    analyst.get(
      '/manage/activity',
      'watchActivity',
      'Watch events as they arrive, each with its verdict',
      {
        query: ActivityQuery,
        returns: Activity,
        errors: ['overloaded'],
        description:
          'Helps to debug an installation. Poll it every few seconds: for 30 seconds after a call, up to ' +
          '500 events that `POST /events` has judged are kept in memory. Events of erased people are left ' +
          'out, and long texts are cut. With `--ack buffer`, duplicates are shown as accepted, as the ' +
          'sender sees them.',
      },
      async ({ org, query, principal }) => {
        const arrived = await activity.after(org.ref, query.after ?? null)
        return may(principal, 'people:read') ? arrived : withoutPeople(arrived)
      },
    ),
  ]
}
