import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { PreviewTicket } from '../../../src/storage/interfaces/tickets.ts'
import type { OpenStore, Store } from './store.ts'
import { Tenant } from './tenant.ts'

const at = 1_000_000_000_000

const ticket: PreviewTicket = {
  kind: 'preview',
  id: 'preview_1',
  organisation: 'org_1',
  sha256: 'hash',
  flow: 'welcome',
  definition: null,
  isFile: false,
  url: 'https://app.example.com/',
  origin: 'https://app.example.com',
  madeBy: 'ann',
  madeAt: at,
  expiresAt: at + 1_000,
  openedAt: null,
}

export function ticketsConform(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
  })

  const tickets = () => store.management.tickets

  test('are added, changed and removed for every reader', async () => {
    await tickets().use(held => void held.set(ticket.id, { ...ticket }))
    await tickets().use(held => {
      const found = held.get(ticket.id)
      if (found?.kind === 'preview') found.openedAt = at
    })
    expect(await tickets().use(held => held.get(ticket.id))).toEqual({ ...ticket, openedAt: at })
    await tickets().use(held => held.delete(ticket.id))
    expect(await tickets().use(held => held.has(ticket.id))).toBe(false)
  })

  test('stay as they are if the work throws', async () => {
    const failing = tickets().use(() => {
      throw new Error('no room')
    })
    await expect(failing).rejects.toThrow('no room')
    expect(await tickets().use(held => held.size)).toBe(0)
  })

  test('are recorded in the audit log of their organisation', async () => {
    const actor = { via: 'token' as const, name: 'ann', requestId: null }
    const entry = { at, actor, action: 'flow.preview', subject: 'welcome', note: null }
    await tickets().note(tenant.ref, { ...entry, before: null, after: { id: ticket.id } })
    const [line] = await store.management.access.audit(tenant.ref, { most: 1 })
    expect(line).toMatchObject({ action: 'flow.preview', after: { id: ticket.id } })
  })
}
