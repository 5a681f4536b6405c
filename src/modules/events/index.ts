import type { Clock } from '../../core/clock.ts'
import type { Stores } from '../../core/ports.ts'
import { json } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import { timeIn } from '../../http/shapes.ts'
import { type AllRejected, Batch, BatchResult, NothingKept } from './model.ts'
import { eventService } from './service.ts'

/** Ingest: what browsers and back ends report. */
export function eventRoutes(deps: {
  stores: Stores
  clock: Clock
  retentionDays: number
}): Route[] {
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
      answers: {
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
        const result = await service.accept(call.org, events, sentAt, call.receivedAt)
        if (result.rejected < events.length) return json(202, result)
        const refused: AllRejected = {
          ...result,
          error: 'Every event was rejected',
          code: 'validation_failed',
        }
        return json(422, refused)
      },
    }),
  ]
}
