import { flowNotFound } from '../../core/errors.ts'
import { Flow } from '../../core/flow.ts'
import type { Stores } from '../../core/ports.ts'
import { encodedReply, ofPerson } from '../../http/encoded.ts'
import { type Route, route } from '../../http/route.ts'
import { personIn } from '../../http/shapes.ts'
import { exampleFlow, exampleFlowList, FlowList, FlowListQuery } from './model.ts'
import { withHistory } from './service.ts'

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
      query: FlowListQuery,
      description:
        'Name a person by `userId` or `anonymousId`, and the answer has a `history` too: what they have ' +
        'done with each of the flows, in whatever browser. It decides how often a flow is shown.',
      answers: {
        200: {
          description: 'The flows, and the version of the whole list.',
          schema: FlowList,
          example: exampleFlowList,
          isShared: true,
        },
      },
      handle(call) {
        stores.presence.mark(call.org.row, 'flows_fetched', call.receivedAt)
        const flows = stores.catalogue().publishedFlows(call.org)
        const { userId, anonymousId } = call.query
        if (userId === undefined && anonymousId === undefined) return encodedReply(call, flows)
        return withHistory(call.org.row, flows, personIn(call.query), stores).then(body =>
          encodedReply(call, body, ofPerson),
        )
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
