import type { Clock } from '../../core/clock.ts'
import type { Stores } from '../../core/ports.ts'
import { json } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import { timeIn } from '../../http/shapes.ts'
import { Batch } from './model.ts'
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
      summary: 'Reports 1 to 50 events; each is judged on its own',
      caller: 'snippet key',
      bucket: 'events',
      body: Batch,
      bodyLimitBytes: 1024 * 1024,
      async handle(call) {
        const { events } = call.body
        const sentAt = timeIn(call.body, 'sentAt')
        const result = await service.accept(call.org, events, sentAt, call.receivedAt)
        if (result.rejected < events.length) return json(202, result)
        return json(422, {
          ...result,
          error: 'Every event was rejected',
          code: 'validation_failed',
        })
      },
    }),
  ]
}
