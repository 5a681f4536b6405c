import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import { managementTokenHash } from '../../../src/core/organisation/access.ts'
import { auditor } from '../../../src/core/organisation/audit.ts'
import { newId, newSnippetKey } from '../../../src/core/organisation/ids.ts'
import { createToken } from '../../../src/modules/access/service.ts'
import {
  changeSettings,
  rotateKey,
  rotateSecret,
} from '../../../src/modules/organisations/service.ts'
import type { OpenStore, Store } from './store.ts'
import { actor, auditOf, definitionOf, Tenant } from './tenant.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

export function organisationsConform(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  let other: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
    other = await Tenant.of(store)
  })

  const auditing = () => auditor(actor, store.clock.now())
  const list = (query: { named?: string }) => store.management.organisations.list(query, 1_000)
  const read = (of = tenant) => store.management.organisations.read(of.ref, store.clock.now())
  const set = (settings: Parameters<typeof changeSettings>[2], of = tenant) =>
    changeSettings(store.management.organisations, of, settings, auditing())
  const audit = (most = 9, more: { subject?: string; before?: number } = {}) =>
    store.management.access.audit(tenant.ref, { most, ...more })

  describe('an organisation', () => {
    test('is found by its snippet key, id and slug as soon as it is created, and by nothing else', async () => {
      const catalogue = store.stores.catalogue()
      const known = await catalogue.snippetKey(tenant.snippetKey)
      expect(known).toMatchObject({
        organisation: { id: tenant.id, slug: tenant.slug },
        endsAt: null,
      })
      for (const name of [tenant.id, tenant.slug]) {
        expect((await catalogue.organisationByName(name))?.id).toBe(tenant.id)
        const { organisations } = await list({ named: name })
        expect(organisations.map(({ id }) => id)).toEqual([tenant.id])
      }
      expect(await catalogue.organisationByName(tenant.slug.toUpperCase())).toBeNull()
      expect(await catalogue.snippetKey(newSnippetKey())).toBeNull()
      expect(await store.management.explaining.hasSnippetKey(tenant.ref)).toBe(true)
      const { organisation, keys, secrets } = await read()
      expect(organisation).toMatchObject({
        ...{ id: tenant.id, slug: tenant.slug, overrides: {}, origins: [], retentionDays: null },
        ...{ honoursDoNotTrack: false, identityMode: 'off', createdAt: store.clock.now() },
        ...{ timezone: null, theme: null },
      })
      expect(keys).toMatchObject([{ key: tenant.snippetKey, worksUntil: null }])
      expect(secrets).toEqual([])
    })

    test('is not created if its slug is taken, and the attempt leaves nothing behind', async () => {
      const { organisations } = store.management
      const made = {
        ...{ id: newId('org'), slug: tenant.slug, name: 'Twin', createdAt: 0 },
        snippetKey: newSnippetKey(),
      }
      const { total } = await list({})
      expect(await organisations.add(made, auditOf('organisation.create'))).toBe('slug taken')
      expect((await list({})).total).toBe(total)
      const catalogue = store.stores.catalogue()
      expect(await catalogue.organisationByName(made.id)).toBeNull()
      expect(await catalogue.snippetKey(made.snippetKey)).toBeNull()
    })

    test('is created together with its line in the audit log, or not at all', async () => {
      const { organisations } = store.management
      const made = {
        ...{ id: newId('org'), slug: `never-${newId('org').toLowerCase()}`, name: 'Never' },
        ...{ createdAt: 0, snippetKey: newSnippetKey() },
      }
      await expect(organisations.add(made, auditOf(null as never))).rejects.toThrow()
      expect(await store.stores.catalogue().organisationByName(made.id)).toBeNull()
      expect(await audit()).toMatchObject([{ action: 'organisation.create', subject: tenant.id }])
      expect(organisations.most).toBeGreaterThan(1_000)
    })

    test('is listed by slug, page after page', async () => {
      const all = await list({})
      const slugs = all.organisations.map(({ slug }) => slug)
      expect(slugs).toEqual(slugs.toSorted())
      const { organisations, total } = await store.management.organisations.list(
        { after: slugs[0]! },
        1,
      )
      expect([organisations.map(({ slug }) => slug), total]).toEqual([[slugs[1]!], all.total])
    })
  })

  describe('a change of an organisation', () => {
    test('is made once if two are decided at the same time; the other is rejected and does nothing', async () => {
      const { revision } = await read()
      const { organisations } = store.management
      const change = (retentionDays: number) =>
        organisations.change(tenant.ref, {
          ...{ revision, settings: { retentionDays } },
          audit: [auditOf('settings.change', `to ${retentionDays}`)],
        })
      const made = await Promise.all([change(7), change(8)])
      expect(made.toSorted()).toEqual([false, true])
      const { organisation } = await read()
      expect(organisation.retentionDays).toBe(made[0] ? 7 : 8)
      expect((await audit())[0]?.subject).toBe(`to ${organisation.retentionDays}`)
      expect(await audit()).toHaveLength(2)
      expect((await tenant.organisation()).retentionDays).toBe(organisation.retentionDays)
    })

    test('and its lines of the audit log are stored together, or neither is', async () => {
      const before = await read()
      const { revision } = before
      const change = {
        ...{ revision, settings: { retentionDays: 7 } },
        snippetKey: { text: 'k'.repeat(32), createdAt: 0, othersEndAt: 0 },
        audit: [auditOf('key.rotate'), auditOf(null as never)],
      }
      const { organisations } = store.management
      await expect(organisations.change(tenant.ref, change)).rejects.toThrow()
      expect(await read()).toEqual(before)
      expect(await audit()).toHaveLength(1)
      expect(await store.stores.catalogue().snippetKey('k'.repeat(32))).toBeNull()
    })

    test('of its theme gives its own pages alone a new list with the whole theme, and can be undone', async () => {
      const told = async (of = tenant) => {
        const list = await store.stores.catalogue().publishedFlows(await of.organisation())
        const { theme } = JSON.parse(list.text)
        return { version: list.version, hash: list.hash, theme }
      }
      const before = await told()
      const theme = { accent: '#0b7285', dark: { accent: '#3bc9db' }, font: { family: '"Ünï"' } }
      await set({ theme })
      const whole = { ...theme, background: null, text: null, radius: null }
      const set1 = await told()
      expect(set1.theme).toEqual(whole)
      expect(set1.version).not.toBe(before.version)
      expect(set1.hash).not.toBe(before.hash)
      expect((await read()).organisation.theme).toEqual(whole)
      expect((await tenant.organisation()).theme).toEqual(whole)
      expect((await told(other)).theme).toBeUndefined()
      // A new theme replaces the one before, and is not merged with it.
      await set({ theme: { radius: 4 } })
      expect((await told()).theme).toEqual({
        ...whole,
        accent: null,
        dark: undefined,
        font: undefined,
        radius: 4,
      })
      await set({ theme: null })
      expect(await told()).toEqual(before)
      expect(await audit()).toMatchObject([
        { before: { theme: { radius: 4 } }, after: { theme: null } },
        { before: { theme: whole }, after: { theme: { radius: 4, accent: null } } },
        { before: { theme: null }, after: { theme: whole } },
        { action: 'organisation.create' },
      ])
    })

    test('applies at once: limits, origins, retention, traits, and whether Do Not Track is honoured', async () => {
      await set({ limits: { events: 5, export: 1_000_000 } })
      await set({ limits: { events: 7 }, origins: ['https://old.example'], retentionDays: 7 })
      await set({
        ...{ name: 'Renamed', honoursDoNotTrack: true, timezone: 'Europe/Berlin' },
        traits: ['plan', 'company.size'],
      })
      const { text } = await store.stores.catalogue().publishedFlows(await tenant.organisation())
      expect(JSON.parse(text)).toMatchObject({ traits: ['plan', 'company.size'] })
      expect(text).not.toContain('theme')
      expect(await tenant.organisation()).toMatchObject({
        ...{ limits: { events: 7, export: 1_000_000, flows: 60 }, retentionDays: 7 },
        ...{ origins: new Set(['https://old.example']), honoursDoNotTrack: true },
        ...{ traits: ['plan', 'company.size'], timezone: 'Europe/Berlin', name: 'Renamed' },
      })
      expect((await read()).organisation.overrides).toEqual({ events: 7, export: 1_000_000 })
      // A setting that is taken back is as before. No origin at all means everywhere.
      await set({ limits: { events: null, export: null }, origins: [], retentionDays: null })
      expect(await tenant.organisation()).toMatchObject({
        ...{ limits: { events: 300, export: 600 }, origins: null, retentionDays: null },
      })
      expect((await read()).organisation.overrides).toEqual({})
      expect(await other.organisation()).toMatchObject({ honoursDoNotTrack: false, traits: [] })
      expect((await read(other)).revision).not.toBe((await read()).revision)
    })
  })

  describe('a snippet key that is rotated', () => {
    const works = async (key: string, at = store.clock.now()) => {
      const endsAt = (await store.stores.catalogue().snippetKey(key))?.endsAt
      return endsAt === null || (endsAt !== undefined && at < endsAt)
    }
    const rotate = async (graceHours: number) =>
      (await rotateKey(store.management.organisations, tenant, graceHours, auditing())).snippetKey

    test('works for the grace time and not a millisecond longer, and a second rotation does not lengthen it', async () => {
      const first = tenant.snippetKey
      expect(await store.stores.catalogue().oldKeysEndAt(await tenant.organisation())).toBeNull()
      const endsAt = store.clock.now() + hour
      const second = await rotate(1)
      expect([await works(first, endsAt - 1), await works(first, endsAt)]).toEqual([true, false])
      expect(await works(second, endsAt + 10 * hour)).toBe(true)
      expect((await read()).keys.map(({ key }) => key)).toEqual([second, first])
      expect(await store.management.seen.snippetKey(tenant.ref)).toBe(second)
      expect(await store.management.seen.snippetKey(other.ref)).toBe(other.snippetKey)
      store.clock.advance(1_000)
      const third = await rotate(1)
      expect(await works(first, endsAt)).toBe(false)
      const organisation = await tenant.organisation()
      expect(await store.stores.catalogue().oldKeysEndAt(organisation)).toBe(endsAt + 1_000)
      store.clock.advance(hour)
      expect((await read()).keys.map(({ key }) => key)).toEqual([third])
    })

    test('ends at once on request, like older keys in their grace time, but no other organisation’s', async () => {
      const second = await rotate(1)
      const third = await rotate(0)
      const all = [tenant.snippetKey, second, third, other.snippetKey]
      expect(await Promise.all(all.map(key => works(key)))).toEqual([false, false, true, true])
    })
  })

  describe('identity secrets', () => {
    const verified = async () => (await tenant.organisation()).identity
    const secrets = async (of = tenant) => (await read(of)).secrets
    const rotate = (graceHours: number, of = tenant) =>
      rotateSecret(store.management.organisations, of, graceHours, auditing())

    test('are made when an organisation first checks hashes, and kept through every mode', async () => {
      expect(await verified()).toBeNull()
      await set({ identityMode: 'observe' })
      const [first] = await secrets()
      expect(first).toMatchObject({ createdAt: store.clock.now(), worksUntil: null })
      expect(await verified()).toMatchObject({ isEnforced: false })
      await set({ identityMode: 'enforce' })
      expect(await verified()).toEqual({
        isEnforced: true,
        secrets: [{ secret: first!.secret, endsAt: null }],
      })
      await set({ identityMode: 'off' })
      expect(await verified()).toBeNull()
      await set({ identityMode: 'observe' })
      expect(await secrets()).toEqual([first!])
    })

    test('that are rotated work for the grace time, and there is never a third', async () => {
      await set({ identityMode: 'enforce' })
      const [first] = await secrets()
      const endsAt = store.clock.now() + hour
      await rotate(1)
      const [second, before] = await secrets()
      expect([before!.secret, before!.worksUntil]).toEqual([first!.secret, endsAt])
      expect((await verified())?.secrets.map(secret => secret.endsAt)).toEqual([null, endsAt])
      store.clock.advance(hour - 1)
      await expect(rotate(1)).rejects.toThrow('Two secrets work already')
      store.clock.advance(1)
      expect(await secrets()).toHaveLength(1)
      await rotate(1)
      expect(await secrets()).toMatchObject([{ worksUntil: null }, { secret: second!.secret }])
    })

    test('that end at once leave nothing behind, and other organisations keep theirs', async () => {
      await set({ identityMode: 'enforce' })
      const [first] = await secrets()
      await set({ identityMode: 'observe' }, other)
      const theirs = await secrets(other)
      await rotate(0)
      expect(await secrets()).toHaveLength(1)
      expect(await secrets(other)).toEqual(theirs)
      await store.reopen()
      expect((await secrets()).map(({ secret }) => secret)).not.toContain(first!.secret)
      expect((await verified())?.secrets).toHaveLength(1)
    })
  })

  describe('management tokens', () => {
    const create = (of = tenant) =>
      createToken(
        store.management.access,
        of.ref,
        { name: 'CI', scopes: ['flows:read', 'flows:write'], expiresInDays: 30 },
        ['flows:read', 'flows:write'],
        auditor(actor, store.clock.now()),
      )
    const find = (token: string) =>
      store.management.managementTokens.find(managementTokenHash(token))
    const tokens = (of = tenant) => store.management.access.tokens(of.ref)

    test('are found by their hash, with their owner and scopes, and listed newest first', async () => {
      const { token, ...first } = await create()
      const { token: text, ...second } = await create()
      expect(await tokens()).toEqual([second, first])
      expect(await tokens(other)).toEqual([])
      expect(await find(token)).toEqual({
        ...{ id: first.id, name: 'CI', organisation: tenant.id, scopes: first.scopes },
        ...{ expiresAt: store.clock.now() + 30 * day, revokedAt: null },
      })
      expect(await find('crn_of nobody')).toBeNull()
      expect(await store.management.managementTokens.find(token)).toBeNull()
      expect(await store.traces([token, text])).toEqual([])
    })

    test('are revoked once, by their own organisation alone, and stay listed', async () => {
      const { token, id } = await create()
      const revoke = (of: Tenant, at: number) =>
        store.management.access.revokeToken(of.ref, id, auditOf('token.revoke', id, at))
      expect(await revoke(other, 5)).toBe(false)
      expect(await revoke(tenant, 6)).toBe(true)
      expect(await revoke(tenant, 7)).toBe(false)
      expect(await find(token)).toMatchObject({ revokedAt: 6 })
      expect(await tokens()).toMatchObject([{ id, revokedAt: 6 }])
      const lines = await audit(9, { subject: id })
      expect(lines.map(({ action, at }) => [action, at])).toEqual([
        ['token.revoke', 6],
        ['token.create', store.clock.now()],
      ])
    })

    test('are made and revoked together with their line in the audit log, or not at all', async () => {
      const { token, id } = await create()
      const broken = auditOf(null as never)
      const { access } = store.management
      await expect(access.revokeToken(tenant.ref, id, broken)).rejects.toThrow()
      expect(await find(token)).toMatchObject({ revokedAt: null })
      const made = { id: newId('token'), name: 'Never', scopes: [], createdAt: 0, expiresAt: 1 }
      await expect(
        access.createToken(tenant.ref, { ...made, sha256: 'of never' }, broken),
      ).rejects.toThrow()
      expect(await store.management.managementTokens.find('of never')).toBeNull()
    })

    test('record the minute of their last use', async () => {
      const { id } = await create()
      const now = store.clock.now() - (store.clock.now() % minute) + 30_000
      for (const at of [now, now + 1_000, now + minute])
        store.management.managementTokens.used(id, at)
      // Nobody waits for this write, and over PostgreSQL later writes may be there before it.
      await until(
        async () => (await tokens()).find(one => one.id === id)?.lastUsedAt,
        at => at === now - 30_000 + minute,
      )
    })
  })

  test('the audit log is read newest first, also from before a line or about one subject', async () => {
    for (const days of [1, 2, 3]) await set({ retentionDays: days })
    const lines = await audit()
    expect(lines.map(({ action }) => action)).toEqual([
      ...Array(3).fill('settings.change'),
      'organisation.create',
    ])
    expect(lines[0]).toMatchObject({
      ...{ actor, subject: tenant.id, before: { retentionDays: 2 }, after: { retentionDays: 3 } },
    })
    expect(await audit(1)).toEqual(lines.slice(0, 1))
    expect(await audit(2, { before: lines[1]!.line })).toEqual(lines.slice(2, 4))
    expect(await audit(9, { subject: 'nothing' })).toEqual([])
    await tenant.publish(definitionOf({ key: 'tour', steps: [{ key: 'a', title: 'A' }] }))
    expect(await audit(9, { subject: 'tour' })).toMatchObject([{ action: 'flow.change' }])
    expect(await store.management.access.audit(other.ref, { most: 9 })).toHaveLength(1)
  })
}
