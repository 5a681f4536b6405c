import { flowNotFound, invalid } from '../../core/errors.ts'
import { Flow } from '../../core/flow/flow.ts'
import { encodedReply, ofPerson } from '../../http/encoded.ts'
import { personIn } from '../../http/input.ts'
import { management } from '../../http/management.ts'
import { requireScope } from '../../http/principal.ts'
import { type Route, route } from '../../http/route.ts'
import type { ExplainStore, PublishedFlowStores } from '../../storage/interfaces/flows.ts'
import type { PeopleList } from '../../storage/interfaces/people.ts'
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

/** Routes by which pages get published flows, and the one that explains who sees them. */
export function flowRoutes({
  stores,
  explaining,
  peopleList,
}: {
  stores: PublishedFlowStores
  explaining: ExplainStore
  peopleList: PeopleList
}): Route[] {
  return [
    route({
      method: 'GET',
      path: '/flows',
      operation: 'listFlows',
      tag: 'Flows',
      summary: 'List the published flows, highest priority first',
      caller: 'snippet key',
      bucket: 'flows',
      query: FlowListQuery,
      description:
        'Name a person by `userId` or `anonymousId` to get a `history` too: what they have done with each ' +
        'flow, in any browser. It decides how often a flow is shown.',
      responses: {
        200: {
          description: 'The flows, and the version of the list.',
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
        const body = await withHistory(call.org.ref, flows, personIn(call.query), stores.people)
        return encodedReply(call, body, ofPerson)
      },
    }),
    route({
      method: 'GET',
      path: '/flows/:flow_id',
      operation: 'getFlow',
      tag: 'Flows',
      summary: 'Get a published flow',
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
    management('flows:read').post(
      '/manage/explain',
      'explainFlow',
      'Explain why a person sees a flow on a page or not',
      {
        description:
          'Name a person by `userId` or `anonymousId`, which also needs the scope people:read. Without either, it is a new visitor.',
        body: ExplainBody,
        returns: Explanation,
        status: 200,
        response: 'The result, and every condition.',
        errors: ['flow_not_found'],
      },
      ({ org, body, principal, receivedAt }) => {
        const { flow, traits = null, userId = null, anonymousId = null } = body
        const url = URL.parse(body.url)
        if (!url) throw invalid({ path: '/url', message: 'Must be a complete URL' })
        const isNamed = userId !== null || anonymousId !== null
        if (isNamed) requireScope(principal!, 'people:read')
        const person = isNamed ? personIn({ userId, anonymousId }) : null
        const deps = { stores, store: explaining, people: peopleList, now: receivedAt }
        return explain(org, { flow, url, traits, person }, deps)
      },
    ),
  ]
}
