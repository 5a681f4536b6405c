import { Type } from '@sinclair/typebox'
import { type Clock, isoTime } from '../../core/clock.ts'
import type { Stores } from '../../core/ports.ts'
import { json } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import { requireCleanText } from '../../http/shapes.ts'
import { presenceService } from './service.ts'

const HeartbeatQuery = Type.Object({
  v: Type.Optional(Type.String({ maxLength: 64 })),
  url: Type.Optional(Type.String({ maxLength: 2_048 })),
  sid: Type.Optional(Type.String({ maxLength: 64 })),
})

/** How often the snippet should say that it is alive. */
const nextHeartbeatSeconds = 300

/** Whether the snippet is installed and alive, and what is wrong where it is not. */
export function presenceRoutes(deps: { stores: Stores; clock: Clock }): Route[] {
  const { stores, clock } = deps
  const service = presenceService(deps)
  return [
    route({
      method: 'GET',
      path: '/heartbeat',
      summary: 'The snippet says that it is alive',
      caller: 'snippet key',
      bucket: 'heartbeat',
      keyInQuery: true,
      query: HeartbeatQuery,
      async handle(call) {
        const { v } = call.query
        requireCleanText({ v })
        stores.presence.mark(call.org.row, 'heartbeat', call.receivedAt)
        if (v) await stores.presence.recordSnippetVersion(call.org.row, v, call.receivedAt)
        return json(200, {
          status: 'ok',
          serverTime: isoTime(clock.now()),
          flowsVersion: stores.catalogue().publishedFlows(call.org).version,
          nextHeartbeatSeconds,
        })
      },
    }),
    route({
      method: 'GET',
      path: '/snippet-status',
      summary: 'What was seen of the snippet, and what is wrong',
      caller: 'snippet key',
      bucket: 'status',
      async handle(call) {
        return json(200, await service.status(call.org, call.receivedAt))
      },
    }),
  ]
}
