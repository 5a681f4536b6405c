import { flowNotFound, invalid } from '../../core/errors.ts'
import { Flow } from '../../core/flow/flow.ts'
import { encodedReply, ofPerson } from '../../http/encoded.ts'
import { personIn } from '../../http/input.ts'
import { requireScope } from '../../http/principal.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { ExplainStore, PublishedFlowStores } from '../../storage/interfaces/flows.ts'
import { explain } from './explain.ts'
import {
  ExplainBody,
  Explanation,
  exampleFlow,
  exampleFlowList,
  FlowList,
  FlowListQuery,
} from './schema.ts'
import { withHistory } from './service.ts'

/**
 * Routes for what a page needs to show flows (all published ones, or one), and for why somebody sees a flow
 * or not.
 */
export function flowRoutes({
  stores,
  explaining,
}: {
  stores: PublishedFlowStores
  explaining: ExplainStore
}): Route[] {
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
      responses: {
        200: {
          description: 'The flows, and the version of the whole list.',
          schema: FlowList,
          example: exampleFlowList,
          isShared: true,
        },
      },
      async handle(call) {
        stores.presence.mark(call.org.ref, 'flows_fetched', call.receivedAt)
        const { userId, anonymousId } = call.query
        const flows = stores.catalogue().publishedFlows(call.org)
        if (userId === undefined && anonymousId === undefined) return encodedReply(call, flows)
        const body = await withHistory(call.org.ref, flows, personIn(call.query), stores)
        return encodedReply(call, body, ofPerson)
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
      responses: {
        200: { description: 'The flow.', schema: Flow, example: exampleFlow, isShared: true },
      },
      handle(call) {
        stores.presence.mark(call.org.ref, 'flows_fetched', call.receivedAt)
        const body = stores.catalogue().publishedFlow(call.subject)
        // It was withdrawn after the gate looked it up.
        if (!body) throw flowNotFound()
        return encodedReply(call, body)
      },
    }),
    route({
      ...managing('flows:read'),
      method: 'POST',
      path: '/manage/explain',
      operation: 'explainFlow',
      summary: 'Whether a person sees a flow on a page, and why',
      body: ExplainBody,
      errors: ['flow_not_found'],
      description:
        'Name a person by `userId` or `anonymousId`, for which the scope people:read is needed too; ' +
        'with neither it is somebody new.',
      responses: { 200: { description: 'The verdict, and every condition.', schema: Explanation } },
      async handle({ org, body, principal, receivedAt }) {
        const { flow, traits = {}, userId = null, anonymousId = null } = body
        const url = URL.parse(body.url)
        if (!url) throw invalid({ path: '/url', message: 'Must be the whole address of a page' })
        const isNamed = userId !== null || anonymousId !== null
        if (isNamed) requireScope(principal!, 'people:read')
        const person = isNamed ? personIn({ userId, anonymousId }) : null
        const deps = { stores, store: explaining, now: receivedAt }
        return json(200, await explain(org, { flow, url, traits, person }, deps))
      },
    }),
  ]
}
