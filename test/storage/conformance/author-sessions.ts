import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import {
  maxAuthorSessions,
  maxKeptProposals,
  maxProposals,
  maxWrongCodes,
  ticketMs,
  visitIdleMs,
  visitLongestMs,
} from '../../../src/core/organisation/sessions.ts'
import type { NewAuthorSession, Proposal } from '../../../src/storage/interfaces/author.ts'
import type { OpenStore, Store } from './store.ts'
import { Tenant } from './tenant.ts'

const at = 1_000_000_000_000
const origin = 'https://app.example.com'
const author = 'ann'

let count = 0
const made = (more: Partial<NewAuthorSession> = {}): NewAuthorSession => {
  const id = `author_${++count}`
  return {
    ...{ id, organisation: 'org_1', author, flow: 'welcome', step: 'create', code: 'KHTW' },
    ...{ url: `${origin}/projects`, origin, begunAt: at },
    ...{ ticketSha256: `ticket of ${id}`, codeSha256: `code of ${id}`, ...more },
  }
}

const proposal: Omit<Proposal, 'number'> = {
  at,
  page: `${origin}/projects`,
  element: 'button',
  candidates: [],
  fingerprint: { matchCount: 1 },
  mayNamePerson: false,
  isWrapper: false,
}

export function authorSessionsConform(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
  })

  const authors = () => store.management.authorSessions
  const begun = async (more: Partial<NewAuthorSession> = {}) => {
    const session = made(more)
    await authors().begin(tenant.ref, session)
    return session
  }
  const ticketOf = ({ ticketSha256 }: NewAuthorSession) => ({
    sha256: ticketSha256,
    isTyped: false,
  })
  const codeOf = ({ codeSha256 }: NewAuthorSession) => ({ sha256: codeSha256, isTyped: true })
  const read = ({ id }: NewAuthorSession, now = at) => authors().read(tenant.ref, id, author, now)

  test('are visible only to the author who began them, in their organisation', async () => {
    const session = await begun()
    const other = await Tenant.of(store)
    expect(await read(session)).toEqual({
      ...{ id: session.id, flow: 'welcome', step: 'create', code: 'KHTW', origin },
      ...{ url: session.url, state: 'waiting', expiresAt: at + ticketMs, proposals: [] },
    })
    expect(await authors().read(tenant.ref, session.id, 'bob', at)).toBeNull()
    expect(await authors().read(other.ref, session.id, author, at)).toBeNull()
    expect(await authors().end(other.ref, session.id, author)).toBe(false)
    expect(await authors().end(tenant.ref, session.id, 'bob')).toBe(false)
    expect(await authors().end(tenant.ref, session.id, author)).toBe(true)
    expect(await read(session)).toBeNull()
  })

  test('let one page in, once, by the ticket or by the code', async () => {
    const one = await begun()
    const visit = { organisation: 'org_1', flow: 'welcome', step: 'create', code: 'KHTW' }
    expect(await authors().redeem(ticketOf(one), origin, 'token 1', at)).toEqual(visit)
    expect(await authors().redeem(ticketOf(one), origin, 'token 2', at)).toBeNull()
    expect(await authors().redeem(codeOf(one), origin, 'token 2', at)).toBeNull()
    expect(await read(one)).toMatchObject({ state: 'connected', expiresAt: at + visitIdleMs })
    expect(await authors().visit('token 1', origin, at)).toEqual(visit)
    expect(await authors().visit('token 2', origin, at)).toBeNull()
    expect(await authors().visit('token 1', 'https://evil.example', at)).toBeNull()
    const two = await begun()
    expect(await authors().redeem(codeOf(two), origin, 'token 3', at)).toEqual(visit)
    expect(await authors().redeem(ticketOf(two), origin, 'token 4', at)).toBeNull()
  })

  test('let nobody in at another origin, and a ticket is spent by the attempt', async () => {
    const session = await begun()
    expect(await authors().redeem(codeOf(session), 'https://evil.example', 't', at)).toBeNull()
    expect(await read(session)).toMatchObject({ state: 'waiting' })
    expect(await authors().redeem(ticketOf(session), 'https://evil.example', 't', at)).toBeNull()
    expect(await read(session)).toMatchObject({ state: 'ended' })
    expect(await authors().redeem(ticketOf(session), origin, 't', at)).toBeNull()
  })

  test('let nobody in too late, and end when nobody uses them', async () => {
    const late = await begun()
    expect(await authors().redeem(ticketOf(late), origin, 'late', at + ticketMs)).toBeNull()
    const idle = await begun()
    await authors().redeem(ticketOf(idle), origin, 'idle', at)
    const next = at + visitIdleMs - 1
    expect(await authors().visit('idle', origin, next)).not.toBeNull()
    expect(await authors().visit('idle', origin, next + visitIdleMs)).toBeNull()
    expect(await read(idle, next + visitIdleMs)).toMatchObject({ state: 'ended' })
    const long = await begun()
    await authors().redeem(ticketOf(long), origin, 'long', at)
    const end = at + visitLongestMs
    for (let now = at; now < end; now += visitIdleMs / 2) await authors().visit('long', origin, now)
    expect(await authors().visit('long', origin, end - 1)).not.toBeNull()
    expect(await authors().visit('long', origin, end)).toBeNull()
  })

  test('cannot be entered by guessing codes, and guesses do not affect another origin', async () => {
    const session = await begun()
    const elsewhere = await begun({ origin: 'https://other.example' })
    const wrong = { sha256: 'no code', isTyped: true }
    for (let i = 0; i < maxWrongCodes; i++) {
      expect(await authors().redeem(wrong, origin, 'guess', at)).toBeNull()
    }
    expect(await authors().redeem(codeOf(session), origin, 'guess', at)).toBeNull()
    expect(await authors().redeem(ticketOf(session), origin, 'ticket', at)).not.toBeNull()
    const theirs = await authors().redeem(codeOf(elsewhere), 'https://other.example', 'code', at)
    expect(theirs).not.toBeNull()
  })

  test('keep the latest proposals of their page, and take only a bounded number', async () => {
    const session = await begun()
    expect(await authors().propose('none', origin, proposal, at)).toBe(false)
    await authors().redeem(ticketOf(session), origin, 'page', at)
    for (let i = 0; i < maxProposals; i++) {
      expect(await authors().propose('page', origin, proposal, at)).toBe(true)
    }
    expect(await authors().propose('page', origin, proposal, at)).toBe(false)
    const numbers = (await read(session))!.proposals.map(({ number }) => number)
    expect(numbers).toEqual(
      Array.from({ length: maxKeptProposals }, (_, i) => maxProposals - maxKeptProposals + i + 1),
    )
  })

  test('are bounded per organisation, and the one that would end first makes room', async () => {
    const sessions: NewAuthorSession[] = []
    for (let i = 0; i < maxAuthorSessions; i++) sessions.push(await begun({ begunAt: at + i }))
    await authors().redeem(ticketOf(sessions[0]!), origin, 'first', at)
    await begun({ begunAt: at + 100 })
    expect(await read(sessions[0]!)).toMatchObject({ state: 'connected' })
    expect(await read(sessions[1]!)).toBeNull()
    expect(await read(sessions[2]!)).not.toBeNull()
  })
}
