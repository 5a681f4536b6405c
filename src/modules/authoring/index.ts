import type { Static } from '@sinclair/typebox'
import { invalid, type Problem } from '../../core/errors.ts'
import { asPublished } from '../../core/flow/as-published.ts'
import { readFlowFile } from '../../core/flow/file.ts'
import { type FlowDefinition, isPromoted } from '../../core/flow/flow.ts'
import { flowFileSchema } from '../../core/flow/schema.ts'
import { flowText } from '../../core/flow/text.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { freshReply } from '../../http/encoded.ts'
import { actorOf, requireScope } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import { patientSlices } from '../../scheduling/cooperative.ts'
import { excessOfText, excessOfValue } from './bounds.ts'
import {
  type AuthoredFlow as AuthoredFlowAnswer,
  ChangedFlows,
  DiffAnswer,
  DiffQuery,
  DraftAnswer,
  DraftBody,
  DraftQuery,
  ListedFlows,
  ListQuery,
  mostBytesACall,
  mostFlowsACall,
  Noted,
  PinAnswer,
  PinBody,
  type PinnedStep,
  PushBody,
  PushedFlows,
  RepairAnswer,
  RepairBody,
  Restored,
  SchemaAnswer,
  StatusBody,
  ValidateBody,
  Validated,
  VersionAnswer,
  VersionList,
} from './model.ts'
import { type Pin, Pins } from './pins.ts'
import type { AuthoredFlow, FlowOrigin, FlowStore, LookStore } from './port.ts'
import { Repairs } from './repairs.ts'
import { etagOf, mostFlows, newestDefinition } from './rules.ts'
import { Authoring, type By, type Expected, expectationOf, type Side } from './service.ts'

export { DiffAnswer, mostBytesACall, Note, PushedFlows } from './model.ts'
export { takenOver } from './pins.ts'
export type { AuthoredFlow, FlowStore, StepBaseline } from './port.ts'
export { etagOf, newestDefinition, requireUnlocked } from './rules.ts'
export { Authoring, type By, type Expected } from './service.ts'

const byOf = (call: RequestContext, note?: string): By => ({
  actor: actorOf(call),
  note: note ?? null,
})

const keyOf = ({ params }: RequestContext) => params.key ?? ''

/** What the headers of a request ask of a flow. */
export const expectedIn = ({ request: { headers } }: RequestContext): Expected =>
  expectationOf(headers.get('if-match'), headers.get('if-none-match'))

export function told(flow: AuthoredFlow): AuthoredFlowAnswer {
  const { id, key, status, draft, newest, updatedAt, source, isLocked } = flow
  const { name, kind, steps, checklist } = newestDefinition(flow)
  return {
    id,
    key,
    name,
    kind,
    status,
    version: newest?.version ?? null,
    publishedAt: isoTimeOrNull(newest?.publishedAt ?? null),
    hasDraft: draft !== null,
    updatedAt: isoTime(updatedAt),
    stepCount: steps.length,
    itemCount: checklist?.items.length ?? 0,
    etag: etagOf(flow),
    source: isPromoted(source) ? null : source,
    ...(isPromoted(source) && { promotedFrom: source }),
    isLocked,
  }
}

/**
 * Flows of a body, read by the rules of flow files.
 *
 * @param written each with where in the body it stands
 * @throws AppError `validation_failed` with every mistake
 */
export async function definitionsIn(
  written: readonly { flow: unknown; path: string }[],
): Promise<FlowDefinition[]> {
  const flows: FlowDefinition[] = []
  const wrong: Problem[] = []
  const places = new Map<string, string>()
  // Judging fifty at once would keep pages waiting.
  const slices = patientSlices()
  for (const { flow, path } of written) {
    await slices.rest()
    const excess = excessOfValue(flow)
    if (excess !== null) throw invalid({ path, message: excess })
    // In a list, so that it cannot be one itself.
    const file = readFlowFile(JSON.stringify([flow]), { format: 'json' })
    const errors = file.problems.filter(({ severity }) => severity === 'error')
    wrong.push(...errors.map(({ path: at, message }) => ({ path: path + at.slice(2), message })))
    const [definition] = file.flows
    if (!definition) continue
    const earlier = places.get(definition.key)
    if (earlier !== undefined) {
      wrong.push({ path: `${path}/key`, message: `Must not be that of ${earlier}` })
    }
    places.set(definition.key, path)
    flows.push(definition)
  }
  if (wrong.length > 0) throw invalid(...wrong)
  return flows
}

/** The operator changes as many at once as an organisation may have: all of them or none. */
function requireFew(call: RequestContext, path: string, flows: readonly unknown[]): void {
  const most = call.principal?.kind === 'operator' ? mostFlows : mostFlowsACall
  if (flows.length <= most) return
  throw invalid({ path, message: `Must have at most ${most} elements` })
}

/** What a push says of where one of its flows comes from. */
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

const draftReply = (status: number, flow: AuthoredFlow, withText = false) => {
  const etag = etagOf(flow)
  const state = flow.draft === null ? 'published' : 'draft'
  const definition = newestDefinition(flow)
  const text = withText && { text: flowText(definition) }
  const body = { ...told(flow), state, definition, ...text }
  return json(status, body, { ETag: etag, 'Cache-Control': 'private, no-cache' })
}

const reads = managing('flows:read')
const writes = managing('flows:write')
const publishes = managing('flows:publish')

/** What authors do with flows. */
export function authoringRoutes({
  flows: store,
  looks,
  clock,
}: {
  flows: FlowStore
  looks: LookStore
  clock: Clock
}): Route[] {
  const authoring = new Authoring(store, clock)
  const pins = new Pins(authoring, looks, clock)
  const repairs = new Repairs(authoring, looks, clock)

  /** A verb for one flow, which the path names, and for several at once. */
  const statusRoutes = (
    verb: 'publish' | 'unpublish' | 'archive',
    summary: string,
    change: (
      call: RequestContext,
      keys: readonly string[],
      by: By,
    ) => ReturnType<Authoring['publish']>,
  ): Route[] => {
    const common = {
      ...publishes,
      method: 'POST',
      summary,
      isConditional: verb === 'publish',
      refuses: ['flow_not_found', 'too_many_flows'],
      answers: { 200: { description: 'The flows after it.', schema: ChangedFlows } },
    } as const
    const answer = async (
      call: RequestContext,
      keys: readonly string[],
      note: string | undefined,
    ) => {
      const changed = await change(call, keys, byOf(call, note))
      return json(200, {
        flows: changed.map(({ flow, ...rest }) => ({ ...told(flow), ...rest })),
      })
    }
    return [
      route({
        ...common,
        path: `/manage/flows/:key/${verb}`,
        operation: `${verb}Flow`,
        body: Noted,
        handle: call => answer(call, [keyOf(call)], call.body.note),
      }),
      route({
        ...common,
        path: `/manage/${verb}`,
        operation: `${verb}Flows`,
        body: StatusBody,
        handle(call) {
          const { keys, note } = call.body
          requireFew(call, '/keys', keys)
          return answer(call, keys, note)
        },
      }),
    ]
  }

  return [
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows',
      operation: 'listAuthoredFlows',
      summary: 'All flows of the organisation, by key',
      query: ListQuery,
      answers: { 200: { description: 'The flows.', schema: ListedFlows, isShared: true } },
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
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows/:key/draft',
      operation: 'getDraft',
      refuses: ['flow_not_found'],
      summary: 'What the author of a flow wrote last, to be edited',
      query: DraftQuery,
      answers: { 200: { description: 'The draft.', schema: DraftAnswer, hasETag: true } },
      async handle(call) {
        const flow = await authoring.flow(call.org.ref, keyOf(call))
        return draftReply(200, flow, call.query.text !== undefined)
      },
    }),
    route({
      ...writes,
      method: 'PUT',
      path: '/manage/flows/:key/draft',
      operation: 'putDraft',
      refuses: ['too_many_flows', 'flow_locked'],
      summary: 'Make a flow the draft of its key',
      description:
        'Send the `ETag` that you have read as `If-Match`; for a new flow `If-None-Match: *`.',
      query: DraftQuery,
      body: DraftBody,
      bodyLimitBytes: mostBytesACall,
      isConditional: true,
      answers: { 200: { description: 'The draft.', schema: DraftAnswer, hasETag: true } },
      async handle(call) {
        const [definition] = await definitionsIn([{ flow: call.body, path: '' }])
        if (definition?.key !== keyOf(call)) {
          throw invalid({ path: '/key', message: 'Must be the key in the path' })
        }
        const isExpected = expectedIn(call)
        const flow = await authoring.putDraft(call.org.ref, definition, byOf(call), isExpected)
        return draftReply(200, flow, call.query.text !== undefined)
      },
    }),
    route({
      ...writes,
      method: 'DELETE',
      path: '/manage/flows/:key/draft',
      operation: 'discardDraft',
      refuses: ['flow_not_found', 'version_not_found', 'flow_locked'],
      summary: 'Give a draft up: the newest published version is what there is',
      isConditional: true,
      answers: { 200: { description: 'The newest version.', schema: DraftAnswer, hasETag: true } },
      async handle(call) {
        const isExpected = expectedIn(call)
        return draftReply(
          200,
          await authoring.discardDraft(call.org.ref, keyOf(call), byOf(call), isExpected),
        )
      },
    }),
    route({
      ...writes,
      method: 'POST',
      path: '/manage/flows/:key/unlock',
      operation: 'unlockFlow',
      refuses: ['flow_not_found'],
      summary: 'Let a flow be changed here again that was pushed with `lock`',
      description: 'The next push may lock it again, and writes over what was changed meanwhile.',
      body: Noted,
      answers: { 200: { description: 'The flow.', schema: DraftAnswer, hasETag: true } },
      async handle(call) {
        const by = byOf(call, call.body.note)
        return draftReply(200, await authoring.unlock(call.org.ref, keyOf(call), by))
      },
    }),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows/:key/diff',
      operation: 'diffFlow',
      refuses: ['flow_not_found', 'version_not_found'],
      summary: 'What would change if one version, or the draft, took the place of another',
      query: DiffQuery,
      answers: { 200: { description: 'The differences.', schema: DiffAnswer } },
      async handle(call) {
        const key = keyOf(call)
        const { ref } = call.org
        const sideOf = (given: string): Side => (given === 'draft' ? given : Number(given))
        const { newest } = await authoring.flow(ref, key)
        const from = call.query.from ?? (newest ? String(newest.version) : 'draft')
        const to = call.query.to ?? 'draft'
        return json(200, await authoring.difference(ref, key, sideOf(from), sideOf(to)))
      },
    }),
    ...statusRoutes(
      'publish',
      'Show drafts as next versions: just what was read',
      (call, keys, by) => authoring.publish(call.org.ref, keys, by, expectedIn(call)),
    ),
    ...statusRoutes('unpublish', 'Take flows back to draft', (call, keys, by) =>
      authoring.withdraw(call.org.ref, keys, 'draft', by),
    ),
    ...statusRoutes('archive', 'Put flows into the archive', (call, keys, by) =>
      authoring.withdraw(call.org.ref, keys, 'archived', by),
    ),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows/:key/versions',
      operation: 'listVersions',
      refuses: ['flow_not_found'],
      summary: 'The versions of a flow, newest first, with who published them',
      answers: { 200: { description: 'The versions.', schema: VersionList } },
      async handle(call) {
        const versions = await authoring.versions(call.org.ref, keyOf(call))
        return json(200, {
          versions: versions.map(({ published, publishedAt, ...rest }) => ({
            ...rest,
            publishedAt: isoTime(publishedAt),
            publishedBy: published && { name: published.by, via: published.via },
            note: published?.note ?? null,
          })),
        })
      },
    }),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows/:key/versions/:version',
      operation: 'getVersion',
      refuses: ['flow_not_found', 'version_not_found'],
      summary: 'One version of a flow',
      answers: { 200: { description: 'The version.', schema: VersionAnswer } },
      async handle(call) {
        const version = await authoring.version(call.org.ref, keyOf(call), versionIn(call))
        return json(200, { ...version, publishedAt: isoTime(version.publishedAt) })
      },
    }),
    route({
      ...publishes,
      method: 'POST',
      path: '/manage/flows/:key/versions/:version/restore',
      operation: 'restoreVersion',
      refuses: ['flow_not_found', 'version_not_found', 'too_many_flows'],
      summary: 'Roll back: an older version becomes the draft, and is published where asked for',
      description: 'Numbers only grow: a rollback is a new version with an old body.',
      body: Restored,
      isConditional: true,
      answers: { 200: { description: 'The flow after it.', schema: PushedFlows } },
      async handle(call) {
        const { publish = false, note } = call.body
        const { flow, ...rest } = await authoring.restore(
          call.org.ref,
          keyOf(call),
          versionIn(call),
          byOf(call, note),
          { publish, isExpected: expectedIn(call) },
        )
        return json(200, { dryRun: false, flows: [{ ...told(flow), ...rest }] })
      },
    }),
    route({
      ...writes,
      method: 'POST',
      path: '/manage/push',
      operation: 'pushFlows',
      refuses: ['too_many_flows'],
      summary: 'Make drafts of flows, all or none',
      description: `At most ${mostFlowsACall} flows. With \`publish\` the scope flows:publish is needed too.`,
      body: PushBody,
      bodyLimitBytes: mostBytesACall,
      answers: { 200: { description: 'What became of each.', schema: PushedFlows } },
      async handle(call) {
        const { flows, publish = false, dryRun = false, source, lock = false, note } = call.body
        if (lock && !source) throw invalid({ path: '/source', message: 'Is required beside lock' })
        if (publish) requireScope(call.principal!, 'flows:publish')
        requireFew(call, '/flows', flows)
        const definitions = await definitionsIn(
          flows.map((flow, i) => ({ flow, path: `/flows/${i}` })),
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
    route({
      ...writes,
      method: 'POST',
      path: '/manage/pin',
      operation: 'pinSteps',
      summary: "Take the baselines of published steps over into their flows' drafts",
      description:
        'Pages then find an element by what it was like where no selector does. Read what is taken over before you publish it.',
      body: PinBody,
      answers: { 200: { description: 'What became of each step.', schema: PinAnswer } },
      async handle(call) {
        const { flow, step, dryRun = false } = call.body
        if (step !== undefined && flow === undefined) {
          throw invalid({ path: '/flow', message: 'Is required beside step' })
        }
        const scope = {
          ...(flow !== undefined && { flowKey: flow }),
          ...(step !== undefined && { stepKey: step }),
        }
        const pinned = await pins.pin(call.org.ref, scope, byOf(call), dryRun)
        return json(200, { dryRun, steps: pinned.map(toldPin) })
      },
    }),
    route({
      ...writes,
      method: 'POST',
      path: '/manage/flows/:key/steps/:step/repair',
      operation: 'repairStep',
      summary: "Put a selector that finds a step's element into the flow's draft",
      description:
        'The one that you give, or else the one by which pages would find the element again, by what ' +
        'they told in the last 24 hours of the published version. Nothing is published.',
      body: RepairBody,
      isConditional: true,
      refuses: ['flow_not_found', 'step_not_found', 'nothing_to_repair', 'flow_locked'],
      answers: {
        200: { description: 'The selector before and after.', schema: RepairAnswer, hasETag: true },
      },
      async handle(call) {
        const { selector, alone = false, note } = call.body
        if (alone && selector === undefined) {
          throw invalid({ path: '/selector', message: 'Is required beside alone' })
        }
        const given = selector === undefined ? null : { selector, isAlone: alone }
        const stepKey = call.params.step ?? ''
        const named = { flowKey: keyOf(call), stepKey }
        const by = byOf(call, note)
        const { flow, ...repair } = await repairs.repair(
          call.org.ref,
          named,
          given,
          by,
          expectedIn(call),
        )
        const body = { step: stepKey, ...repair, flow: told(flow) }
        return json(200, body, { ETag: etagOf(flow), 'Cache-Control': 'private, no-cache' })
      },
    }),
    route({
      ...reads,
      method: 'POST',
      path: '/manage/validate',
      operation: 'validateFlows',
      summary: 'Judge a flow file by the rules of a push, with lines and columns',
      body: ValidateBody,
      bodyLimitBytes: mostBytesACall,
      answers: { 200: { description: 'What is wrong with it.', schema: Validated } },
      handle(call) {
        const { text, format = 'yaml', normalised = false } = call.body
        const excess = excessOfText(text)
        if (excess !== null) throw invalid({ path: '/text', message: excess })
        const { flows, problems } = readFlowFile(text, { format })
        const valid = !problems.some(({ severity }) => severity === 'error')
        const given = { version: 1, publishedAt: isoTime(clock.now()) }
        return json(200, {
          valid,
          flows: flows.map(({ key }) => key),
          problems,
          ...(normalised && { normalised: flows.map(flow => asPublished(flow, given)) }),
        })
      },
    }),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/schema',
      operation: 'getFlowFileSchema',
      summary: 'The JSON Schema of flow files, by which editors complete them',
      answers: { 200: { description: 'The schema.', schema: SchemaAnswer, isShared: true } },
      handle: call => freshReply(call, flowFileSchema()),
    }),
  ]
}

const toldPin = ({ flowKey, stepKey, baseline, looks, ...pin }: Pin): PinnedStep => ({
  flow: flowKey,
  step: stepKey,
  ...pin,
  baselineAt: isoTimeOrNull(baseline?.at ?? null),
  locale: baseline?.locale ?? null,
  looks,
})

function versionIn({ params }: RequestContext): number {
  const given = params.version ?? ''
  return /^[1-9]\d{0,8}$/.test(given) ? Number(given) : 0
}
