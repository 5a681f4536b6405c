import { AppError, type UnauthorizedCause, unauthorized } from '../../core/errors.ts'
import {
  forgetEnded,
  maxPreviewedText,
  maxTickets,
  maxTicketsInAll,
  ticketSecretHash,
} from '../../core/organisation/ticket.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { Ticket, TicketStore, Tickets } from '../../storage/interfaces/tickets.ts'

export interface TicketDeps {
  tickets: TicketStore
  flows: Pick<FlowStore, 'read'>
  stores: Pick<GateStores, 'catalogue'>
}

/** Adds a ticket. @throws AppError `too_many_previews`, `overloaded` */
export function addTicket(tickets: Tickets, ticket: Ticket, now: number): void {
  forgetEnded(tickets, now)
  const working = [...tickets.values()].filter(
    ({ kind, expiresAt }) => kind === ticket.kind && now < expiresAt,
  )
  const own = working.filter(({ organisation }) => organisation === ticket.organisation)
  if (own.length >= maxTickets) {
    if (ticket.kind === 'preview') throw tooManyPreviews()
    const first = own.reduce((a, b) => (b.expiresAt < a.expiresAt ? b : a))
    tickets.delete(first.id)
  } else if (working.length >= maxTicketsInAll || textOf([...working, ticket]) > maxPreviewedText) {
    throw new AppError('overloaded', 'The server has too many previews and author sessions')
  }
  tickets.set(ticket.id, ticket)
}

const tooManyPreviews = () =>
  new AppError('too_many_previews', `Too many preview links: ${maxTickets} of ${maxTickets}`)

const textOf = (tickets: readonly Ticket[]) =>
  tickets.reduce((sum, ticket) => {
    const definition = ticket.kind === 'preview' ? ticket.definition : null
    return definition === null ? sum : sum + JSON.stringify(definition).length
  }, 0)

/** The working ticket of one kind that a page of its origin holds; null for every other secret. */
export function openedTicket<Kind extends Ticket['kind']>(
  tickets: Tickets,
  kind: Kind,
  { sha256, origin }: Holder,
  now: number,
): Extract<Ticket, { kind: Kind }> | null {
  for (const ticket of tickets.values()) {
    if (ticket.kind !== kind || ticket.sha256 !== sha256) continue
    const isOpen = ticket.origin === origin && now < ticket.expiresAt
    return isOpen ? (ticket as Extract<Ticket, { kind: Kind }>) : null
  }
  return null
}

/** A page that holds a secret. */
export interface Holder {
  sha256: string
  origin: string
}

/** The page that sent a call with a secret as bearer token. @throws AppError `unauthorized` */
export function holderOf({ request, origin }: RequestContext, cause: UnauthorizedCause): Holder {
  const [, secret = ''] = /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const sha256 = ticketSecretHash(secret)
  if (sha256 === null || origin === null) throw unauthorized(cause)
  return { sha256, origin }
}
