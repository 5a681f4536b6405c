import { invalid, unauthorized } from '../../core/errors.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import { knowsNoPreviews, previewsSince } from '../../core/organisation/preview-link.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { actorOf } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { Preview, PreviewStore, SeenSnippet } from '../../storage/interfaces/previews.ts'
import { definitionsIn } from '../authoring/requests.ts'
import { maxBytesACall } from '../authoring/schema.ts'
import { CreatedPreview, NewPreviewBody, PreviewAnswer, PreviewList } from './schema.ts'
import { Previews, type Shown } from './service.ts'

const writes = managing('flows:write')

const told = (preview: Preview) => {
  const { id, flow, isFile, url, origin, madeBy, madeAt, expiresAt, openedAt } = preview
  const at = { madeAt: isoTime(madeAt), expiresAt: isoTime(expiresAt) }
  return { id, flow, isFile, url, origin, madeBy, ...at, openedAt: isoTimeOrNull(openedAt) }
}

/** @throws AppError `validation_failed` */
async function shownBy(
  { flow, definition, url, minutes }: NewPreviewBody,
  orgRef: OrganisationRef,
  flowWork: FlowWork,
): Promise<Shown> {
  if ((flow === undefined) === (definition === undefined)) {
    throw invalid({ path: '/flow', message: 'Is required, or a definition in its place' })
  }
  const [written] = definition
    ? await definitionsIn([{ flow: definition, path: '/definition' }], orgRef, flowWork)
    : []
  const where = { ...(url !== undefined && { url }), ...(minutes !== undefined && { minutes }) }
  return { flow: written ?? flow!, ...where }
}

/** The ticket that a page got from its address. @throws AppError `unauthorized` */
function ticketOf({ request }: RequestContext): string {
  const [, ticket] = /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  if (ticket === undefined) throw unauthorized('unknown_preview')
  return ticket
}

/** Routes that show drafts in the real page to those who hold a link. */
export function previewRoutes({
  previews: store,
  flows,
  stores,
  flowWork,
  clock,
}: {
  previews: PreviewStore
  flows: Pick<FlowStore, 'read'>
  stores: Pick<GateStores, 'catalogue'> & { presence: SeenSnippet }
  flowWork: FlowWork
  clock: Clock
}): Route[] {
  const previews = new Previews(store, flows, stores, clock)
  return [
    route({
      ...writes,
      method: 'POST',
      path: '/manage/previews',
      operation: 'createPreview',
      summary: 'Make a link by which a draft is looked at in the real page',
      description:
        'Whoever holds the link sees the draft on pages of one origin that have the snippet, until it ' +
        'ends; nothing there is counted. A stored flow is shown as it is at each load. Links are in ' +
        'memory alone, and end when the server is restarted.',
      body: NewPreviewBody,
      bodyLimitBytes: maxBytesACall,
      errors: ['flow_not_found', 'too_many_previews'],
      responses: { 201: { description: 'The link, returned once.', schema: CreatedPreview } },
      async handle(call) {
        const { org } = call
        const shown = await shownBy(call.body, org.ref, flowWork)
        const { link, ...made } = await previews.begin(org, shown, actorOf(call))
        const { snippetVersion } = await stores.presence.read(org.ref, call.receivedAt)
        const isOld = snippetVersion !== null && knowsNoPreviews(snippetVersion)
        const oldSnippet = isOld ? snippetVersion : null
        const answer = { ...told(made), link, oldSnippet, needsSnippet: previewsSince }
        return json(201, answer satisfies CreatedPreview)
      },
    }),
    route({
      ...writes,
      method: 'GET',
      path: '/manage/previews',
      operation: 'listPreviews',
      summary: 'The links to previews that work, the newest first, without their tickets',
      responses: { 200: { description: 'The links.', schema: PreviewList } },
      async handle(call) {
        const listed = await store.list(call.org.ref, call.receivedAt)
        return json(200, { previews: listed.map(told) } satisfies PreviewList)
      },
    }),
    route({
      ...writes,
      method: 'DELETE',
      path: '/manage/previews/:preview_id',
      operation: 'endPreview',
      errors: ['not_found'],
      summary: 'Revoke a preview link',
      responses: { 204: { description: 'It has ended.' } },
      async handle(call) {
        await previews.end(call.org, call.params.preview_id ?? '', actorOf(call))
        return { status: 204 }
      },
    }),
    route({
      tag: 'Management',
      caller: 'anyone',
      isProductFile: true,
      // POST, because browsers send no origin with a GET to the same origin.
      method: 'POST',
      path: '/preview/flow',
      operation: 'getPreviewedFlow',
      summary: 'The draft that a link is for, told to a page of its origin',
      responses: { 200: { description: 'The draft.', schema: PreviewAnswer } },
      async handle(call) {
        return json(200, (await previews.look(ticketOf(call), call.origin)) satisfies PreviewAnswer)
      },
    }),
  ]
}
