import { afterAll, describe, expect, test } from 'bun:test'
import { type Bucket, buckets, defaultLimits } from '../../src/core/organisation/buckets.ts'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

/** One cheap request per bucket. */
async function requestsOf(tenant: Tenant): Promise<Record<Bucket, () => Promise<Response>>> {
  const manager = await tenant.managementToken('flows:read')
  const { id, steps } = tenant.publish(tour())
  const step = `/steps/${steps[0]!.id}`
  return {
    events: () =>
      tenant.ask('POST /events', {
        body: { events: [{ kind: 'custom', name: 'x', userId: 'u' }] },
      }),
    flows: () => tenant.ask(`GET /flows/${id}`),
    fingerprint: () => tenant.ask(`POST ${step}/fingerprint`, { body: { fingerprint: null } }),
    health: () => tenant.ask(`POST ${step}/health`, { body: { outcome: 'found' } }),
    heartbeat: () => tenant.ask('GET /heartbeat'),
    status: () => tenant.ask('GET /snippet-status'),
    analytics: () => tenant.ask(`GET /flows/${id}/analytics?from=never`),
    export: () => tenant.ask(`GET /flows/${id}/analytics/export.csv?from=never`),
    manage: () => tenant.ask('GET /manage/me', { credential: manager }),
  }
}

test('ten organisations at once: every bucket admits exactly its limit, never one more', async () => {
  const asks = await Promise.all(
    Array.from({ length: 10 }, async () => requestsOf(await Tenant.of(world))),
  )
  const refusals = await Promise.all(
    asks.flatMap(ask =>
      buckets.map(async bucket => {
        const sent = Array.from({ length: defaultLimits[bucket] + 7 }, () => ask[bucket]())
        const statuses = (await Promise.all(sent)).map(({ status }) => status)
        return statuses.filter(status => status === 429).length
      }),
    ),
  )
  expect(refusals).toEqual(Array(10 * buckets.length).fill(7))
})

test('an operator’s override replaces the default, and shows in the headers', async () => {
  const tenant = await Tenant.of(world)
  const { heartbeat } = await requestsOf(tenant)
  tenant.limit({ heartbeat: 3 })
  const seen = await Promise.all(Array.from({ length: 5 }, heartbeat))
  expect(seen.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429])
  expect(seen.map(({ headers }) => headers.get('x-ratelimit-limit'))).toEqual(Array(5).fill('3'))
})

test('remaining counts down to 0, and the refusal after it says 0 too', async () => {
  const tenant = await Tenant.of(world)
  tenant.limit({ heartbeat: 3 })
  const { heartbeat } = await requestsOf(tenant)
  const remaining = async () => (await heartbeat()).headers.get('x-ratelimit-remaining')
  expect([await remaining(), await remaining(), await remaining(), await remaining()]).toEqual([
    '2',
    '1',
    '0',
    '0',
  ])
})

describe('a request is counted', () => {
  const remaining = (response: Response) => Number(response.headers.get('x-ratelimit-remaining'))

  test('whatever becomes of it: 404, 422, 400, 413, 403, HEAD, 304', async () => {
    const tenant = await Tenant.of(world)
    const { id } = tenant.publish(tour())
    const outcomes = [
      [404, 'GET /flows/nothing', {}],
      [422, `POST /flows/${id}/complete`, { body: {} }],
      [400, `POST /flows/${id}/complete`, { body: '{' }],
      [413, `POST /flows/${id}/complete`, { body: 'x'.repeat(70_000) }],
      [200, 'HEAD /flows', {}],
      [304, 'GET /flows', { headers: { 'if-none-match': '*' } }],
    ] as const
    let left = 60
    for (const [status, what, asked] of outcomes) {
      const response = await tenant.ask(what, asked)
      expect(response.status).toBe(status)
      expect(remaining(response)).toBe(--left)
    }
    tenant.allowOrigins('https://only.example')
    const refused = await tenant.ask('GET /flows', { headers: { origin: 'https://x.example' } })
    expect([refused.status, remaining(refused)]).toEqual([403, --left])
  })

  test('for its own organisation, even if it names the flow of another', async () => {
    const [tenant, other] = [await Tenant.of(world), await Tenant.of(world)]
    const foreign = other.publish(tour()).id
    expect((await tenant.ask(`GET /flows/${foreign}`)).status).toBe(401)
    expect(remaining(await tenant.ask('GET /flows'))).toBe(58)
    expect(remaining(await other.ask('GET /flows'))).toBe(59)
  })

  test('but not if its credential is wrong, its path unknown or its method wrong', async () => {
    const tenant = await Tenant.of(world)
    await tenant.ask('GET /flows', { credential: 'C'.repeat(32) })
    await tenant.ask('DELETE /flows')
    await tenant.ask('OPTIONS /flows')
    await tenant.ask('GET /nothing')
    expect(remaining(await tenant.ask('GET /flows'))).toBe(59)
  })
})

test('a 401 never turns into a 429', async () => {
  const tenant = await Tenant.of(world)
  const wrong = () => tenant.ask('GET /heartbeat', { credential: 'D'.repeat(32) })
  const statuses = (await Promise.all(Array.from({ length: 50 }, wrong))).map(r => r.status)
  expect(new Set(statuses)).toEqual(new Set([401]))
  expect((await tenant.ask('GET /heartbeat')).status).toBe(200)
})

test('buckets are independent of one another, and so are organisations', async () => {
  const [tenant, other] = [await Tenant.of(world), await Tenant.of(world)]
  tenant.limit({ flows: 1 })
  await tenant.ask('GET /flows')
  expect((await tenant.ask('GET /flows')).status).toBe(429)
  expect((await tenant.ask('GET /heartbeat')).status).toBe(200)
  expect((await other.ask('GET /flows')).status).toBe(200)
})

describe('a window', () => {
  test('opens at the first request, lasts 60 s, and opens anew', async () => {
    const tenant = await Tenant.of(world)
    tenant.limit({ heartbeat: 1 })
    const status = async () => (await tenant.ask('GET /heartbeat')).status
    expect(await status()).toBe(200)
    world.clock.advance(59_999)
    expect(await status()).toBe(429)
    world.clock.advance(1)
    expect(await status()).toBe(200)
    world.clock.advance(30_000)
    expect(await status()).toBe(429)
    world.clock.advance(30_000)
    expect(await status()).toBe(200)
  })

  test('tells the seconds that are left, rounded up, and never less than one', async () => {
    const tenant = await Tenant.of(world)
    tenant.limit({ heartbeat: 1 })
    const openedAt = world.clock.now()
    await tenant.ask('GET /heartbeat')
    let elapsed = 0
    for (const [at, left] of [
      [1, 60],
      [999, 60],
      [1_000, 59],
      [30_500, 30],
      [58_999, 2],
      [59_000, 1],
      [59_999, 1],
    ] as const) {
      world.clock.advance(at - elapsed)
      elapsed = at
      const response = await tenant.ask('GET /heartbeat')
      expect(response.status).toBe(429)
      expect(response.headers.get('retry-after')).toBe(`${left}`)
      expect(await response.json()).toEqual({ error: 'Rate limit exceeded', retryAfter: left })
      const reset = Number(response.headers.get('x-ratelimit-reset'))
      expect(reset).toBe(Math.ceil((openedAt + 60_000) / 1000))
    }
  })

  test('is not moved by setting the wall clock: its own clock never steps', async () => {
    const tenant = await Tenant.of(world)
    tenant.limit({ heartbeat: 1 })
    await tenant.ask('GET /heartbeat')
    world.clock.wallMs += 3_600_000
    expect((await tenant.ask('GET /heartbeat')).status).toBe(429)
    world.clock.wallMs -= 7_200_000
    expect((await tenant.ask('GET /heartbeat')).status).toBe(429)
    world.clock.wallMs += 3_600_000
  })
})

test('a limiter that answers with a promise, as one on another machine, admits the same', async () => {
  const distant = new World({
    limiter: own => ({ take: async (...args) => own.take(...args) }),
  })
  try {
    const tenant = await Tenant.of(distant)
    tenant.limit({ flows: 3, analytics: 2, manage: 2 })
    const { id } = tenant.publish(tour())
    const credential = await tenant.managementToken('flows:read')
    const asked = [
      [4, () => tenant.ask('GET /flows')],
      [3, () => tenant.ask(`GET /flows/${id}/analytics`)],
      [3, () => tenant.ask('GET /manage/me', { credential })],
    ] as const
    for (const [times, ask] of asked) {
      const answers = await Promise.all(Array.from({ length: times }, ask))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([
        ...Array(times - 1).fill(200),
        429,
      ])
      const left = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))
      expect(left.toSorted()).toEqual([0, ...Array.from({ length: times - 1 }, (_, i) => i)])
    }
    const refused = await tenant.ask('GET /flows', { credential: null })
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('60')
  } finally {
    await distant.close()
  }
})
