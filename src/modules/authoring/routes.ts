import type { Static } from '@sinclair/typebox'
import { invalid } from '../../core/errors.ts'
import { flowFileSchema } from '../../core/flow/schema.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import type { Clock } from '../../core/time/clock.ts'
import { freshReply } from '../../http/encoded.ts'
import { requireScope } from '../../http/principal.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { FlowOrigin, FlowStore, LookStore } from '../../storage/interfaces/authoring.ts'
import { excessOfText } from './bounds.ts'
import { definitionsIn, requireFew } from './definitions.ts'
import { draftRoutes } from './draft-routes.ts'
import { Pins } from './pins.ts'
import { publicationRoutes } from './publication-routes.ts'
import { Repairs } from './repairs.ts'
import { byOf, told } from './replies.ts'
import {
  ListedFlows,
  ListQuery,
  maxBytesACall,
  maxFlowsACall,
  PushBody,
  PushedFlows,
  SchemaAnswer,
  ValidateBody,
  Validated,
} from './schema.ts'
import { Authoring } from './service.ts'
import { stepRoutes } from './step-routes.ts'

/** What a push says about where one of its flows comes from. */
function originFor(
  key: string,
  source: Static<typeof PushBody>['source'],
  isLocked: boolean,
): FlowOrigin {
  if (!source) return { source: null, isLocked: false }
  const { repository, commit, paths = {} } = source
  const path = Object.hasOwn(paths, key) ? paths[key]! : null
  return { source: { repository, commit, path }, isLocked }
}

const reads = managing('flows:read')
const writes = managing('flows:write')

/** Routes for what authors do with flows. */
export function authoringRoutes({
  flows: store,
  looks,
  flowWork,
  clock,
}: {
  flows: FlowStore
  looks: LookStore
  flowWork: FlowWork
  clock: Clock
}): Route[] {
  const authoring = new Authoring(store, flowWork, clock)
  const pins = new Pins(authoring, looks, clock)
  const repairs = new Repairs(authoring, looks, clock)
  return [
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows',
      operation: 'listAuthoredFlows',
      summary: 'All flows of the organisation, by key',
      query: ListQuery,
      responses: { 200: { description: 'The flows.', schema: ListedFlows, isShared: true } },
      async handle(call) {
        const { ref } = call.org
        const all = await authoring.flows(ref)
        if (call.query.definitions === undefined) return freshReply(call, { flows: all.map(told) })
        const flows = all.map(async flow => {
          const parts = await store.publishedParts(ref, flow.key)
          return {
            ...told(flow),
            draft: flow.draft,
            published: flow.newest?.definition ?? null,
            publishedSteps: parts.stepKeys,
            publishedItems: parts.itemKeys,
          }
        })
        return freshReply(call, { flows: await Promise.all(flows) })
      },
    }),
    ...draftRoutes(authoring, flowWork),
    ...publicationRoutes(authoring),
    route({
      ...writes,
      method: 'POST',
      path: '/manage/push',
      operation: 'pushFlows',
      errors: ['too_many_flows'],
      summary: 'Make drafts of flows, all or none',
      description: `At most ${maxFlowsACall} flows. With \`publish\` the scope flows:publish is needed too.`,
      body: PushBody,
      bodyLimitBytes: maxBytesACall,
      responses: { 200: { description: 'The outcome for each.', schema: PushedFlows } },
      async handle(call) {
        const { flows, publish = false, dryRun = false, source, lock = false, note } = call.body
        if (lock && !source) throw invalid({ path: '/source', message: 'Is required beside lock' })
        if (publish) requireScope(call.principal!, 'flows:publish')
        requireFew(call, '/flows', flows)
        const definitions = await definitionsIn(
          flows.map((flow, i) => ({ flow, path: `/flows/${i}` })),
          call.org.ref,
          flowWork,
        )
        const origins = new Map(definitions.map(({ key }) => [key, originFor(key, source, lock)]))
        const options = { publish, isTrial: dryRun, origins }
        const pushed = await authoring.push(call.org.ref, definitions, byOf(call, note), options)
        return json(200, {
          dryRun,
          flows: pushed.map(({ flow, ...rest }) => ({ ...told(flow), ...rest })),
        })
      },
    }),
    ...stepRoutes({ pins, repairs }),
    route({
      ...reads,
      method: 'POST',
      path: '/manage/validate',
      operation: 'validateFlows',
      summary: 'Judge a flow file by the rules of a push, with lines and columns',
      body: ValidateBody,
      bodyLimitBytes: maxBytesACall,
      responses: { 200: { description: 'What is wrong with it.', schema: Validated } },
      async handle(call) {
        const { text, format = 'yaml', normalised = false } = call.body
        const excess = excessOfText(text)
        if (excess !== null) throw invalid({ path: '/text', message: excess })
        const options = { format, ...(normalised && { shownAt: clock.now() }) }
        const { ref } = call.org
        let judged = await flowWork(ref, 'judge', text, options)
        if (judged.problems.some(({ code }) => code === 'unknown_flow')) {
          const others = (await authoring.flows(ref)).map(({ key }) => key)
          judged = await flowWork(ref, 'judge', text, { ...options, others })
        }
        const { flows, problems, pages } = judged
        return json(200, {
          valid: !problems.some(({ severity }) => severity === 'error'),
          flows: flows.map(({ key }) => key),
          problems,
          ...(pages && { definitions: flows, normalised: pages }),
        })
      },
    }),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/schema',
      operation: 'getFlowFileSchema',
      summary: 'The JSON Schema of flow files, by which editors complete them',
      responses: { 200: { description: 'The schema.', schema: SchemaAnswer, isShared: true } },
      handle: call => freshReply(call, flowFileSchema()),
    }),
  ]
}
