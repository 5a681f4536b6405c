import type { Organisation } from '../../core/catalogue.ts'
import { type Clock, isoTime } from '../../core/clock.ts'
import type { Stores } from '../../core/ports.ts'
import { json, type Reply } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import { requireCleanText } from '../../http/shapes.ts'
import { Heartbeat, HeartbeatQuery, SnippetStatus } from './model.ts'
import { presenceService } from './service.ts'

/** How often the snippet should say that it is alive. */
const nextHeartbeatSeconds = 300

/** Whether the snippet is installed and alive, and what is wrong where it is not. */
export function presenceRoutes(deps: { stores: Stores; clock: Clock }): Route[] {
  const { stores, clock } = deps
  const service = presenceService(deps)

  const heartbeat = (organisation: Organisation): Reply =>
    json(200, {
      status: 'ok',
      serverTime: isoTime(clock.now()),
      flowsVersion: stores.catalogue().publishedFlows(organisation).version,
      nextHeartbeatSeconds,
    } satisfies Heartbeat)

  return [
    route({
      method: 'GET',
      path: '/heartbeat',
      operation: 'sendHeartbeat',
      tag: 'Liveness',
      summary: 'The snippet says that it is alive',
      caller: 'snippet key',
      bucket: 'heartbeat',
      keyInQuery: true,
      isWrite: true,
      query: HeartbeatQuery,
      answers: { 200: { description: 'Noted.', schema: Heartbeat } },
      handle({ query: { v }, org, receivedAt }) {
        requireCleanText({ v })
        stores.presence.mark(org.row, 'heartbeat', receivedAt)
        const recording = v && stores.presence.recordSnippetVersion(org.row, v, receivedAt)
        return recording ? recording.then(() => heartbeat(org)) : heartbeat(org)
      },
    }),
    route({
      method: 'GET',
      path: '/snippet-status',
      operation: 'getSnippetStatus',
      tag: 'Liveness',
      summary: 'What was seen of the snippet, and what is wrong',
      caller: 'snippet key',
      bucket: 'status',
      description:
        'Codes and counts alone: whoever views the page has the key that asks this. Asking is not ' +
        'counted as having been seen.',
      answers: { 200: { description: 'As of now.', schema: SnippetStatus } },
      async handle(call) {
        return json(200, await service.status(call.org, call.receivedAt))
      },
    }),
  ]
}
