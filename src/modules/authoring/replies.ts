import { isPromoted } from '../../core/flow/flow.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { actorOf } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json, type Reply } from '../../http/responder.ts'
import type { AuthoredFlow } from '../../storage/interfaces/authoring.ts'
import { etagOf, newestDefinition } from './rules.ts'
import type { AuthoredFlow as AuthoredFlowAnswer } from './schema.ts'
import { type By, type Expected, expectationOf } from './service.ts'

/** What all authoring routes read from a request, and how they return a flow. */

/** Who makes a change, and their note about it. */
export const byOf = (call: RequestContext, note?: string): By => ({
  actor: actorOf(call),
  note: note ?? null,
})

/** The key of the flow that the path names. */
export const keyOf = ({ params }: RequestContext) => params.key ?? ''

/** What the headers of a request require of a flow. */
export const expectedIn = ({ request: { headers } }: RequestContext): Expected =>
  expectationOf(headers.get('if-match'), headers.get('if-none-match'))

/** A flow as lists and answers return it. */
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

/** A flow with its newest definition, and the ETag to send with a change to it. */
export const draftReplies =
  (flowWork: FlowWork) =>
  async ({ org }: RequestContext, flow: AuthoredFlow, withText = false): Promise<Reply> => {
    const etag = etagOf(flow)
    const state = flow.draft === null ? 'published' : 'draft'
    const definition = newestDefinition(flow)
    const text = withText && { text: await flowWork(org.ref, 'flowText', definition) }
    const body = { ...told(flow), state, definition, ...text }
    return json(200, body, { ETag: etag, 'Cache-Control': 'private, no-cache' })
  }
