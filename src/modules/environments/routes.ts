import { invalid } from '../../core/errors.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { actorOf, requireScope } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { AuthoredFlow, FlowStore } from '../../storage/interfaces/authoring.ts'
import type { EnvironmentStore, LinkedOrganisation } from '../../storage/interfaces/environments.ts'
import type { GateStores, KnownTokens } from '../../storage/interfaces/gate.ts'
import { expectedIn, told as toldFlow } from '../authoring/replies.ts'
import { etagOf } from '../authoring/rules.ts'
import { PushedFlows } from '../authoring/schema.ts'
import { Linking } from './linking.ts'
import {
  EnvironmentsAnswer,
  LinkBody,
  PromoteBody,
  PromotionAnswer,
  PromotionQuery,
  StagedFlows,
} from './schema.ts'
import { Promotion, type Side } from './service.ts'

const reads = managing('flows:read')
const writes = managing('flows:write')
const owns = managing('settings:write')

const toldLink = ({ id, slug, name, linkedAt }: LinkedOrganisation) => ({
  ...{ id, slug, name },
  linkedAt: isoTime(linkedAt),
})

const there = (flow: AuthoredFlow, side: Side) => ({
  side,
  version: flow.newest?.version ?? null,
  hasDraft: flow.draft !== null,
  status: flow.status,
})

const here = ({ newest, draft, status, isLocked }: AuthoredFlow) => ({
  version: newest?.version ?? null,
  ...{ hasDraft: draft !== null, status, isLocked },
})

const namedIn = ({ params }: RequestContext) => params.organisation ?? ''
const keyIn = ({ params }: RequestContext) => params.key ?? ''

/** Routes for organisations in which flows are tried before another organisation gets them. */
export function environmentRoutes({
  environments: store,
  flows,
  stores,
  managementTokens,
  flowWork,
  clock,
}: {
  environments: EnvironmentStore
  flows: FlowStore
  stores: Pick<GateStores, 'catalogue'>
  managementTokens: Pick<KnownTokens, 'find'>
  flowWork: FlowWork
  clock: Clock
}): Route[] {
  const linking = new Linking(store, stores, managementTokens, clock)
  const promotion = new Promotion(flows, stores, flowWork, clock)
  const answer = async ({ org }: RequestContext): Promise<EnvironmentsAnswer> => {
    const { production, staging } = await store.links(org.ref)
    return { production: production && toldLink(production), staging: staging.map(toldLink) }
  }
  return [
    route({
      ...reads,
      method: 'GET',
      path: '/manage/environments',
      operation: 'getEnvironments',
      summary: 'Which organisations try flows for this one, and for which one it does',
      responses: { 200: { description: 'The links.', schema: EnvironmentsAnswer } },
      handle: async call => json(200, await answer(call)),
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/environments',
      operation: 'linkEnvironment',
      errors: ['organisation_not_found', 'cannot_link'],
      summary: 'Have another organisation try flows for this one',
      description:
        'Who may write flows here may then read the flows of that one, and nothing else of it.',
      body: LinkBody,
      responses: { 201: { description: 'The links after it.', schema: EnvironmentsAnswer } },
      async handle(call) {
        const { organisation, token } = call.body
        if ((organisation === undefined) === (token === undefined)) {
          throw invalid({ path: '/token', message: 'Is required, or the operator names one' })
        }
        if (organisation !== undefined) requireScope(call.principal!, 'operator')
        const staging =
          token === undefined ? await linking.named(organisation!) : await linking.ownedBy(token)
        await linking.link(call.org, staging, actorOf(call))
        return json(201, await answer(call))
      },
    }),
    route({
      ...owns,
      method: 'DELETE',
      path: '/manage/environments/:organisation',
      operation: 'unlinkEnvironment',
      errors: ['organisation_not_found'],
      summary: 'Take a link away, from either side: what was promoted stays',
      responses: { 204: { description: 'It is gone.' } },
      async handle(call) {
        await linking.unlink(call.org, namedIn(call), actorOf(call))
        return { status: 204 }
      },
    }),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/environments/:organisation/flows',
      operation: 'compareEnvironment',
      errors: ['organisation_not_found'],
      summary: 'What each flow of an organisation that tries flows for this one is here',
      responses: { 200: { description: 'The flows of both, by key.', schema: StagedFlows } },
      async handle(call) {
        const staging = await linking.stagingOf(call.org, namedIn(call))
        const compared = await promotion.compared(call.org, staging)
        const told: StagedFlows = {
          organisation: toldLink(staging),
          flows: compared.map(({ key, name, state, staged, own }) => ({
            ...{ key, name, state },
            staging: staged && there(staged.flow, staged.side),
            production: own && here(own),
          })),
        }
        return json(200, told)
      },
    }),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/environments/:organisation/flows/:key/diff',
      operation: 'diffPromotion',
      errors: ['organisation_not_found', 'flow_not_found', 'version_not_found'],
      summary: 'What promoting a flow would change here',
      query: PromotionQuery,
      responses: { 200: { description: 'The differences.', schema: PromotionAnswer } },
      async handle(call) {
        const staging = await linking.stagingOf(call.org, namedIn(call))
        const key = keyIn(call)
        const { side } = call.query
        const found = await promotion.difference(call.org, staging, key, side)
        const { staged, own, state, difference, foreignOrigins } = found
        const told: PromotionAnswer = {
          ...{ key, state, ...difference, foreignOrigins },
          staging: { ...there(staged.flow, staged.side), etag: etagOf(staged.flow) },
          production: own && { ...here(own), etag: etagOf(own) },
        }
        return json(200, told)
      },
    }),
    route({
      ...writes,
      method: 'POST',
      path: '/manage/environments/:organisation/flows/:key/promote',
      operation: 'promoteFlow',
      errors: [
        ...(['organisation_not_found', 'flow_not_found', 'version_not_found'] as const),
        ...(['flow_locked', 'too_many_flows'] as const),
      ],
      summary: 'Make what was tried there the draft here: just what was read',
      description:
        'Steps and items are known by their keys and keep the ids that they have here. With `publish` the scope flows:publish is needed too.',
      body: PromoteBody,
      isConditional: true,
      responses: { 200: { description: 'The flow after it.', schema: PushedFlows } },
      async handle(call) {
        const { stagingEtag, side, publish = false, note = null } = call.body
        if (publish) requireScope(call.principal!, 'flows:publish')
        const staging = await linking.stagingOf(call.org, namedIn(call))
        const isExpected = expectedIn(call)
        const { flow, ...rest } = await promotion.promote(
          call.org,
          staging,
          keyIn(call),
          { side, stagingEtag, isExpected, publish },
          { actor: actorOf(call), note },
        )
        return json(200, { dryRun: false, flows: [{ ...toldFlow(flow), ...rest }] })
      },
    }),
  ]
}
