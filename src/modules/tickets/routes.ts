import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { FlowWork } from '../../core/flow/work.ts'
import { isTooOldForPreviews, previewsSince } from '../../core/organisation/ticket.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { auditOf, management } from '../../http/management.ts'
import { actorOf } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import { AuthorSession } from '../../storage/interfaces/tickets.ts'
import { maxBytesACall } from '../authoring/schema.ts'
import {
  beginSession,
  endSession,
  propose,
  readSession,
  redeem,
  visitedStep,
} from './author-sessions.ts'
import { builtDraft, proposeChange, settleChanges } from './building.ts'
import { createPreview, endPreview, listPreviews, previewedFlow } from './previews.ts'
import {
  AuthoredStep,
  BuiltDraft,
  ConnectedPage,
  CreatedAuthorSession,
  CreatedPreview,
  KnownDraft,
  NewAuthorSession,
  NewChange,
  NewPreview,
  PickedElement,
  PreviewedFlow,
  PreviewList,
  RedeemedTicket,
  SettledChanges,
} from './schema.ts'
import { holderOf, type TicketDeps } from './tickets.ts'

const writer = management('flows:write')

/** Who started a session: a dashboard session, a token, or the operator. */
function authorOf({ principal }: RequestContext): string {
  if (principal?.kind === 'session') return principal.session.sha256
  return principal?.kind === 'token' ? principal.id : 'operator'
}

const ownSession = (call: RequestContext) => ({
  organisation: call.org,
  id: call.params.session_id ?? '',
  author: authorOf(call),
})

/** A picked element takes a few kilobytes: five selectors and a fingerprint. */
const maxPickBytes = 16 * 1024
/** The longest text of a step takes 40 KB in UTF-8. */
const maxChangeBytes = 64 * 1024

interface PageShapes<B> {
  returns: TSchema
  body?: B
  bodyLimitBytes?: number
}

/**
 * A request from customers' pages, which hold a ticket in place of a snippet key. It is not part of the API.
 * POST even where nothing changes, because browsers send no origin with a GET to the same origin.
 */
const ofPage = <B extends TSchema | undefined>(
  path: string,
  operation: string,
  summary: string,
  { returns, body, bodyLimitBytes = maxPickBytes }: PageShapes<B>,
  handle: (
    call: RequestContext<null, B extends TSchema ? Static<B> : null, Record<string, never>>,
  ) => Promise<object>,
): Route =>
  route({
    ...{ tag: 'Management', caller: 'anyone', isProductFile: true, method: 'POST' },
    ...{ path, operation, summary },
    ...(body && { body, bodyLimitBytes }),
    responses: { 200: { description: 'Success.', schema: returns } },
    handle: async (call: RequestContext) => json(200, await handle(call as never)),
  } as Route)

/** Routes that let pages show drafts, and let authors pick elements on their pages. */
export function ticketRoutes(
  deps: TicketDeps & {
    flowWork: FlowWork
    stores: {
      presence: {
        read(orgRef: OrganisationRef, now: number): Promise<{ snippetVersion: string | null }>
      }
    }
  },
): Route[] {
  const { tickets: store, stores } = deps
  return [
    writer.post(
      '/manage/previews',
      'createPreview',
      'Create a preview link',
      {
        description:
          'Anyone with the link sees the draft on pages of one origin that have the snippet, until the ' +
          'link expires. Nothing there is counted. A restart of the server ends all links.',
        body: NewPreview,
        bodyLimitBytes: maxBytesACall,
        errors: ['flow_not_found', 'too_many_previews'],
        returns: CreatedPreview,
        response: 'The link. It is returned only once.',
      },
      async call => {
        const now = call.receivedAt
        const by = { madeBy: actorOf(call).name, now, audit: auditOf(call) }
        const created = await createPreview(deps, call.org, call.body, by)
        const { snippetVersion } = await stores.presence.read(call.org.ref, now)
        const isTooOld = snippetVersion !== null && isTooOldForPreviews(snippetVersion)
        const oldSnippet = isTooOld ? snippetVersion : null
        return { ...created, oldSnippet, needsSnippet: previewsSince }
      },
    ),
    writer.get(
      '/manage/previews',
      'listPreviews',
      'List working preview links, newest first',
      { returns: PreviewList },
      async ({ org, receivedAt }) => ({ previews: await listPreviews(store, org, receivedAt) }),
    ),
    writer.remove(
      '/manage/previews/:preview_id',
      'endPreview',
      'Revoke a preview link',
      { errors: ['not_found'], response: 'Link revoked.' },
      call => {
        const by = { now: call.receivedAt, audit: auditOf(call) }
        return endPreview(store, call.org, call.params.preview_id ?? '', by)
      },
    ),
    writer.post(
      '/manage/author-sessions',
      'beginAuthorSession',
      'Start an author session on a page',
      {
        description:
          'Open `openAddress` in a new tab: the snippet redeems the ticket, and you pick an element, or ' +
          'build on the draft. What the page proposes is stored in the session and changes nothing. A ' +
          'session ends 30 minutes after its page was last used, and when the server restarts.',
        body: NewAuthorSession,
        returns: CreatedAuthorSession,
        response: 'The session with its ticket, which is returned only once.',
      },
      call => beginSession(store, call.org, authorOf(call), call.body, call.receivedAt),
    ),
    writer.get(
      '/manage/author-sessions/:session_id',
      'getAuthorSession',
      'Get an author session and what its page proposed',
      {
        description: 'Only the caller who started a session can read it.',
        errors: ['not_found'],
        returns: AuthorSession,
      },
      call => readSession(store, ownSession(call), call.receivedAt),
    ),
    writer.put(
      '/manage/author-sessions/:session_id/settled',
      'settleProposedChanges',
      'Report which proposed changes the draft has',
      {
        description:
          'Save the changes in the draft first. Settled changes are removed from the session, and its page shows the draft.',
        body: SettledChanges,
        errors: ['not_found'],
        response: 'Changes settled.',
      },
      call => settleChanges(store, ownSession(call), call.body, call.receivedAt),
    ),
    writer.remove(
      '/manage/author-sessions/:session_id',
      'endAuthorSession',
      'End an author session',
      { errors: ['not_found'], response: 'Session ended.' },
      call => endSession(store, ownSession(call)),
    ),
    ofPage(
      '/preview/flow',
      'getPreviewedFlow',
      'Get the draft of a preview link',
      { returns: PreviewedFlow },
      call => previewedFlow(deps, holderOf(call, 'unknown_preview'), call.receivedAt),
    ),
    ofPage(
      '/author/redeem',
      'redeemAuthorTicket',
      'Exchange the ticket of an author session for a token',
      { body: RedeemedTicket, returns: ConnectedPage },
      ({ body, origin, receivedAt }) => redeem(deps, body, origin, receivedAt),
    ),
    ofPage(
      '/author/step',
      'getAuthoredStep',
      'Get the step of an author session',
      { returns: AuthoredStep },
      call => visitedStep(deps, holderOf(call, 'unknown_author_token'), call.receivedAt),
    ),
    ofPage(
      '/author/picks',
      'proposeElement',
      'Propose an element to the author',
      { body: PickedElement, returns: Type.Object({}) },
      async call => {
        const holder = holderOf(call, 'unknown_author_token')
        await propose(store, holder, call.body, call.receivedAt)
        return {}
      },
    ),
    ofPage(
      '/author/draft',
      'getBuiltDraft',
      'Get the draft of a builder',
      { body: KnownDraft, returns: BuiltDraft },
      call => {
        const holder = holderOf(call, 'unknown_author_token')
        return builtDraft(deps, holder, call.body.known, call.receivedAt)
      },
    ),
    ofPage(
      '/author/changes',
      'proposeChange',
      'Propose a change of the draft to the author',
      { body: NewChange, bodyLimitBytes: maxChangeBytes, returns: Type.Object({}) },
      async call => {
        const holder = holderOf(call, 'unknown_author_token')
        await proposeChange(store, holder, call.body, call.receivedAt)
        return {}
      },
    ),
  ]
}
