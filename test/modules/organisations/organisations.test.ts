import { afterAll, describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/core/errors.ts'
import { readOrigin } from '../../../src/core/organisation/origin.ts'
import type { OrganisationRef } from '../../../src/core/reference.ts'
import { slugFrom } from '../../../src/core/text/slug.ts'
import { Organisations } from '../../../src/modules/organisations/service.ts'
import type { OrganisationStore } from '../../../src/storage/interfaces/organisations.ts'
import { World } from '../../support/world.ts'

/** The names that organisations may have, and their settings. */

const world = new World()
afterAll(() => world.close())

const actor = { via: 'command line', name: 'test', requestId: null } as const
const store = world.management.organisations
const organisations = new Organisations(store, world.clock)

const refOf = async (named: string) => (await store.list({ named }, 1)).organisations[0]!.ref

let made = 0
const another = async () =>
  refOf((await organisations.create({ name: `Another ${++made}` }, actor)).id)

const auditOf = async (orgRef: OrganisationRef) => {
  const lines = await world.management.access.audit(orgRef, { most: 100 })
  return lines.map(({ action, before, after }) => ({ action, before, after }))
}

async function refusalOf(promise: Promise<unknown>) {
  try {
    await promise
  } catch (error) {
    if (error instanceof AppError) {
      const { code, message, details } = error
      return { code, message, details }
    }
    throw error
  }
  return null
}

describe('slugs', () => {
  test.each([
    ['Harbor Inc', 'harbor-inc'],
    ['  Größe & Maß  ', 'gro-e-ma'],
    ['Crème brûlée', 'creme-brulee'],
    ['--a--', 'a'],
    ['org_x', 'org-x'],
    ['株式会社', ''],
    ['x'.repeat(80), 'x'.repeat(63)],
    [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
  ])('%p suggests %p', (name, slug) => {
    expect(slugFrom(name)).toBe(slug)
  })

  test.each(['', 'A', 'org_x', '-a', 'a-', 'a b', 'ä', 'x'.repeat(64)])(
    '%p is not a slug',
    async slug => {
      const rejection = await refusalOf(organisations.create({ name: 'Harbor', slug }, actor))
      expect(rejection).toMatchObject({ code: 'validation_failed', details: [{ path: '/slug' }] })
    },
  )
})

describe('an organisation', () => {
  test('is made with its first snippet key and a line of the audit log, without the key', async () => {
    const { id, snippetKey } = await organisations.create({ name: ' Noted ' }, actor)
    const ref = await refOf(id)
    expect(await organisations.keys(ref)).toMatchObject([{ key: snippetKey, retiredAt: null }])
    expect(await auditOf(ref)).toEqual([
      { action: 'organisation.create', before: null, after: { slug: 'noted', name: 'Noted' } },
    ])
  })

  test.each(['', '   ', 'x'.repeat(201), 'a\nb', 'a\ud800'])('%p is no name', async name => {
    const rejection = await refusalOf(organisations.create({ name, slug: 'slug' }, actor))
    expect(rejection).toMatchObject({ code: 'validation_failed', details: [{ path: '/name' }] })
  })

  test('beyond what storage has room for is refused', async () => {
    const full: OrganisationStore = { ...store, most: 3, add: async () => 'full' }
    const rejection = await refusalOf(
      new Organisations(full, world.clock).create({ name: 'Harbor' }, actor),
    )
    expect(rejection?.code).toBe('too_many_organisations')
    expect(rejection?.message).toContain('already 3 organisations')
  })
})

describe('origins', () => {
  test.each([
    ['https://App.Example.com', 'https://app.example.com'],
    ['https://a.example:443', 'https://a.example'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['chrome-extension://ABCdef', 'chrome-extension://abcdef'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%p is kept as browsers send it', (given, origin) => {
    expect(readOrigin(given)).toEqual({ origin })
  })

  const noOrigins = [
    '',
    '*',
    'null',
    'a.example',
    'https://',
    'https://a.example/',
    'https://a.example/x',
    'https://a.example?x',
    'https://u:p@a.example',
    'https://*.a.example',
    'https://a.example:99999',
    'chrome-extension://a b',
  ]
  test.each(noOrigins)('%p is not an origin', given => {
    expect(readOrigin(given)).toMatchObject({ fault: expect.any(String) })
  })

  test('that are wrong are all named by their places, never by their values, and none is set', async () => {
    const ref = await another()
    const origins = ['https://good.example', ...noOrigins]
    const rejection = await refusalOf(organisations.changeSettings(ref, { origins }, actor))
    expect(rejection?.details?.map(({ path }) => path)).toEqual(
      noOrigins.map((_, i) => `/origins/${i + 1}`),
    )
    expect(JSON.stringify(rejection)).not.toContain('a.example')
    expect((await organisations.settings(ref)).origins).toEqual([])
  })

  test('replace those before, each once', async () => {
    const ref = await another()
    await organisations.changeSettings(ref, { origins: ['https://old.example'] }, actor)
    const origins = ['https://b.example', 'https://A.example', 'https://a.example:443']
    const settings = await organisations.changeSettings(ref, { origins }, actor)
    expect(settings.origins).toEqual(['https://a.example', 'https://b.example'])
    expect(await organisations.settings(ref)).toEqual(settings)
  })
})

describe('a change of settings', () => {
  test('leaves the rest as it was, and is noted with what was before and after', async () => {
    const ref = await another()
    await organisations.changeSettings(ref, { limits: { events: 5, flows: 6 } }, actor)
    const settings = await organisations.changeSettings(
      ref,
      { limits: { events: null }, retentionDays: 30 },
      actor,
    )
    expect(settings).toMatchObject({ overrides: { flows: 6 }, retentionDays: 30, origins: [] })
    expect(settings.limits).toMatchObject({ events: 300, flows: 6 })
    expect((await auditOf(ref))[0]).toEqual({
      action: 'settings.change',
      before: { overrides: { events: 5, flows: 6 }, retentionDays: null },
      after: { overrides: { flows: 6 }, retentionDays: 30 },
    })
  })

  test('to what is there already changes nothing, and is not noted', async () => {
    const ref = await another()
    const patch = { honoursDoNotTrack: true, limits: { events: 5 } }
    const first = await organisations.changeSettings(ref, patch, actor)
    const lines = await auditOf(ref)
    expect(await organisations.changeSettings(ref, patch, actor)).toEqual(first)
    expect(await auditOf(ref)).toEqual(lines)
  })

  test('at the same time as others loses none of them', async () => {
    const ref = await another()
    const buckets = ['events', 'flows', 'health', 'export', 'analytics'] as const
    await Promise.all(
      buckets.map(bucket => organisations.changeSettings(ref, { limits: { [bucket]: 7 } }, actor)),
    )
    const { overrides } = await organisations.settings(ref)
    expect(overrides).toEqual(Object.fromEntries(buckets.map(bucket => [bucket, 7])))
    expect(await auditOf(ref)).toHaveLength(1 + buckets.length)
  })
})

describe('keys and secrets', () => {
  test('are rotated, and never appear in the audit log', async () => {
    const ref = await another()
    const [first] = await organisations.keys(ref)
    const { text: key, previousUntil } = await organisations.rotateKey(ref, 2, actor)
    expect(previousUntil).toBe(world.clock.now() + 2 * 3_600_000)
    expect(await organisations.keys(ref)).toMatchObject([
      { key, retiredAt: null },
      { key: first!.key, retiredAt: previousUntil },
    ])
    await organisations.changeSettings(ref, { identityMode: 'observe' }, actor)
    const [before] = (await organisations.identity(ref)).secrets
    expect((await auditOf(ref))[0]?.after).toEqual({
      identityMode: 'observe',
      identitySecret: 'made',
    })
    const { text: secret } = await organisations.rotateSecret(ref, 2, actor)
    expect((await organisations.identity(ref)).secrets.map(one => one.secret)).toEqual([
      secret,
      before!.secret,
    ])
    const noted = JSON.stringify(await auditOf(ref))
    for (const text of [key, first!.key, secret, before!.secret]) expect(noted).not.toContain(text)
    expect((await auditOf(ref)).map(({ action }) => action)).toEqual([
      'identity_secret.rotate',
      'settings.change',
      'key.rotate',
      'organisation.create',
    ])
  })
})
