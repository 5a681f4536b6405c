import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { AuditEntry } from '../../../src/core/organisation/audit.ts'
import { maxStaging } from '../../../src/storage/interfaces/environments.ts'
import type { OpenStore, Store } from './store.ts'
import { Tenant } from './tenant.ts'

const at = 1_000_000_000_000

const entry = (subject: string): AuditEntry => ({
  ...{ at, action: 'organisation.link', subject, before: null, after: null, note: null },
  actor: { via: 'command line', name: 'ann', requestId: null },
})
const audit = { production: entry('production'), staging: entry('staging') }

export function environmentsConform(open: OpenStore): void {
  let store: Store
  let production: Tenant
  let staging: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    production = await Tenant.of(store)
    staging = await Tenant.of(store)
  })

  const links = () => store.management.environments
  const link = (one: Tenant, other: Tenant) =>
    links().link({ production: one.ref, staging: other.ref }, at, audit)
  const lastAudit = async ({ ref }: Tenant) =>
    (await store.management.access.audit(ref, { most: 1 }))[0]?.subject

  test('are known from both ends, and to nobody else', async () => {
    const other = await Tenant.of(store)
    expect(await link(production, staging)).toBeNull()
    const ofProduction = await links().links(production.ref)
    expect(ofProduction.production).toBeNull()
    expect(ofProduction.staging).toMatchObject([{ id: staging.id, linkedAt: at }])
    const ofStaging = await links().links(staging.ref)
    expect([ofStaging.production?.id, ofStaging.staging]).toEqual([production.id, []])
    expect(await links().links(other.ref)).toEqual({ production: null, staging: [] })
    expect(await lastAudit(production)).toBe('production')
    expect(await lastAudit(staging)).toBe('staging')
  })

  test('end once, and only for these two organisations', async () => {
    const other = await Tenant.of(store)
    await link(production, staging)
    const unlink = (one: Tenant, two: Tenant) =>
      links().unlink({ production: one.ref, staging: two.ref }, audit)
    expect(await unlink(other, staging)).toBe(false)
    expect(await unlink(staging, production)).toBe(false)
    expect(await unlink(production, staging)).toBe(true)
    expect(await unlink(production, staging)).toBe(false)
    expect(await links().links(staging.ref)).toEqual({ production: null, staging: [] })
  })

  test('form no chains, have no second production, and link no organisation to itself', async () => {
    const other = await Tenant.of(store)
    expect(await link(production, production)).toBe('itself')
    await link(production, staging)
    expect(await link(other, staging)).toBe('linked')
    expect(await link(staging, other)).toBe('is staging')
    expect(await link(other, production)).toBe('has staging')
    expect(await links().links(other.ref)).toEqual({ production: null, staging: [] })
  })

  test('are bounded in number', async () => {
    for (let i = 0; i < maxStaging; i++) {
      expect(await link(production, await Tenant.of(store))).toBeNull()
    }
    expect(await link(production, staging)).toBe('too many')
  })
}
