import { invalid } from '../../core/errors.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import { definitionsIn } from './definitions.ts'
import { byOf, draftReplies, expectedIn, keyOf } from './replies.ts'
import {
  DiffAnswer,
  DiffQuery,
  DraftAnswer,
  DraftBody,
  DraftQuery,
  maxBytesACall,
  Noted,
} from './schema.ts'
import type { Authoring, Side } from './service.ts'

const reads = managing('flows:read')
const writes = managing('flows:write')

/** Routes for a flow's draft: what its author wrote last. */
export function draftRoutes(authoring: Authoring, flowWork: FlowWork): Route[] {
  const draftReply = draftReplies(flowWork)
  return [
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows/:key/draft',
      operation: 'getDraft',
      errors: ['flow_not_found'],
      summary: 'What the author of a flow wrote last, to be edited',
      query: DraftQuery,
      responses: { 200: { description: 'The draft.', schema: DraftAnswer, hasETag: true } },
      async handle(call) {
        const flow = await authoring.flow(call.org.ref, keyOf(call))
        return draftReply(call, flow, call.query.text !== undefined)
      },
    }),
    route({
      ...writes,
      method: 'PUT',
      path: '/manage/flows/:key/draft',
      operation: 'putDraft',
      errors: ['too_many_flows', 'flow_locked'],
      summary: 'Make a flow the draft of its key',
      description:
        'Send the `ETag` that you have read as `If-Match`; for a new flow `If-None-Match: *`.',
      query: DraftQuery,
      body: DraftBody,
      bodyLimitBytes: maxBytesACall,
      isConditional: true,
      responses: { 200: { description: 'The draft.', schema: DraftAnswer, hasETag: true } },
      async handle(call) {
        const [definition] = await definitionsIn(
          [{ flow: call.body, path: '' }],
          call.org.ref,
          flowWork,
        )
        if (definition?.key !== keyOf(call)) {
          throw invalid({ path: '/key', message: 'Must be the key in the path' })
        }
        const isExpected = expectedIn(call)
        const flow = await authoring.putDraft(call.org.ref, definition, byOf(call), isExpected)
        return draftReply(call, flow, call.query.text !== undefined)
      },
    }),
    route({
      ...writes,
      method: 'DELETE',
      path: '/manage/flows/:key/draft',
      operation: 'discardDraft',
      errors: ['flow_not_found', 'version_not_found', 'flow_locked'],
      summary: 'Give a draft up: the newest published version is what there is',
      isConditional: true,
      responses: {
        200: { description: 'The newest version.', schema: DraftAnswer, hasETag: true },
      },
      async handle(call) {
        const isExpected = expectedIn(call)
        return draftReply(
          call,
          await authoring.discardDraft(call.org.ref, keyOf(call), byOf(call), isExpected),
        )
      },
    }),
    route({
      ...writes,
      method: 'POST',
      path: '/manage/flows/:key/unlock',
      operation: 'unlockFlow',
      errors: ['flow_not_found'],
      summary: 'Let a flow be changed here again that was pushed with `lock`',
      description: 'The next push may lock it again, and writes over what was changed meanwhile.',
      body: Noted,
      responses: { 200: { description: 'The flow.', schema: DraftAnswer, hasETag: true } },
      async handle(call) {
        const by = byOf(call, call.body.note)
        return draftReply(call, await authoring.unlock(call.org.ref, keyOf(call), by))
      },
    }),
    route({
      ...reads,
      method: 'GET',
      path: '/manage/flows/:key/diff',
      operation: 'diffFlow',
      errors: ['flow_not_found', 'version_not_found'],
      summary: 'What would change if one version, or the draft, took the place of another',
      query: DiffQuery,
      responses: { 200: { description: 'The differences.', schema: DiffAnswer } },
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
  ]
}
