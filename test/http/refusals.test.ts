import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { UnauthorizedCause } from '../../src/core/errors.ts'
import { tour } from '../support/flows.ts'
import { rotateKey } from '../support/organisations.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** The bodies of refusals, and which of two faults is reported. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let other: Tenant
let flowId: string
let stepId: string
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
  stepId = own.steps[0]!.id
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
      "another's checklist",
      'foreign_flow',
      () => tenant.ask(`GET /flows/${foreignFlowId}/checklist-progress`),
    ],
    [
      "another's completion",
      'foreign_flow',
      () => tenant.ask(`POST /flows/${foreignFlowId}/complete`, { body: {} }),
    ],
    [
      "another's analytics",
      'foreign_flow',
      () => tenant.ask(`GET /flows/${foreignFlowId}/analytics`),
    ],
    [
      "another's export",
      'foreign_flow',
      () => tenant.ask(`GET /flows/${foreignFlowId}/analytics/export.csv`),
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

test('429 has the seconds to wait in the body and in Retry-After, and nothing else', async () => {
  const spent = await Tenant.of(world)
  spent.limit({ heartbeat: 1 })
  await spent.ask('GET /heartbeat')
  const response = await spent.ask('GET /heartbeat')
  expect(response.status).toBe(429)
  expect(await response.text()).toBe('{"error":"Rate limit exceeded","retryAfter":60}')
  expect(response.headers.get('retry-after')).toBe('60')
  expect(response.headers.get('x-ratelimit-remaining')).toBe('0')
  expect(response.headers.get('x-ratelimit-limit')).toBe('1')
})

test('405 names the methods of the path', async () => {
  const allow = async (what: string) => {
    const response = await tenant.ask(what)
    expect(response.status).toBe(405)
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' })
    return response.headers.get('allow')
  }
  expect(await allow('POST /flows')).toBe('GET, HEAD, OPTIONS')
  expect(await allow('GET /events')).toBe('POST, OPTIONS')
  expect(await allow(`PATCH /flows/${flowId}/checklist-progress`)).toBe('GET, HEAD, POST, OPTIONS')
  expect(await allow(`POST /flows/${flowId}/analytics/export.csv`)).toBe('GET, HEAD, OPTIONS')
})

test('a path that only looks like a route is 404, with any method', async () => {
  for (const path of ['/flows/x/analytics/exportXcsv', '/flowsx', '/', '/flows/x/y', '/events/x']) {
    for (const method of ['GET', 'DELETE', 'HEAD']) {
      const response = await tenant.ask(`${method} ${path}`)
      expect(response.status).toBe(404)
    }
  }
  const outside = await world.app.handle(new Request('http://cairn.test/flows'))
  expect(outside.status).toBe(404)
  expect(await outside.json()).toEqual({
    error: 'There is nothing at this path',
    code: 'not_found',
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

test('an id that is nobody’s is 404, whatever characters it has', async () => {
  const ids = ['nothing', 'a%2Fb', '%00', '%ZZ', '%C3%28', '%ED%A0%80', 'x'.repeat(8_000)]
  for (const id of ids) {
    expect(await tenant.answer(`GET /flows/${id}`)).toEqual({
      status: 404,
      body: { error: 'There is no such flow', code: 'flow_not_found' },
    })
    expect(await tenant.answer(`POST /steps/${id}/health`, { body: { outcome: 'found' } })).toEqual(
      {
        status: 404,
        body: { error: 'There is no such step', code: 'step_not_found' },
      },
    )
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

describe('of two faults, the first in the order of checks is reported', () => {
  const large = 'x'.repeat(1_048_577)
  const origin = { origin: 'https://stranger.example' }
  const picky = async () => {
    const tenant = await Tenant.of(world)
    tenant.publish(tour())
    tenant.allowOrigins('https://only.example')
    return tenant
  }
  const spend = async (tenant: Tenant) => {
    tenant.limit({ flows: 1, events: 1, health: 1 })
    for (const what of ['GET /flows', 'POST /events', 'POST /steps/x/health']) {
      await tenant.ask(what, what.startsWith('POST') ? { body: {} } : {})
    }
    return tenant
  }
  const status = async (tenant: Tenant, what: string, asked: Asked = {}) =>
    (await tenant.ask(what, asked)).status

  test('route before credential', async () => {
    expect(await status(tenant, 'GET /nothing', { credential: null })).toBe(404)
    expect(await status(tenant, 'PUT /events', { credential: null, body: '{' })).toBe(405)
  })

  test('credential before limit, origin, id, body', async () => {
    const spent = await spend(await picky())
    const wrong = { credential: 'B'.repeat(32), headers: origin }
    expect(await status(spent, 'GET /flows/nothing', wrong)).toBe(401)
    expect(await status(spent, 'POST /events', { ...wrong, body: large })).toBe(401)
  })

  test('limit before origin, id, body', async () => {
    const spent = await spend(await picky())
    expect(await status(spent, 'GET /flows/nothing', { headers: origin })).toBe(429)
    expect(await status(spent, `GET /flows/${foreignFlowId}`, { headers: origin })).toBe(429)
    expect(await status(spent, 'POST /events', { headers: origin, body: large })).toBe(429)
  })

  test('origin before id and body', async () => {
    const strict = await picky()
    expect(await status(strict, 'GET /flows/nothing', { headers: origin })).toBe(403)
    expect(await status(strict, `GET /flows/${foreignFlowId}`, { headers: origin })).toBe(403)
    expect(await status(strict, 'POST /events', { headers: origin, body: large })).toBe(403)
  })

  test('id before body', async () => {
    expect(await status(tenant, 'POST /flows/nothing/complete', { body: large })).toBe(404)
    expect(await status(tenant, `POST /flows/${foreignFlowId}/complete`, { body: large })).toBe(401)
    expect(await status(tenant, `POST /steps/nothing/health`, { body: '{' })).toBe(404)
  })

  test('413 before 415 before 400 before 422', async () => {
    const xml = { 'content-type': 'text/xml' }
    expect(await status(tenant, 'POST /events', { body: large, headers: xml })).toBe(413)
    expect(await status(tenant, 'POST /events', { body: '{', headers: xml })).toBe(415)
    expect(await status(tenant, 'POST /events', { body: '{' })).toBe(400)
    expect(await status(tenant, 'POST /events', { body: '{}' })).toBe(422)
  })

  test('the shape before an event that is another organisation’s', async () => {
    const event = { kind: 'flow_started', userId: 'u', flowId: foreignFlowId }
    const many = { events: Array(51).fill(event) }
    expect(await status(tenant, 'POST /events', { body: many })).toBe(422)
  })

  test('an id that is another organisation’s before a shape that is wrong', async () => {
    expect(await status(tenant, `POST /steps/${foreignStepId}/fingerprint`, { body: {} })).toBe(401)
    expect(await status(tenant, `POST /steps/${stepId}/fingerprint`, { body: {} })).toBe(422)
    const query = `/flows/${foreignFlowId}/analytics?from=never`
    expect(await status(tenant, `GET ${query}`)).toBe(401)
  })
})

describe('an origin', () => {
  test('on the list passes, off the list is 403, absent is a back end', async () => {
    const picky = await Tenant.of(world)
    picky.allowOrigins('https://app.example', 'chrome-extension://abcdef')
    const ask = (origin: string) => picky.answer('GET /flows', { headers: { origin } })
    expect((await ask('https://app.example')).status).toBe(200)
    expect((await ask('chrome-extension://abcdef')).status).toBe(200)
    for (const stranger of ['https://app.example.evil', 'http://app.example', 'null', '']) {
      expect(await ask(stranger)).toEqual({
        status: 403,
        body: {
          error: "This origin is not one of the organisation's",
          code: 'origin_not_allowed',
        },
      })
    }
    expect((await picky.answer('GET /flows')).status).toBe(200)
  })

  test('does not matter to a session token', async () => {
    const picky = await Tenant.of(world)
    const { id } = picky.publish(tour())
    picky.allowOrigins('https://app.example')
    const headers = { origin: 'https://dashboard.example' }
    expect((await picky.ask(`GET /flows/${id}/analytics`, { headers })).status).toBe(200)
  })

  test('a preflight from a stranger is answered: the refusal itself must be readable', async () => {
    const headers = { origin: 'https://stranger.example', 'access-control-request-method': 'POST' }
    const response = await tenant.ask('OPTIONS /events', { headers, credential: null })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://stranger.example')
  })
})
