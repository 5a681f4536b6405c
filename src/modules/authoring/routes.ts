import type { Static } from '@sinclair/typebox'
import { invalid } from '../../core/errors.ts'
import { flowFileSchema } from '../../core/flow/schema.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import { management } from '../../http/management.ts'
import { requireScope } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Route } from '../../http/route.ts'
import type {
  AuthoredFlow,
  FlowOrigin,
  FlowStore,
  LookStore,
} from '../../storage/interfaces/authoring.ts'
import { publicationRoutes } from './publication-routes.ts'
import {
  authoringOf,
  definitionsIn,
  excessOfText,
  expectedIn,
  keyOf,
  requireFew,
} from './requests.ts'
import { newestDefinition, recordOf, recordsOf } from './rules.ts'
import {
  DiffAnswer,
  DiffQuery,
  DraftAnswer,
  DraftQuery,
  ListedFlows,
  ListQuery,
  maxBytesACall,
  maxFlowsACall,
  Noted,
  PinAnswer,
  PinBody,
  PushBody,
  PushedFlows,
  RepairAnswer,
  RepairBody,
  SchemaAnswer,
  ValidateBody,
  Validated,
  WrittenFlow,
} from './schema.ts'
import {
  differenceOf,
  discardDraft,
  flowNamed,
  pushFlows,
  putDraft,
  unlockFlow,
} from './service.ts'
import { pinSteps, repairStep } from './steps.ts'

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

const reads = management('flows:read')
const writes = management('flows:write')

const draft = { returns: DraftAnswer, etag: ({ etag }: { etag: string }) => etag }

/** Routes for what authors do with flows. */
export function authoringRoutes(deps: {
  flows: FlowStore
  looks: LookStore
  flowWork: FlowWork
}): Route[] {
  const { flows: store, flowWork, looks } = deps
  const draftOf = async ({ org }: RequestContext, flow: AuthoredFlow, withText = false) => {
    const definition = newestDefinition(flow)
    return {
      ...recordOf(flow),
      state: flow.draft === null ? ('published' as const) : ('draft' as const),
      definition,
      ...(withText && { text: await flowWork(org.ref, 'flowText', definition) }),
    }
  }
  return [
    reads.get(
      '/manage/flows',
      'listAuthoredFlows',
      'List the flows of the organisation, by key',
      { query: ListQuery, returns: ListedFlows, isShared: true },
      async ({ org, query }) => {
        const { flows } = await store.read(org.ref)
        if (query.definitions === undefined) return { flows: flows.map(recordOf) }
        const listed = flows.map(async flow => {
          const { stepKeys, itemKeys } = await store.publishedParts(org.ref, flow.key)
          return {
            ...recordOf(flow),
            draft: flow.draft,
            published: flow.newest?.definition ?? null,
            publishedSteps: [...stepKeys],
            publishedItems: [...itemKeys],
          }
        })
        return { flows: await Promise.all(listed) }
      },
    ),
    reads.get(
      '/manage/flows/:key/draft',
      'getDraft',
      'Get the draft of a flow, or its newest version if there is no draft',
      { ...draft, query: DraftQuery, errors: ['flow_not_found'] },
      async call => {
        const flow = await flowNamed(authoringOf(call, deps), keyOf(call))
        return draftOf(call, flow, call.query.text !== undefined)
      },
    ),
    writes.put(
      '/manage/flows/:key/draft',
      'putDraft',
      'Save the draft of a flow',
      {
        ...draft,
        description:
          'Send the `ETag` that you have read as `If-Match`. For a new flow, send `If-None-Match: *`.',
        query: DraftQuery,
        body: WrittenFlow,
        bodyLimitBytes: maxBytesACall,
        isConditional: true,
        errors: ['too_many_flows', 'flow_locked'],
      },
      async call => {
        const written = [{ flow: call.body, path: '' }]
        const [definition] = await definitionsIn(written, call.org.ref, flowWork)
        if (definition?.key !== keyOf(call)) {
          throw invalid({ path: '/key', message: 'Must be the key in the path' })
        }
        const flow = await putDraft(authoringOf(call, deps), definition, expectedIn(call))
        return draftOf(call, flow, call.query.text !== undefined)
      },
    ),
    writes.remove(
      '/manage/flows/:key/draft',
      'discardDraft',
      'Discard the draft of a flow and return to its newest version',
      {
        ...draft,
        response: 'The newest version.',
        isConditional: true,
        errors: ['flow_not_found', 'version_not_found', 'flow_locked'],
      },
      async call =>
        draftOf(call, await discardDraft(authoringOf(call, deps), keyOf(call), expectedIn(call))),
    ),
    writes.post(
      '/manage/flows/:key/unlock',
      'unlockFlow',
      'Unlock a flow that was pushed with `lock`',
      {
        ...draft,
        status: 200,
        description: 'The next push may lock it again, and overwrites what was changed meanwhile.',
        body: Noted,
        errors: ['flow_not_found'],
      },
      async call =>
        draftOf(call, await unlockFlow(authoringOf(call, deps, call.body.note), keyOf(call))),
    ),
    reads.get(
      '/manage/flows/:key/diff',
      'diffFlow',
      'Compare two versions of a flow, or a version and the draft',
      { query: DiffQuery, returns: DiffAnswer, errors: ['flow_not_found', 'version_not_found'] },
      call => differenceOf(authoringOf(call, deps), keyOf(call), call.query.from, call.query.to),
    ),
    ...publicationRoutes(deps),
    writes.post(
      '/manage/push',
      'pushFlows',
      'Save several drafts, all or none',
      {
        description: `At most ${maxFlowsACall} flows. \`publish\` also needs the scope flows:publish.`,
        body: PushBody,
        bodyLimitBytes: maxBytesACall,
        returns: PushedFlows,
        status: 200,
        response: 'The outcome for each flow.',
        errors: ['too_many_flows'],
      },
      async call => {
        const { flows, publish = false, dryRun = false, source, lock = false, note } = call.body
        if (lock && !source) throw invalid({ path: '/source', message: 'Is required beside lock' })
        if (publish) requireScope(call.principal!, 'flows:publish')
        requireFew(call, '/flows', flows)
        const written = flows.map((flow, index) => ({ flow, path: `/flows/${index}` }))
        const definitions = await definitionsIn(written, call.org.ref, flowWork)
        const origins = new Map(definitions.map(({ key }) => [key, originFor(key, source, lock)]))
        const authoring = authoringOf(call, deps, note)
        const options = { publish, isTrial: dryRun, origins }
        const pushed = await pushFlows(authoring, definitions, options)
        return { dryRun, flows: recordsOf(pushed) }
      },
    ),
    writes.post(
      '/manage/pin',
      'pinSteps',
      'Pin the baselines of published steps to the drafts of their flows',
      {
        description:
          'Pages then find an element by its fingerprint if its selector finds nothing. Review the drafts before you publish them.',
        body: PinBody,
        returns: PinAnswer,
        status: 200,
        response: 'The outcome for each step.',
      },
      async call => {
        const { dryRun = false, ...scope } = call.body
        if (scope.step !== undefined && scope.flow === undefined) {
          throw invalid({ path: '/flow', message: 'Is required beside step' })
        }
        const authoring = { ...authoringOf(call, deps), looks }
        return { dryRun, steps: await pinSteps(authoring, scope, dryRun) }
      },
    ),
    writes.post(
      '/manage/flows/:key/steps/:step/repair',
      'repairStep',
      'Replace the selector of a step in the draft',
      {
        description:
          'Uses the selector that you send, or else the one by which pages of the last 24 hours would find the element of the published version again. Nothing is published.',
        body: RepairBody,
        returns: RepairAnswer,
        status: 200,
        response: 'The selector before and after.',
        etag: ({ flow }) => flow.etag,
        isConditional: true,
        errors: ['flow_not_found', 'step_not_found', 'nothing_to_repair', 'flow_locked'],
      },
      async call => {
        const { selector, alone = false, note } = call.body
        if (alone && selector === undefined) {
          throw invalid({ path: '/selector', message: 'Is required beside alone' })
        }
        const authoring = { ...authoringOf(call, deps, note), looks }
        const step = call.params.step ?? ''
        const sent = selector === undefined ? null : { selector, isAlone: alone }
        const repaired = await repairStep(authoring, keyOf(call), step, sent, expectedIn(call))
        return { step, ...repaired, flow: recordOf(repaired.flow) }
      },
    ),
    reads.post(
      '/manage/validate',
      'validateFlows',
      'Check a flow file without saving it',
      {
        body: ValidateBody,
        bodyLimitBytes: maxBytesACall,
        returns: Validated,
        status: 200,
        response: 'The problems of the file, with lines and columns.',
      },
      async ({ body, org, receivedAt }) => {
        const { text, format = 'yaml', normalised = false } = body
        const excess = excessOfText(text)
        if (excess !== null) throw invalid({ path: '/text', message: excess })
        const options = { format, ...(normalised && { shownAt: receivedAt }) }
        let judged = await flowWork(org.ref, 'judge', text, options)
        if (judged.problems.some(({ code }) => code === 'unknown_flow')) {
          const others = (await store.read(org.ref)).flows.map(({ key, status }) => ({
            key,
            status,
          }))
          judged = await flowWork(org.ref, 'judge', text, { ...options, others })
        }
        const { flows, problems, pages } = judged
        return {
          valid: !problems.some(({ severity }) => severity === 'error'),
          flows: flows.map(({ key }) => key),
          problems,
          ...(pages && { definitions: flows, normalised: pages }),
        }
      },
    ),
    reads.get(
      '/manage/schema',
      'getFlowFileSchema',
      'Get the JSON Schema of flow files, for completion in editors',
      { returns: SchemaAnswer, isShared: true },
      flowFileSchema,
    ),
  ]
}
