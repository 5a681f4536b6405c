import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { maxPreviews } from '../../../src/core/organisation/preview-link.ts'
import type { NewPreview } from '../../../src/storage/interfaces/previews.ts'
import type { OpenStore, Store } from './store.ts'
import { Tenant } from './tenant.ts'

const at = 1_000_000_000_000
const end = at + 1_000
const origin = 'https://app.example.com'

let count = 0
const made = (more: Partial<NewPreview> = {}): NewPreview => {
  const id = `preview_${++count}`
  return {
    ...{ id, organisation: 'org_1', flow: 'welcome', isFile: false, url: `${origin}/`, origin },
    ...{ madeBy: 'ann', madeAt: at, expiresAt: end, definition: null },
    ...{ ticketSha256: `ticket of ${id}`, ...more },
  }
}

export function previewsConform(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
  })

  const previews = () => store.management.previews
  const begun = async (more: Partial<NewPreview> = {}) => {
    const preview = made(more)
    expect(await previews().begin(tenant.ref, preview)).toBe(true)
    return preview
  }

  test('are listed for their organisation alone, without the ticket that opens them', async () => {
    const { ticketSha256: _, organisation, definition, ...one } = await begun()
    const two = await begun()
    const listed = await previews().list(tenant.ref, at)
    expect(listed.map(({ id }) => id)).toEqual([two.id, one.id])
    expect(listed[1]).toEqual({ ...one, openedAt: null })
    const other = await Tenant.of(store)
    expect(await previews().list(other.ref, at)).toEqual([])
    expect(await previews().end(other.ref, one.id, at)).toBeNull()
    expect(await previews().end(tenant.ref, one.id, at)).toMatchObject({ id: one.id })
    expect(await previews().end(tenant.ref, one.id, at)).toBeNull()
  })

  test('open for their ticket and origin, repeatedly, until they end', async () => {
    const { ticketSha256, id } = await begun()
    const visit = { organisation: 'org_1', flow: 'welcome', definition: null, expiresAt: end }
    expect(await previews().visit(ticketSha256, 'https://evil.example', at)).toBeNull()
    expect(await previews().visit('another', origin, at)).toBeNull()
    expect(await previews().visit(ticketSha256, origin, at)).toEqual(visit)
    expect(await previews().visit(ticketSha256, origin, end - 1)).toEqual(visit)
    const [listed] = await previews().list(tenant.ref, end - 1)
    expect([listed?.id, listed?.openedAt]).toEqual([id, end - 1])
    expect(await previews().visit(ticketSha256, origin, end)).toBeNull()
    expect(await previews().list(tenant.ref, end)).toEqual([])
  })

  test('are recorded in the audit log of their organisation', async () => {
    const actor = { via: 'token' as const, name: 'ann', requestId: null }
    const entry = { at, actor, action: 'flow.preview', subject: 'welcome', note: null }
    await previews().note(tenant.ref, { ...entry, before: null, after: { origin } })
    const [line] = await store.management.access.audit(tenant.ref, { most: 1 })
    expect(line).toMatchObject({ action: 'flow.preview', subject: 'welcome', after: { origin } })
  })

  test('are bounded in number, and those that have ended make room', async () => {
    for (let i = 0; i < maxPreviews; i++) await begun()
    expect(await previews().begin(tenant.ref, made())).toBe(false)
    expect(await previews().begin(tenant.ref, made({ madeAt: end }))).toBe(true)
  })
}
