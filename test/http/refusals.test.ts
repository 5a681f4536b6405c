import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { UnauthorizedCause } from '../../src/core/errors.ts'
import { tour } from '../support/flows.ts'
import { rotateKey } from '../support/organisations.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** The bodies of refusals, and which of two faults is reported. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let other: Tenant
let flowId: string
let foreignFlowId: string
let foreignStepId: string
let retiredKey: string

beforeAll(async () => {
  tenant = await Tenant.of(world)
  other = await Tenant.of(world)
  tenant.limit({ flows: 10_000, events: 10_000, heartbeat: 10_000 })
  const own = tenant.publish(tour())
  const foreign = other.publish(tour())
  flowId = own.id
  foreignFlowId = foreign.id
  foreignStepId = foreign.steps[0]!.id
  retiredKey = other.key
  rotateKey(world.database, other.row, { now: world.clock.now(), graceMs: 0 })
  world.takeUp()
})

describe('401', () => {
  const event = () => ({ kind: 'flow_started', userId: 'u', flowId: foreignFlowId })
  const causes: [string, UnauthorizedCause, () => Promise<Response>][] = [
    ['nothing sent', 'no_credential', () => tenant.ask('GET /flows', { credential: null })],
    [
      'an unknown key',
      'unknown_key',
      () => tenant.ask('GET /flows', { credential: 'A'.repeat(32) }),
    ],
    [
      'a key in another case',
      'unknown_key',
      () => tenant.ask('GET /flows', { credential: tenant.key.toLowerCase() }),
    ],
    ['a malformed key', 'malformed_key', () => tenant.ask('GET /flows', { credential: 'short' })],
    [
      'a token for a key',
      'token_where_key_is_due',
      () => tenant.ask('GET /flows', { credential: tenant.token }),
    ],
    [
      'a key for a token',
      'key_where_token_is_due',
      () => tenant.ask(`GET /flows/${flowId}/analytics`, { credential: tenant.key }),
    ],
    [
      'a header that is none',
      'malformed_header',
      () => tenant.ask('GET /flows', { credential: null, headers: { authorization: tenant.key } }),
    ],
    [
      'two keys in the query',
      'malformed_key',
      () => tenant.ask('GET /heartbeat?key=a&key=b', { credential: null }),
    ],
    ['a retired key', 'retired_key', () => other.ask('GET /flows', { credential: retiredKey })],
    [
      'a bad token',
      'token_malformed',
      () => tenant.ask(`GET /flows/${flowId}/analytics`, { credential: 'a.b.c' }),
    ],
    [
      'a token of nobody',
      'unknown_organisation',
      async () => {
        const { token } = await world.tokens.issue('org_none', 60)
        return tenant.ask(`GET /flows/${flowId}/analytics`, { credential: token })
      },
    ],
    ["another's flow", 'foreign_flow', () => tenant.ask(`GET /flows/${foreignFlowId}`)],
    [
      "another's step",
      'foreign_step',
      () => tenant.ask(`POST /steps/${foreignStepId}/health`, { body: {} }),
    ],
    [
      "another's events",
      'foreign_events',
      () => tenant.ask('POST /events', { body: { events: [event()] } }),
    ],
  ]
  test.each(causes)('for %s is the same to the byte; the log has %s', async (_, cause, ask) => {
    const response = await ask()
    expect(world.answers.at(-1)).toMatchObject({ code: 'unauthorized', cause })
    expect(response.status).toBe(401)
    expect(await response.text()).toBe('{"error":"Unauthorized"}')
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="cairn"')
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const names = [...response.headers.keys()].sort()
    const plain = await tenant.ask('GET /flows', { credential: null })
    expect(names).toEqual([...plain.headers.keys()].sort())
  })
})

test('the root leads a browser to the dashboard, else to the manual, and is 404 to all others', async () => {
  const ask = (to: World, headers: Record<string, string>, method = 'GET') =>
    to.app.handle(new Request('http://cairn.test/', { method, headers }))
  const html = { accept: 'text/html,*/*;q=0.8' }
  const bare = new World({ dashboard: null })
  for (const [to, place] of [
    [world, 'dashboard'],
    [bare, 'docs'],
  ] as const) {
    const { status, headers } = await ask(to, html)
    expect([status, headers.get('location')]).toEqual([302, place])
    expect(headers.get('x-ratelimit-limit')).toBe('300')
  }
  await bare.close()
  for (const [headers, method] of [[{}], [{ accept: '*/*' }], [html, 'POST']] as const) {
    const refused = await ask(world, headers, method)
    expect([refused.status, await refused.json()]).toMatchObject([404, { code: 'not_found' }])
  }
})

test('500 says nothing about the inside; the log has it under the same request id', async () => {
  const { presence } = world.stores
  world.stores.presence = { ...presence, read: () => Promise.reject(new Error('disk on fire')) }
  const response = await tenant.ask('GET /snippet-status')
  world.stores.presence = presence
  expect(response.status).toBe(500)
  expect(await response.text()).toBe(
    '{"error":"Something went wrong on the server","code":"internal"}',
  )
  const answered = world.answers.at(-1)
  expect(answered?.requestId).toBe(response.headers.get('x-request-id') as string)
  expect(String(answered?.error)).toContain('disk on fire')
})
