import { invalid } from '../../core/errors.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import { auditOf, management } from '../../http/management.ts'
import { requireScope } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Route } from '../../http/route.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import { Environments } from '../../storage/interfaces/environments.ts'
import { authoringOf, expectedIn, keyOf } from '../authoring/requests.ts'
import { recordsOf } from '../authoring/rules.ts'
import { PushedFlows } from '../authoring/schema.ts'
import {
  type Linking,
  link,
  organisationNamed,
  organisationOf,
  stagingOf,
  unlink,
} from './linking.ts'
import { LinkBody, PromoteBody, PromotionAnswer, PromotionQuery, StagedFlows } from './schema.ts'
import { comparedFlows, promoteFlow, promotionDifference } from './service.ts'

const reads = management('flows:read')
const writes = management('flows:write')
const owner = management('settings:write')

/** Routes for staging organisations, in which flows are tried before production gets them. */
export function environmentRoutes(
  deps: Linking & { flows: FlowStore; flowWork: FlowWork },
): Route[] {
  const { environments: store, flows } = deps
  const stagingIn = ({ org, params }: RequestContext) =>
    stagingOf(deps, org, params.organisation ?? '')
  return [
    reads.get(
      '/manage/environments',
      'getEnvironments',
      'List the organisations that are linked as staging or production',
      { returns: Environments },
      ({ org }) => store.links(org.ref),
    ),
    owner.post(
      '/manage/environments',
      'linkEnvironment',
      'Link another organisation as staging',
      {
        description:
          'Callers who may write flows here can then read the flows of that organisation, and nothing else of it.',
        body: LinkBody,
        returns: Environments,
        response: 'The links.',
        errors: ['organisation_not_found', 'cannot_link'],
      },
      async call => {
        const { organisation, token } = call.body
        if ((organisation === undefined) === (token === undefined)) {
          const message = 'Is required, unless the operator sends organisation'
          throw invalid({ path: '/token', message })
        }
        if (organisation !== undefined) requireScope(call.principal!, 'operator')
        const staging =
          token === undefined
            ? organisationNamed(deps, organisation!)
            : await organisationOf(deps, token, call.receivedAt)
        await link(deps, call.org, staging, auditOf(call))
        return store.links(call.org.ref)
      },
    ),
    owner.remove(
      '/manage/environments/:organisation',
      'unlinkEnvironment',
      'Unlink a staging or production organisation',
      {
        description: 'Flows that were promoted stay.',
        errors: ['organisation_not_found'],
        response: 'Organisation unlinked.',
      },
      call => unlink(deps, call.org, call.params.organisation ?? '', auditOf(call)),
    ),
    reads.get(
      '/manage/environments/:organisation/flows',
      'compareEnvironment',
      'Compare the flows of a staging organisation with those of this one',
      { returns: StagedFlows, errors: ['organisation_not_found'] },
      async call => {
        const staging = await stagingIn(call)
        const { id, slug, name, linkedAt } = staging
        const compared = await comparedFlows(flows, call.org, staging)
        return { organisation: { id, slug, name, linkedAt }, flows: compared }
      },
    ),
    reads.get(
      '/manage/environments/:organisation/flows/:key/diff',
      'diffPromotion',
      'Show what promoting a flow would change',
      {
        query: PromotionQuery,
        returns: PromotionAnswer,
        errors: ['organisation_not_found', 'flow_not_found', 'version_not_found'],
      },
      async call => {
        const staging = await stagingIn(call)
        const { side } = call.query
        return promotionDifference(authoringOf(call, deps), call.org, staging, keyOf(call), side)
      },
    ),
    writes.post(
      '/manage/environments/:organisation/flows/:key/promote',
      'promoteFlow',
      'Save a flow of a staging organisation as the draft here',
      {
        description:
          'Steps and items keep the ids that their keys have here. `publish` also needs the scope flows:publish.',
        body: PromoteBody,
        returns: PushedFlows,
        status: 200,
        isConditional: true,
        errors: [
          'organisation_not_found',
          'flow_not_found',
          'version_not_found',
          'flow_locked',
          'too_many_flows',
        ],
      },
      async call => {
        const { stagingEtag, side, publish = false, note } = call.body
        if (publish) requireScope(call.principal!, 'flows:publish')
        const staging = await stagingIn(call)
        const requested = { side, stagingEtag, isExpected: expectedIn(call), publish }
        const authoring = authoringOf(call, deps, note)
        const promoted = await promoteFlow(authoring, call.org, staging, keyOf(call), requested)
        return { dryRun: false, flows: recordsOf(promoted) }
      },
    ),
  ]
}
