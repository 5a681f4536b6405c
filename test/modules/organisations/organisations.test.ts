import { afterAll, describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/core/errors.ts'
import { auditor } from '../../../src/core/organisation/audit.ts'
import type { Organisation } from '../../../src/core/organisation/catalogue.ts'
import { readOrigin } from '../../../src/core/organisation/origin.ts'
import { slugFrom } from '../../../src/core/text/slug.ts'
import {
  changeSettings,
  createOrganisation,
  rotateKey,
  rotateSecret,
} from '../../../src/modules/organisations/service.ts'
import type { OrganisationStore } from '../../../src/storage/interfaces/organisations.ts'
import { World } from '../../support/world.ts'

/** The names that organisations may have, and their settings. */

const world = new World()
afterAll(() => world.close())

const actor = { via: 'command line', name: 'test', requestId: null } as const
const store = world.management.organisations
const audit = () => auditor(actor, world.clock.now())

const known = (id: string) => world.stores.catalogue().organisationByName(id)!
const create = (named: { name: string; slug?: string }) => createOrganisation(store, named, audit())
const set = (of: Organisation, patch: Parameters<typeof changeSettings>[2]) =>
  changeSettings(store, of, patch, audit())
const read = (of: Organisation) => store.read(of.ref, world.clock.now())

let made = 0
async function another(): Promise<Organisation> {
  const { id } = await create({ name: `Another ${++made}` })
  world.takeUp()
  return known(id)
}

const auditOf = async ({ ref }: Organisation) => {
  const lines = await world.management.access.audit(ref, { most: 100 })
  return lines.map(({ action, before, after }) => ({ action, before, after }))
}

async function rejectionOf(promise: Promise<unknown>) {
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
      const rejection = await rejectionOf(create({ name: 'Harbor', slug }))
      expect(rejection).toMatchObject({ code: 'validation_failed', details: [{ path: '/slug' }] })
    },
  )
})

describe('an organisation', () => {
  test('is made with its first snippet key and a line of the audit log, without the key', async () => {
    const { id, snippetKey } = await create({ name: ' Noted ' })
    world.takeUp()
    const organisation = known(id)
    expect((await read(organisation)).keys).toMatchObject([{ key: snippetKey, worksUntil: null }])
    expect(await auditOf(organisation)).toEqual([
      { action: 'organisation.create', before: null, after: { slug: 'noted', name: 'Noted' } },
    ])
  })

  test.each(['', '   ', 'x'.repeat(201), 'a\nb', 'a\ud800'])('%p is no name', async name => {
    const rejection = await rejectionOf(create({ name, slug: 'slug' }))
    expect(rejection).toMatchObject({ code: 'validation_failed', details: [{ path: '/name' }] })
  })

  test('beyond what storage has room for is refused', async () => {
    const full: OrganisationStore = { ...store, most: 3, add: async () => 'full' }
    const rejection = await rejectionOf(createOrganisation(full, { name: 'Harbor' }, audit()))
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
    const organisation = await another()
    const origins = ['https://good.example', ...noOrigins]
    const rejection = await rejectionOf(set(organisation, { origins }))
    expect(rejection?.details?.map(({ path }) => path)).toEqual(
      noOrigins.map((_, i) => `/origins/${i + 1}`),
    )
    expect(JSON.stringify(rejection)).not.toContain('a.example')
    expect((await read(organisation)).organisation.origins).toEqual([])
  })

  test('replace those before, each once', async () => {
    const organisation = await another()
    await set(organisation, { origins: ['https://old.example'] })
    const origins = ['https://b.example', 'https://A.example', 'https://a.example:443']
    const settings = await set(organisation, { origins })
    expect(settings.origins).toEqual(['https://a.example', 'https://b.example'])
    expect((await read(organisation)).organisation).toEqual(settings)
  })
})

describe('a change of settings', () => {
  test('leaves the rest as it was, and is noted with what was before and after', async () => {
    const organisation = await another()
    await set(organisation, { limits: { events: 5, flows: 6 } })
    const settings = await set(organisation, { limits: { events: null }, retentionDays: 30 })
    expect(settings).toMatchObject({ overrides: { flows: 6 }, retentionDays: 30, origins: [] })
    expect(settings.limits).toMatchObject({ events: 300, flows: 6 })
    expect((await auditOf(organisation))[0]).toEqual({
      action: 'settings.change',
      before: { overrides: { events: 5, flows: 6 }, retentionDays: null },
      after: { overrides: { flows: 6 }, retentionDays: 30 },
    })
  })

  test('to what is there already changes nothing, and is not noted', async () => {
    const organisation = await another()
    const patch = { honoursDoNotTrack: true, limits: { events: 5 } }
    const first = await set(organisation, patch)
    const lines = await auditOf(organisation)
    expect(await set(organisation, patch)).toEqual(first)
    expect(await auditOf(organisation)).toEqual(lines)
  })

  test('at the same time as others loses none of them', async () => {
    const organisation = await another()
    const buckets = ['events', 'flows', 'health', 'export', 'analytics'] as const
    await Promise.all(buckets.map(bucket => set(organisation, { limits: { [bucket]: 7 } })))
    const { overrides } = (await read(organisation)).organisation
    expect(overrides).toEqual(Object.fromEntries(buckets.map(bucket => [bucket, 7])))
    expect(await auditOf(organisation)).toHaveLength(1 + buckets.length)
  })
})

describe('keys and secrets', () => {
  test('are rotated, and never appear in the audit log', async () => {
    const organisation = await another()
    const [first] = (await read(organisation)).keys
    const { snippetKey: key, previousUntil } = await rotateKey(store, organisation, 2, audit())
    expect(previousUntil).toBe(world.clock.now() + 2 * 3_600_000)
    expect((await read(organisation)).keys).toMatchObject([
      { key, worksUntil: null },
      { key: first!.key, worksUntil: previousUntil },
    ])
    await set(organisation, { identityMode: 'observe' })
    const [before] = (await read(organisation)).secrets
    expect((await auditOf(organisation))[0]?.after).toEqual({
      identityMode: 'observe',
      identitySecret: 'made',
    })
    const { secret } = await rotateSecret(store, organisation, 2, audit())
    expect((await read(organisation)).secrets.map(one => one.secret)).toEqual([
      secret,
      before!.secret,
    ])
    const noted = JSON.stringify(await auditOf(organisation))
    for (const text of [key, first!.key, secret, before!.secret]) expect(noted).not.toContain(text)
    expect((await auditOf(organisation)).map(({ action }) => action)).toEqual([
      'identity_secret.rotate',
      'settings.change',
      'key.rotate',
      'organisation.create',
    ])
  })
})
