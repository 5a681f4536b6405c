import { flowNotFound } from '../../core/errors.ts'
import type { Stores } from '../../core/ports.ts'
import { encodedReply } from '../../http/encoded.ts'
import { type Route, route } from '../../http/route.ts'

/** What a page needs to show flows: all published ones, or one. */
export function flowRoutes({ stores }: { stores: Stores }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/flows',
      summary: 'All published flows, highest priority first',
      caller: 'snippet key',
      bucket: 'flows',
      handle(call) {
        stores.presence.mark(call.org.row, 'flows_fetched', call.receivedAt)
        return encodedReply(call, stores.catalogue().publishedFlows(call.org))
      },
    }),
    route({
      method: 'GET',
      path: '/flows/:flow_id',
      summary: 'One published flow',
      caller: 'snippet key',
      bucket: 'flows',
      subject: 'published flow',
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
