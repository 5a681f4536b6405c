import { afterAll, expect, test } from 'bun:test'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Flows that are tried in one organisation, and promoted to another. */

const world = new World()
afterAll(() => world.close())

const steps = (...keys: string[]) => keys.map(key => ({ key, kind: 'modal', title: key }))

async function pair() {
  const [production, staging] = [await Tenant.of(world), await Tenant.of(world)]
  const all = ['flows:read', 'flows:write', 'flows:publish', 'settings:write'] as const
  const here = await production.managementToken(...all)
  const there = await staging.managementToken(...all)
  const ask =
    (tenant: Tenant, credential: string) =>
    (what: string, body?: unknown, headers = {}) =>
      tenant.answer(what, { credential, headers, ...(body !== undefined && { body }) })
  const [manage, try_] = [ask(production, here), ask(staging, there)]
  const linked = await manage('POST /manage/environments', { token: there })
  expect(linked.status).toBe(201)
  const [{ slug }] = linked.body.staging
  return { manage, try_, slug, path: `/manage/environments/${slug}/flows`, production, staging }
}

const push = (publish: boolean, ...flows: object[]) => ({ flows, publish })

test('only what was read on both sides is promoted, and steps keep the ids that they have', async () => {
  const { manage, try_, path, production } = await pair()
  await manage('POST /manage/push', push(true, tour({ key: 'a', steps: steps('one', 'two') })))
  const idsHere = async () =>
    (await production.answer('GET /flows')).body.flows[0].steps.map(
      ({ id, key }: Record<string, string>) => [key, id],
    )
  const before = new Map<string, string>(await idsHere())
  await try_('POST /manage/push', push(true, tour({ key: 'a', steps: steps('two', 'new', 'one') })))

  const { body: seen } = await manage(`GET ${path}/a/diff`)
  expect(seen).toMatchObject({ state: 'changed', steps: { added: ['new'], removed: [] } })
  const promote = (stagingEtag: string, etag: string) =>
    manage(`POST ${path}/a/promote`, { stagingEtag, publish: true }, { 'if-match': etag })

  await try_('POST /manage/push', push(true, tour({ key: 'a', steps: steps('two', 'other') })))
  const late = await promote(seen.staging.etag, seen.production.etag)
  expect([late.status, late.body.code]).toEqual([412, 'precondition_failed'])
  expect(late.body.changedBy).toContain('token_')

  const { body: again } = await manage(`GET ${path}/a/diff`)
  await manage('POST /manage/push', push(false, tour({ key: 'a', steps: steps('mine') })))
  expect((await promote(again.staging.etag, again.production.etag)).status).toBe(412)

  const { body: last } = await manage(`GET ${path}/a/diff`)
  const done = await promote(last.staging.etag, last.production.etag)
  expect(done.body.flows[0]).toMatchObject({ status: 'published', version: 2, hasDraft: false })
  const after = new Map<string, string>(await idsHere())
  expect([...after.keys()]).toEqual(['two', 'other'])
  expect(after.get('two')).toBe(before.get('two')!)
})

test('the list says what is new, changed, the same and missing, and leaves the archive out', async () => {
  const { manage, try_, path } = await pair()
  const flow = (key: string, name = key) => tour({ key, name, steps: steps('one') })
  await manage('POST /manage/push', push(true, flow('same'), flow('changed'), flow('missing')))
  const tried = [flow('same'), flow('changed', 'Other'), flow('new'), flow('old')]
  await try_('POST /manage/push', push(true, ...tried))
  await try_('POST /manage/archive', { keys: ['old'] })
  await try_('POST /manage/push', push(false, flow('drafted'), flow('same', 'Newer')))
  const { body } = await manage(`GET ${path}`)
  interface Listed {
    key: string
    state: string
    staging: { side: string } | null
  }
  const told = (body.flows as Listed[]).map(({ key, state, staging }) => [
    key,
    state,
    staging?.side ?? null,
  ])
  expect(told).toEqual([
    ['changed', 'changed', 'published'],
    ['drafted', 'new', 'draft'],
    ['missing', 'missing', null],
    ['new', 'new', 'published'],
    ['same', 'same', 'published'],
  ])
})

test('both audit logs say what was promoted, and by whom they were linked', async () => {
  const { manage, try_, path, slug } = await pair()
  await try_('POST /manage/push', push(true, tour({ key: 'a' })))
  await manage(`POST ${path}/a/promote`, { stagingEtag: '*' }, { 'if-none-match': '*' })
  const [here] = (await manage('GET /manage/audit?subject=a')).body.lines
  expect(here).toMatchObject({ action: 'flow.promote', note: `promoted from ${slug} version 1` })
  expect(here.after.source).toEqual({ organisation: slug, version: 1 })
  const [there] = (await try_('GET /manage/audit?subject=a')).body.lines
  expect(there).toMatchObject({ action: 'flow.promoted', after: { version: 1, publish: false } })
  const links = (await try_('GET /manage/audit')).body.lines
  expect(links.some(({ action }: { action: string }) => action === 'organisation.link')).toBe(true)
})

test('a link gives staging nothing, and production only flows, until it is removed', async () => {
  const { manage, try_, slug, path, production } = await pair()
  await try_('POST /manage/push', push(true, tour({ key: 'a' })))
  const named = (await try_('GET /manage/environments')).body.production.slug
  expect(named).toBe((await manage('GET /manage/me')).body.organisation.slug)
  for (const what of [`GET /manage/environments/${named}/flows`, `GET ${path}/a/diff`]) {
    expect((await try_(what)).body.code).toBe('organisation_not_found')
  }
  const reader = await production.managementToken('analytics:read')
  const told = await production.answer(`GET ${path}`, { credential: reader })
  expect(told.status).toBe(403)
  expect((await try_(`DELETE /manage/environments/${named}`)).status).toBe(204)
  expect((await manage(`GET ${path}`)).body.code).toBe('organisation_not_found')
  expect((await manage(`DELETE /manage/environments/${slug}`)).status).toBe(404)
})

test('an origin that only staging has is reported before the promotion', async () => {
  const { manage, try_, path, staging } = await pair()
  staging.allowOrigins('https://staging.example.com')
  const urls = [{ match: 'prefix', pattern: 'https://staging.example.com/app' }]
  await try_('POST /manage/push', push(true, tour({ key: 'a', targeting: { urls } })))
  const { body } = await manage(`GET ${path}/a/diff`)
  expect(body.foreignOrigins).toEqual(['https://staging.example.com'])
})
