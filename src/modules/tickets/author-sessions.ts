import type { Static, StaticDecode } from '@sinclair/typebox'
import { AppError, invalid, unauthorized } from '../../core/errors.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import {
  maxKeptProposals,
  maxProposals,
  maxVisitMs,
  maxWrongCodes,
  newMatchingCode,
  newTicketSecret,
  newTypedCode,
  redeemMs,
  ticketSecretHash,
  typedCodeHash,
  visitIdleMs,
} from '../../core/organisation/ticket.ts'
import { allowedFingerprint } from '../../core/step/fingerprint.ts'
import { judgeSelector, mayNamePerson } from '../../core/step/proposal.ts'
import type {
  AuthorSession,
  AuthorTicket,
  TicketStore,
  Tickets,
} from '../../storage/interfaces/tickets.ts'
import { pageOf } from './page.ts'
import { storedFlow } from './previews.ts'
import type {
  AuthoredStep,
  CreatedAuthorSession,
  NewAuthorSession,
  PickedElement,
} from './schema.ts'
import { addTicket, type Holder, openedTicket, type TicketDeps } from './tickets.ts'

/** Starts a session. Its secrets are returned here and never again. @throws AppError `validation_failed`, `overloaded` */
export async function beginSession(
  store: TicketStore,
  organisation: Organisation,
  author: string,
  { flow, step, url, task = 'pick' }: Static<typeof NewAuthorSession>,
  now: number,
): Promise<StaticDecode<typeof CreatedAuthorSession>> {
  const page = pageOf(url, organisation)
  const ticket = newTicketSecret()
  const typedCode = newTypedCode()
  const session = {
    id: newId('author'),
    ...{ task, flow, step, code: newMatchingCode() },
    url: page.href,
    origin: page.origin,
    expiresAt: now + redeemMs,
  }
  const held: AuthorTicket = {
    kind: 'author',
    ...session,
    organisation: organisation.id,
    author,
    sha256: ticketSecretHash(ticket),
    typedSha256: typedCodeHash(typedCode),
    wrongCodes: 0,
    connectedAt: null,
    proposals: [],
    changes: [],
    changeIds: [],
    changeCount: 0,
    requests: { second: 0, count: 0 },
    attendedAt: now,
    settled: { problem: null, undos: 0 },
  }
  await store.use(tickets => addTicket(tickets, held, now))
  return { ...session, ticket, typedCode, openAddress: `${page.href}#cairn-author=${ticket}` }
}

/** What identifies a session to the person who started it. */
export interface SessionOfAuthor {
  organisation: Organisation
  id: string
  author: string
}

export function ownSession(
  tickets: Tickets,
  { organisation, id, author }: SessionOfAuthor,
): AuthorTicket {
  const ticket = tickets.get(id)
  const isOwn =
    ticket?.kind === 'author' && ticket.organisation === organisation.id && ticket.author === author
  if (isOwn) return ticket
  throw new AppError('not_found', 'Author session not found, or it has ended.')
}

function stateOf({ sha256, expiresAt, connectedAt }: AuthorTicket, now: number) {
  if (sha256 === null || now >= expiresAt) return 'ended'
  return connectedAt === null ? 'waiting' : 'connected'
}

/** @throws AppError `not_found` */
export async function readSession(
  store: TicketStore,
  own: SessionOfAuthor,
  now: number,
): Promise<AuthorSession> {
  const ticket = await store.use(tickets => {
    const session = ownSession(tickets, own)
    session.attendedAt = now
    return session
  })
  const { id, task, flow, step, code, url, origin, expiresAt, proposals, changes } = ticket
  const state = stateOf(ticket, now)
  return { id, task, flow, step, code, url, origin, expiresAt, state, proposals, changes }
}

/** Revokes what the session's page holds. @throws AppError `not_found` */
export function endSession(store: TicketStore, own: SessionOfAuthor): Promise<unknown> {
  return store.use(tickets => tickets.delete(ownSession(tickets, own).id))
}

/** The ticket from the page's address, or the code that the author has typed: one of the two. */
interface Redeemed {
  ticket?: string
  code?: string
}

/**
 * Exchanges the ticket, or the typed code, of a session for its page's token, once.
 *
 * @throws AppError `unauthorized`
 */
export async function redeem(
  deps: TicketDeps,
  { ticket, code }: Redeemed,
  origin: string | null,
  now: number,
): Promise<AuthoredStep & { token: string }> {
  const failure = unauthorized('unknown_author_ticket')
  if (origin === null || (ticket === undefined) === (code === undefined)) throw failure
  const isTyped = code !== undefined
  const sha256 = isTyped ? typedCodeHash(code) : ticketSecretHash(ticket!)
  if (sha256 === null) throw failure
  const token = newTicketSecret()
  const session = await deps.tickets.use(tickets => {
    const spent = isTyped
      ? spendCode(tickets, sha256, origin)
      : spendTicket(tickets, sha256, origin)
    if (!spent || now >= spent.expiresAt) return null
    spent.sha256 = ticketSecretHash(token)
    spent.typedSha256 = null
    spent.connectedAt = now
    spent.expiresAt = now + visitIdleMs
    return spent
  })
  if (!session) throw failure
  return { token, ...(await authoredStep(deps, session)) }
}

/** The session of a ticket. A page of another origin uses it up: somebody has stolen it. */
function spendTicket(tickets: Tickets, sha256: string, origin: string): AuthorTicket | null {
  for (const ticket of tickets.values()) {
    if (ticket.kind !== 'author' || ticket.connectedAt !== null) continue
    if (ticket.sha256 !== sha256) continue
    if (ticket.origin === origin) return ticket
    ticket.sha256 = null
    ticket.typedSha256 = null
    return null
  }
  return null
}

/** The session of a code, which is short enough to be guessed: each origin has its own codes and guesses. */
function spendCode(tickets: Tickets, sha256: string, origin: string): AuthorTicket | null {
  const open = [...tickets.values()].filter(
    ticket => ticket.kind === 'author' && ticket.origin === origin && ticket.typedSha256 !== null,
  ) as AuthorTicket[]
  const found = open.find(({ typedSha256 }) => typedSha256 === sha256)
  if (found) return found
  for (const ticket of open) {
    ticket.wrongCodes++
    if (ticket.wrongCodes >= maxWrongCodes) ticket.typedSha256 = null
  }
  return null
}

/** The session of a page that has redeemed its ticket, and so uses it now. */
export function visitedSession(tickets: Tickets, holder: Holder, now: number): AuthorTicket | null {
  const ticket = openedTicket(tickets, 'author', holder, now)
  if (!ticket || ticket.connectedAt === null) return null
  ticket.expiresAt = Math.min(now + visitIdleMs, ticket.connectedAt + maxVisitMs)
  return ticket
}

/** The step that a connected page is for. @throws AppError `unauthorized` */
export async function visitedStep(
  deps: TicketDeps,
  holder: Holder,
  now: number,
): Promise<AuthoredStep> {
  const session = await deps.tickets.use(tickets => visitedSession(tickets, holder, now))
  if (!session) throw unauthorized('unknown_author_token')
  return authoredStep(deps, session)
}

/** Stores a page's proposal for the author. @throws AppError `unauthorized`, `validation_failed` */
export async function propose(
  store: TicketStore,
  holder: Holder,
  picked: PickedElement,
  now: number,
): Promise<void> {
  const page = URL.parse(picked.page)
  if (page?.origin !== holder.origin) {
    throw invalid({ path: '/page', message: 'Must be the address of the page that sends it' })
  }
  const fingerprint = allowedFingerprint(picked.fingerprint)
  const texts = [picked.element, fingerprint.name, fingerprint.text, fingerprint.ariaLabel]
  const proposal = {
    at: now,
    page: page.origin + page.pathname,
    element: picked.element,
    candidates: picked.candidates.map(sent => ({ ...sent, ...judgeSelector(sent.selector) })),
    fingerprint,
    isWrapper: picked.isWrapper ?? false,
    mayNamePerson: texts.some(text => text !== undefined && mayNamePerson(text)),
  }
  const isStored = await store.use(tickets => {
    const session = visitedSession(tickets, holder, now)
    const number = (session?.proposals.at(-1)?.number ?? 0) + 1
    if (!session || number > maxProposals) return false
    session.proposals = [...session.proposals, { number, ...proposal }].slice(-maxKeptProposals)
    return true
  })
  if (!isStored) throw unauthorized('unknown_author_token')
}

/** Reads the step each time, because its author may have edited it. */
async function authoredStep(
  deps: TicketDeps,
  { organisation: name, task, flow, step, code }: AuthorTicket,
): Promise<AuthoredStep> {
  const organisation = deps.stores.catalogue().organisationByName(name)
  if (!organisation) throw unauthorized('unknown_organisation')
  const definition = await storedFlow(deps, organisation, flow)
  const drafted = definition?.steps.find(({ key }) => key === step)
  const draft = drafted
    ? { title: drafted.title, selector: drafted.target?.selector ?? null }
    : null
  return { task, flow, step, code, draft }
}
