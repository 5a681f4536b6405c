import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { AppError } from '../../src/core/errors.ts'
import { checklist, tour } from '../support/flows.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Headers that every response has, whatever it is. */

const world = new World()
afterAll(() => world.close())

const exposed =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, X-Request-Id'

let tenant: Tenant
let picky: Tenant
let spent: Tenant
let flowId: string
let stepId: string

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ events: 10_000, flows: 10_000, heartbeat: 10_000, status: 10_000 })
  const flow = tenant.publish({ ...tour(), ...checklist(), steps: tour().steps })
  flowId = flow.id
  stepId = flow.steps[0]!.id
  picky = await Tenant.of(world)
  picky.allowOrigins('https://only.example')
  spent = await Tenant.of(world)
  spent.limit({ flows: 1 })
  await spent.ask('GET /flows')
})

/** A store that fails for the length of one call. */
async function failing(error: Error, ask: () => Promise<Response>): Promise<Response> {
  const { ledger } = world.stores
  world.stores.ledger = new Proxy(ledger, {
    get: (_, verb) => (verb === 'requireRoom' ? () => {} : () => Promise.reject(error)),
  })
  try {
    return await ask()
  } finally {
    world.stores.ledger = ledger
  }
}

const event = { kind: 'custom', name: 'x', userId: 'u' }
const overloaded = new AppError('overloaded', 'Too much', { retryAfterSeconds: 1 })

type Case = [status: number, what: string, ask: (more: Asked) => Promise<Response>]

const cases: Case[] = [
  [200, 'GET', more => tenant.ask('GET /flows', more)],
  [200, 'HEAD', more => tenant.ask('HEAD /flows', more)],
  [
    200,
    'POST',
    more => tenant.ask(`POST /flows/${flowId}/complete`, withBody({ userId: 'u' }, more)),
  ],
  [200, 'analytics', more => tenant.ask(`GET /flows/${flowId}/analytics`, more)],
  [200, 'export', more => tenant.ask(`GET /flows/${flowId}/analytics/export.csv`, more)],
  [
    200,
    'raw export',
    more => tenant.ask(`GET /flows/${flowId}/analytics/export.csv?rows=runs`, more),
  ],
  [200, 'HEAD export', more => tenant.ask(`HEAD /flows/${flowId}/analytics/export.csv`, more)],
  [202, 'events', more => tenant.ask('POST /events', withBody({ events: [event] }, more))],
  [
    202,
    'health',
    more => tenant.ask(`POST /steps/${stepId}/health`, withBody({ outcome: 'found' }, more)),
  ],
  [204, 'preflight', more => tenant.ask('OPTIONS /events', more)],
  [204, 'preflight of nothing', more => tenant.ask('OPTIONS /nothing', more)],
  [304, 'unchanged', more => tenant.ask('GET /flows', withHeaders({ 'if-none-match': '*' }, more))],
  [400, 'not JSON', more => tenant.ask('POST /events', withBody('{', more))],
  [401, 'no key', more => tenant.ask('GET /flows', { ...more, credential: null })],
  [401, 'HEAD without a key', more => tenant.ask('HEAD /flows', { ...more, credential: null })],
  [404, 'no flow', more => tenant.ask('GET /flows/nothing', more)],
  [404, 'no path', more => tenant.ask('GET /nothing', more)],
  [404, 'HEAD of no path', more => tenant.ask('HEAD /nothing', more)],
  [405, 'wrong method', more => tenant.ask('DELETE /flows', more)],
  [405, 'HEAD of a POST', more => tenant.ask('HEAD /events', more)],
  [413, 'large', more => tenant.ask('POST /events', withBody('x'.repeat(1_048_577), more))],
  [
    415,
    'type',
    more =>
      tenant.ask('POST /events', withHeaders({ 'content-type': 'text/xml' }, withBody('{}', more))),
  ],
  [422, 'shape', more => tenant.ask('POST /events', withBody({}, more))],
  [429, 'limit', more => spent.ask('GET /flows', more)],
  [
    500,
    'fault',
    more =>
      failing(new Error('inside'), () =>
        tenant.ask('POST /events', withBody({ events: [event] }, more)),
      ),
  ],
  [
    503,
    'full',
    more =>
      failing(overloaded, () => tenant.ask('POST /events', withBody({ events: [event] }, more))),
  ],
]

function withBody(body: unknown, more: Asked): Asked {
  return { ...more, body }
}

function withHeaders(headers: Record<string, string>, more: Asked): Asked {
  return { ...more, headers: { ...more.headers, ...headers } }
}

describe('every response', () => {
  test.each(cases)(
    '%d (%s) carries limits, a request id and no hint of CORS without an Origin',
    async (status, _, ask) => {
      const response = await ask({})
      expect(response.status).toBe(status)
      const { headers } = response
      expect(headers.get('x-ratelimit-limit')).toMatch(/^\d+$/)
      expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
      const reset = Number(headers.get('x-ratelimit-reset'))
      const now = world.clock.now() / 1000
      expect(reset).toBeGreaterThan(now)
      expect(reset).toBeLessThanOrEqual(Math.ceil(now + 60))
      expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9]{16}$/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('vary')).toContain('Origin')
      expect(headers.get('access-control-allow-origin')).toBeNull()
    },
  )

  test.each(cases)('%d (%s) can be read by a page of any origin', async (status, _, ask) => {
    const response = await ask({ headers: { origin: 'https://page.example' } })
    expect(response.status).toBe(status)
    const { headers } = response
    expect(headers.get('access-control-allow-origin')).toBe('https://page.example')
    expect(headers.get('access-control-allow-credentials')).toBe('true')
    expect(headers.get('access-control-expose-headers')).toBe(exposed)
    expect(headers.get('vary')).toContain('Origin')
  })

  test.each(cases)(
    '%d (%s) is logged exactly once, under its own request id',
    async (status, _, ask) => {
      world.answers.length = 0
      const response = await ask({})
      expect(world.answers).toHaveLength(1)
      expect(world.answers[0]).toMatchObject({
        requestId: response.headers.get('x-request-id'),
        status,
      })
    },
  )

  test('403 carries the headers too, otherwise the page could not read the reason', async () => {
    const response = await picky.ask('GET /flows', { headers: { origin: 'https://else.example' } })
    expect(response.status).toBe(403)
    expect(response.headers.get('x-ratelimit-remaining')).toBe('59')
    expect(response.headers.get('access-control-allow-origin')).toBe('https://else.example')
    expect(response.headers.get('access-control-expose-headers')).toBe(exposed)
  })
})

describe('the limit that is shown', () => {
  const shown = async (ask: Promise<Response>) => {
    const { headers } = await ask
    return ['limit', 'remaining', 'reset'].map(name => Number(headers.get(`x-ratelimit-${name}`)))
  }
  const full = () => Math.ceil(world.clock.now() / 1000) + 60

  test('is the route’s, untouched, on a 401', async () => {
    expect(await shown(tenant.ask('GET /heartbeat', { credential: null }))).toEqual([
      10,
      10,
      full(),
    ])
  })

  test('is the route’s default on a 401 about another organisation’s flow, as on any other', async () => {
    const other = await Tenant.of(world)
    other.limit({ flows: 7 })
    expect(await shown(other.ask(`GET /flows/${flowId}`))).toEqual([60, 60, full()])
  })

  test('is 300 and full where there is no route', async () => {
    expect(await shown(tenant.ask('GET /nothing'))).toEqual([300, 300, full()])
    expect(await shown(tenant.ask('OPTIONS /nothing'))).toEqual([300, 300, full()])
  })

  test('is that of the method asked about, untouched, on a preflight and a 405', async () => {
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' }
    expect(await shown(tenant.ask(`OPTIONS /steps/${stepId}/fingerprint`, { headers }))).toEqual([
      30,
      30,
      full(),
    ])
    expect(await shown(tenant.ask('DELETE /heartbeat'))).toEqual([10, 10, full()])
  })
})

test('a preflight is valid for two hours, with the methods and headers of the contract', async () => {
  const response = await tenant.ask('OPTIONS /events', {
    credential: null,
    headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
  })
  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
  expect(response.headers.get('access-control-max-age')).toBe('7200')
  expect(response.headers.get('access-control-allow-methods')).toContain('POST')
  expect(response.headers.get('access-control-allow-headers')).toBe(
    'authorization, content-type, if-none-match',
  )
})

test('only flows may be kept by a cache', async () => {
  const policy = async (what: string) => (await tenant.ask(what)).headers.get('cache-control')
  expect(await policy('GET /flows')).toBe('private, max-age=60')
  expect(await policy(`GET /flows/${flowId}`)).toBe('private, max-age=60')
  expect(await policy('GET /flows?userId=ann')).toBe('private, no-cache')
  expect(await policy('GET /heartbeat')).toBe('no-store')
  expect(await policy('GET /snippet-status')).toBe('no-store')
  expect(await policy(`GET /flows/${flowId}/analytics`)).toBe('no-store')
})
