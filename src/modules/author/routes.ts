import { Type } from '@sinclair/typebox'
import { AppError, unauthorized } from '../../core/errors.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { freshReply } from '../../http/encoded.ts'
import type { Principal } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { AuthorStore } from '../../storage/interfaces/author.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import {
  AuthorSessionAnswer,
  CreatedSession,
  NewSessionBody,
  PickBody,
  RedeemAnswer,
  RedeemBody,
  VisitAnswer,
} from './schema.ts'
import { AuthorVisits } from './service.ts'

const writes = managing('flows:write')

const notThere = () => new AppError('not_found', 'There is no such author session, or it has ended')

/** Identifies who began a session: a dashboard session, a token, or the operator. */
function authorOf(principal: Principal | null): string {
  if (principal?.kind === 'session') return principal.session.sha256
  return principal?.kind === 'token' ? principal.id : 'operator'
}

/** The token that a page got for its ticket. @throws AppError `unauthorized` */
function tokenOf({ request }: RequestContext): string {
  const [, token] = /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  if (token === undefined) throw unauthorized('unknown_author_token')
  return token
}

/**
 * Requests from customers' pages while their author picks an element. They are not part of the API and need
 * no snippet key. Each route checks by itself that the origin is the session's.
 */
const ofPage = { tag: 'Management', caller: 'anyone', isProductFile: true } as const

/** The size limit of a pick, which takes a few kilobytes: five selectors and a fingerprint. */
const maxBytes = 16 * 1024

/** Routes by which authors pick elements on the pages that they write flows for. */
export function authorRoutes({
  authorSessions,
  flows,
  stores,
  clock,
}: {
  authorSessions: AuthorStore
  flows: Pick<FlowStore, 'read'>
  stores: Pick<GateStores, 'catalogue'>
  clock: Clock
}): Route[] {
  const visits = new AuthorVisits(authorSessions, flows, stores, clock)
  const idOf = ({ params }: RequestContext) => params.session_id ?? ''
  return [
    route({
      ...writes,
      method: 'POST',
      path: '/manage/author-sessions',
      operation: 'beginAuthorSession',
      summary: 'Begin to pick an element on a page of yours',
      description:
        'Open `openAddress` in a new tab: the snippet spends the ticket, and lets you pick. What is ' +
        'picked is proposed here and changes nothing by itself. A session is in memory alone, and ' +
        'ends 30 minutes after the page was last used.',
      body: NewSessionBody,
      responses: { 201: { description: 'Its ticket, returned once.', schema: CreatedSession } },
      async handle(call) {
        const begun = await visits.begin(call.org, authorOf(call.principal), call.body)
        const { id, flow, step, code, url, origin, ticket, typedCode, openAddress } = begun
        const session = await authorSessions.read(call.org.ref, id, begun.author, begun.begunAt)
        if (!session) throw notThere()
        const expiresAt = isoTime(session.expiresAt)
        const told = { id, flow, step, code, url, origin, expiresAt }
        return json(201, { ...told, ticket, typedCode, openAddress } satisfies CreatedSession)
      },
    }),
    route({
      ...writes,
      method: 'GET',
      path: '/manage/author-sessions/:session_id',
      operation: 'getAuthorSession',
      errors: ['not_found'],
      summary: 'What has become of an author session, and what its page proposes',
      description: 'Who has not begun it does not find it.',
      responses: {
        200: { description: 'The session.', schema: AuthorSessionAnswer, isShared: true },
      },
      async handle(call) {
        const author = authorOf(call.principal)
        const session = await authorSessions.read(call.org.ref, idOf(call), author, call.receivedAt)
        if (!session) throw notThere()
        return freshReply(call, {
          ...session,
          expiresAt: isoTime(session.expiresAt),
          proposals: session.proposals.map(({ at, candidates, ...rest }) => ({
            ...rest,
            at: isoTime(at),
            candidates: [...candidates],
          })),
        } satisfies AuthorSessionAnswer)
      },
    }),
    route({
      ...writes,
      method: 'DELETE',
      path: '/manage/author-sessions/:session_id',
      operation: 'endAuthorSession',
      errors: ['not_found'],
      summary: 'End an author session: its page can say nothing more',
      responses: { 204: { description: 'It has ended.' } },
      async handle(call) {
        const isEnded = await authorSessions.end(call.org.ref, idOf(call), authorOf(call.principal))
        if (!isEnded) throw notThere()
        return { status: 204 }
      },
    }),
    route({
      ...ofPage,
      method: 'POST',
      path: '/author/redeem',
      operation: 'redeemAuthorTicket',
      summary: 'Spend the ticket of an author session, from a page of its origin',
      body: RedeemBody,
      bodyLimitBytes: maxBytes,
      responses: { 200: { description: 'A token, and what it is for.', schema: RedeemAnswer } },
      async handle(call) {
        return json(200, (await visits.redeem(call.body, call.origin)) satisfies RedeemAnswer)
      },
    }),
    route({
      ...ofPage,
      // POST, because browsers send no origin with a GET to the same origin.
      method: 'POST',
      path: '/author/step',
      operation: 'getAuthoredStep',
      summary: 'The step of the draft that an author session is for',
      responses: { 200: { description: 'The step.', schema: VisitAnswer } },
      async handle(call) {
        return json(200, await visits.look(tokenOf(call), call.origin))
      },
    }),
    route({
      ...ofPage,
      method: 'POST',
      path: '/author/picks',
      operation: 'proposeElement',
      summary: 'Propose an element to the author',
      body: PickBody,
      bodyLimitBytes: maxBytes,
      responses: { 202: { description: 'It is proposed.', schema: Type.Object({}) } },
      async handle(call) {
        await visits.propose(tokenOf(call), call.origin, call.body)
        return json(202, {})
      },
    }),
  ]
}
