import { flowNotFound } from '../../core/errors.ts'
import { Flow } from '../../core/flow.ts'
import type { Stores } from '../../core/ports.ts'
import { encodedReply } from '../../http/encoded.ts'
import { type Route, route } from '../../http/route.ts'
import { exampleFlow, FlowList } from './model.ts'

/** What a page needs to show flows: all published ones, or one. */
export function flowRoutes({ stores }: { stores: Stores }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/flows',
      operation: 'listFlows',
      tag: 'Flows',
      summary: 'All published flows, highest priority first',
      caller: 'snippet key',
      bucket: 'flows',
      answers: {
        200: {
          description: 'The flows, and the version of the whole list.',
          schema: FlowList,
          example: { flows: [exampleFlow], version: '2v8k0m1c7d' } satisfies FlowList,
          isShared: true,
        },
      },
      handle(call) {
        stores.presence.mark(call.org.row, 'flows_fetched', call.receivedAt)
        return encodedReply(call, stores.catalogue().publishedFlows(call.org))
      },
    }),
    route({
      method: 'GET',
      path: '/flows/:flow_id',
      operation: 'getFlow',
      tag: 'Flows',
      summary: 'One published flow',
      caller: 'snippet key',
      bucket: 'flows',
      subject: 'published flow',
      answers: {
        200: { description: 'The flow.', schema: Flow, example: exampleFlow, isShared: true },
      },
      handle(call) {
        stores.presence.mark(call.org.row, 'flows_fetched', call.receivedAt)
        const body = stores.catalogue().publishedFlow(call.subject)
        // Withdrawn since the gate looked.
        if (!body) throw flowNotFound()
        return encodedReply(call, body)
      },
    }),
  ]
}
