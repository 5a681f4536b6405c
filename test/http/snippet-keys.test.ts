import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { tour } from '../support/flows.ts'
import { rotateKey } from '../support/organisations.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let stepId: string
let flowId: string

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ flows: 10_000, events: 10_000, heartbeat: 10_000, health: 10_000, status: 10_000 })
  const flow = tenant.publish(tour())
  flowId = flow.id
  stepId = flow.steps[0]!.id
})

const status = async (what: string, asked: Asked = {}) => (await tenant.ask(what, asked)).status

const withHeader = (authorization: string): Asked => ({
  credential: null,
  headers: { authorization },
})

describe('the header', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('accepts the scheme as %s', async scheme => {
    expect(await status('GET /flows', withHeader(`${scheme} ${tenant.key}`))).toBe(200)
  })

  test('may have several spaces, as RFC 9110 allows', async () => {
    expect(await status('GET /flows', withHeader(`Bearer   ${tenant.key}`))).toBe(200)
  })

  const wrong: [string, () => string][] = [
    ['the scheme alone', () => 'Bearer'],
    ['the scheme and a space', () => 'Bearer '],
    ['the key alone', () => tenant.key],
    ['another scheme', () => `Basic ${tenant.key}`],
    ['a scheme run together with the key', () => `Bearer${tenant.key}`],
    ['31 characters', () => `Bearer ${tenant.key.slice(1)}`],
    ['33 characters', () => `Bearer ${tenant.key}A`],
    ['32 characters of which one is another', () => `Bearer ${tenant.key.slice(1)}-`],
    ['two keys', () => `Bearer ${tenant.key} ${tenant.key}`],
    ['two keys with a comma', () => `Bearer ${tenant.key}, Bearer ${tenant.key}`],
    ['a key in another case', () => `Bearer ${swapCase(tenant.key)}`],
    ['a key with Latin-1 letters', () => `Bearer ${'é'.repeat(32)}`],
    ['nothing at all', () => ''],
    ['a quoted key', () => `Bearer "${tenant.key}"`],
  ]
  test.each(wrong)('with %s is 401', async (_, header) => {
    expect(await status('GET /flows', withHeader(header()))).toBe(401)
  })

  test.each(wrong)('with %s decides alone, even over a right ?key=', async (_, header) => {
    expect(await status(`GET /heartbeat?key=${tenant.key}`, withHeader(header()))).toBe(401)
  })

  test('that is right decides alone, even over a wrong ?key=', async () => {
    expect(await status('GET /heartbeat?key=nonsense')).toBe(200)
    expect(await status('GET /heartbeat?key=a&key=b')).toBe(200)
  })
})

describe('?key=', () => {
  const none = { credential: null }
  const posts = () =>
    [
      ['/events', { events: [{ kind: 'custom', name: 'x', userId: 'u' }] }, 202],
      [`/steps/${stepId}/health`, { outcome: 'found' }, 202],
      [`/steps/${stepId}/fingerprint`, { fingerprint: null }, 200],
      [`/flows/${flowId}/complete`, { userId: 'u' }, 200],
      [`/flows/${flowId}/checklist-progress`, { userId: 'u', items: [] }, 422],
    ] as const

  test('is accepted where a caller cannot set headers: heartbeat and every POST', async () => {
    expect(await status(`GET /heartbeat?key=${tenant.key}`, none)).toBe(200)
    expect(await status(`HEAD /heartbeat?key=${tenant.key}`, none)).toBe(200)
    for (const [path, body, expected] of posts()) {
      expect(await status(`POST ${path}?key=${tenant.key}`, { ...none, body })).toBe(expected)
    }
  })

  test('is accepted nowhere else', async () => {
    for (const path of [
      '/flows',
      `/flows/${flowId}`,
      `/flows/${flowId}/checklist-progress`,
      '/snippet-status',
      `/flows/${flowId}/analytics`,
      `/flows/${flowId}/analytics/export.csv`,
    ]) {
      expect(await status(`GET ${path}?key=${tenant.key}`, none)).toBe(401)
      expect(await status(`GET ${path}?key=${tenant.token}`, none)).toBe(401)
    }
  })

  test('given twice is not a key, right or wrong', async () => {
    const { key } = tenant
    expect(await status(`GET /heartbeat?key=${key}&key=${key}`, none)).toBe(401)
    expect(await status(`GET /heartbeat?key=${key}&key=`, none)).toBe(401)
    expect(await status(`POST /events?key=x&key=${key}`, { ...none, body: {} })).toBe(401)
  })

  test.each(['', 'x', 'A'.repeat(31), 'A'.repeat(33), encodeURIComponent('é'.repeat(32)), '%ZZ'])(
    'of %j is 401',
    async key => {
      expect(await status(`GET /heartbeat?key=${key}`, none)).toBe(401)
    },
  )
})

describe('a key that was rotated', () => {
  const hour = 3_600_000
  const rotated = async (graceMs: number) => {
    const tenant = await Tenant.of(world)
    const now = world.clock.now()
    const { snippetKey } = rotateKey(world.database, tenant.row, { now, graceMs })
    world.takeUp()
    const use = async (credential: string) =>
      (await tenant.ask('GET /flows', { credential })).status
    return { old: () => use(tenant.key), current: () => use(snippetKey) }
  }

  test('works to the last millisecond of its grace time, and not after', async () => {
    const { old, current } = await rotated(hour)
    expect([await old(), await current()]).toEqual([200, 200])
    world.clock.advance(hour - 1)
    expect([await old(), await current()]).toEqual([200, 200])
    world.clock.advance(1)
    expect([await old(), await current()]).toEqual([401, 200])
  })

  test('stops at once without a grace time', async () => {
    const { old, current } = await rotated(0)
    expect([await old(), await current()]).toEqual([401, 200])
  })
})

test('a session token is no snippet key, and the other way round', async () => {
  const { key, token } = tenant
  for (const path of ['/flows', '/heartbeat', '/snippet-status', `/flows/${flowId}`]) {
    expect(await status(`GET ${path}`, { credential: token })).toBe(401)
  }
  for (const path of ['analytics', 'analytics/export.csv']) {
    expect(await status(`GET /flows/${flowId}/${path}`, { credential: key })).toBe(401)
  }
})

test('20,000 random keys leave nothing behind: the catalogue holds only what it knows', async () => {
  const held = () => {
    const catalogue = world.stores.catalogue() as unknown as Record<string, Map<unknown, unknown>>
    return ['byRow', 'byKey', 'byName', 'flowsById', 'stepsById', 'itemsById'].map(
      name => catalogue[name]!.size,
    )
  }
  await tenant.ask('GET /flows')
  const before = held()
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
  for (let i = 0; i < 20_000; i++) {
    const credential = i.toString(26).padStart(31, 'K') + alphabet[i % 26]
    const response = await tenant.ask('GET /flows', { credential })
    if (response.status !== 401) throw new Error(`A key that nobody has: ${response.status}`)
  }
  expect(held()).toEqual(before)
  expect((await tenant.ask('GET /flows')).headers.get('x-ratelimit-remaining')).toMatch(/^99/)
})

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, c => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase()))
}
