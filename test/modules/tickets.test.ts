import { describe, expect, test } from 'bun:test'
import type { Organisation } from '../../src/core/organisation/catalogue.ts'
import {
  maxKeptProposals,
  maxProposals,
  maxTickets,
  maxVisitMs,
  maxWrongCodes,
  newTicketSecret,
  redeemMs,
  ticketSecretHash,
  visitIdleMs,
} from '../../src/core/organisation/ticket.ts'
import {
  beginSession,
  endSession,
  propose,
  readSession,
  redeem,
  visitedStep,
} from '../../src/modules/tickets/author-sessions.ts'
import { endPreview, listPreviews, previewedFlow } from '../../src/modules/tickets/previews.ts'
import { addTicket, type TicketDeps } from '../../src/modules/tickets/tickets.ts'
import type { PreviewTicket, Tickets } from '../../src/storage/interfaces/tickets.ts'

const at = 1_000_000_000_000
const origin = 'https://app.example.com'
const evil = 'https://evil.example'
const author = 'ann'
const organisation = { id: 'org_1', origins: null } as Organisation
const other = { id: 'org_2', origins: null } as Organisation

function house() {
  const held: Tickets = new Map()
  const tickets: TicketDeps['tickets'] = {
    use: async work => work(held),
    note: async () => {},
  }
  const deps = {
    tickets,
    flows: { read: async () => ({ flows: [] }) },
    stores: { catalogue: () => ({ organisationByName: () => organisation }) },
  } as unknown as TicketDeps
  const begin = (now = at, page = origin) =>
    beginSession(tickets, organisation, author, { flow: 'welcome', step: 'one', url: page }, now)
  const read = (id: string, now = at) => readSession(tickets, { organisation, id, author }, now)
  const enter = async (now = at) => {
    const { id, ticket } = await begin(now)
    const { token } = await redeem(deps, { ticket }, origin, now)
    return { id, holder: { sha256: ticketSecretHash(token)!, origin } }
  }
  return { held, tickets, deps, begin, read, enter }
}

const unauthorized = 'Unauthorized'

describe('an author session', () => {
  test('is visible only to its author, in their organisation', async () => {
    const { tickets, begin, read } = house()
    const { id } = await begin()
    expect(await read(id)).toMatchObject({ state: 'waiting', expiresAt: at + redeemMs })
    for (const own of [
      { organisation, id, author: 'bob' },
      { organisation: other, id, author },
    ]) {
      await expect(readSession(tickets, own, at)).rejects.toThrow('not found')
      await expect(endSession(tickets, own)).rejects.toThrow('not found')
    }
  })

  test('is opened once, by its ticket or by its code', async () => {
    const { deps, begin, read } = house()
    const one = await begin()
    await redeem(deps, { ticket: one.ticket }, origin, at)
    expect(await read(one.id)).toMatchObject({ state: 'connected', expiresAt: at + visitIdleMs })
    const two = await begin()
    await redeem(deps, { code: ` ${two.typedCode.toLowerCase()} ` }, origin, at)
    for (const sent of [{ ticket: one.ticket }, { code: one.typedCode }, { ticket: two.ticket }]) {
      await expect(redeem(deps, sent, origin, at)).rejects.toThrow(unauthorized)
    }
  })

  test('has a ticket that another origin uses up, but a code that it cannot', async () => {
    const { deps, begin, read } = house()
    const session = await begin()
    await expect(redeem(deps, { code: session.typedCode }, evil, at)).rejects.toThrow(unauthorized)
    expect(await read(session.id)).toMatchObject({ state: 'waiting' })
    await expect(redeem(deps, { ticket: session.ticket }, evil, at)).rejects.toThrow(unauthorized)
    expect(await read(session.id)).toMatchObject({ state: 'ended' })
    await expect(redeem(deps, { ticket: session.ticket }, origin, at)).rejects.toThrow(unauthorized)
    await expect(redeem(deps, { code: session.typedCode }, origin, at)).rejects.toThrow(
      unauthorized,
    )
  })

  test('ends if it is redeemed too late, not used, or used for too long', async () => {
    const { deps, begin, read, enter } = house()
    const late = await begin()
    const redeemed = redeem(deps, { ticket: late.ticket }, origin, at + redeemMs)
    await expect(redeemed).rejects.toThrow(unauthorized)
    const idle = await enter()
    const last = at + visitIdleMs - 1
    await visitedStep(deps, idle.holder, last)
    await expect(visitedStep(deps, idle.holder, last + visitIdleMs)).rejects.toThrow(unauthorized)
    expect(await read(idle.id, last + visitIdleMs)).toMatchObject({ state: 'ended' })
    const long = await enter()
    const end = at + maxVisitMs
    for (let now = at; now < end; now += visitIdleMs / 2) await visitedStep(deps, long.holder, now)
    await visitedStep(deps, long.holder, end - 1)
    await expect(visitedStep(deps, long.holder, end)).rejects.toThrow(unauthorized)
  })

  test('cannot be opened by guessing codes, and guesses do not affect another origin', async () => {
    const { deps, begin } = house()
    const session = await begin()
    const elsewhere = await begin(at, 'https://other.example')
    for (let i = 0; i < maxWrongCodes; i++) {
      await expect(redeem(deps, { code: 'AAAAAA' }, origin, at)).rejects.toThrow(unauthorized)
    }
    await expect(redeem(deps, { code: session.typedCode }, origin, at)).rejects.toThrow(
      unauthorized,
    )
    await redeem(deps, { ticket: session.ticket }, origin, at)
    await redeem(deps, { code: elsewhere.typedCode }, 'https://other.example', at)
  })

  test('keeps the latest proposals, and accepts only so many', async () => {
    const { tickets, read, enter } = house()
    const { id, holder } = await enter()
    const picked = { page: origin, element: 'button', candidates: [], fingerprint: {} }
    for (let i = 0; i < maxProposals; i++) await propose(tickets, holder, picked, at)
    await expect(propose(tickets, holder, picked, at)).rejects.toThrow(unauthorized)
    const numbers = (await read(id)).proposals.map(({ number }) => number)
    expect(numbers).toEqual(
      Array.from({ length: maxKeptProposals }, (_, i) => maxProposals - maxKeptProposals + i + 1),
    )
  })

  test('makes room for another of its organisation if it would end first', async () => {
    const { begin, read, enter } = house()
    const connected = await enter()
    const first = await begin(at + 1)
    for (let i = 2; i <= maxTickets; i++) await begin(at + i)
    expect(await read(connected.id)).toMatchObject({ state: 'connected' })
    await expect(read(first.id)).rejects.toThrow('not found')
  })
})

describe('a preview link', () => {
  const end = at + 1_000
  let count = 0
  const made = (more: Partial<PreviewTicket> = {}): PreviewTicket => ({
    kind: 'preview',
    id: `preview_${++count}`,
    organisation: organisation.id,
    sha256: ticketSecretHash(newTicketSecret()),
    flow: 'welcome',
    definition: null,
    isFile: false,
    url: `${origin}/`,
    origin,
    madeBy: 'ann',
    madeAt: at,
    expiresAt: end,
    openedAt: null,
    ...more,
  })

  test('is listed and ended only by its organisation', async () => {
    const { held, tickets } = house()
    const [one, two] = [made(), made()]
    addTicket(held, one, at)
    addTicket(held, two, at)
    const { kind, organisation: _, sha256, definition, ...listed } = one
    expect(await listPreviews(tickets, organisation, at)).toMatchObject([{ id: two.id }, listed])
    expect(await listPreviews(tickets, other, at)).toEqual([])
    expect(await listPreviews(tickets, organisation, end)).toEqual([])
    const by = { now: at, audit: () => ({}) as never }
    await expect(endPreview(tickets, other, one.id, by)).rejects.toThrow('not found')
    await endPreview(tickets, organisation, one.id, by)
    await expect(endPreview(tickets, organisation, one.id, by)).rejects.toThrow('not found')
  })

  test('ends at its time, and does not open an author session', async () => {
    const { held, deps } = house()
    const ticket = made()
    addTicket(held, ticket, at)
    const holder = { sha256: ticket.sha256!, origin }
    await expect(previewedFlow(deps, holder, end)).rejects.toThrow(unauthorized)
    await expect(visitedStep(deps, holder, at)).rejects.toThrow(unauthorized)
    expect(ticket.openedAt).toBeNull()
  })

  test('is bounded in number, and those that have ended make room', () => {
    const { held } = house()
    for (let i = 0; i < maxTickets; i++) addTicket(held, made(), at)
    expect(() => addTicket(held, made(), at)).toThrow('Too many preview links')
    addTicket(held, made(), end)
  })
})
