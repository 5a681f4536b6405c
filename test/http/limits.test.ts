import { afterAll, describe, expect, test } from 'bun:test'
import { type Bucket, buckets, defaultLimits } from '../../src/core/organisation/limits.ts'
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

test('every bucket of three organisations admits exactly its limit, even if all send at once', async () => {
  const asks = await Promise.all(
    Array.from({ length: 3 }, async () => requestsOf(await Tenant.of(world))),
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
  expect(refusals).toEqual(Array(3 * buckets.length).fill(7))
})

describe('a window', () => {
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
    const requested = [
      [4, () => tenant.ask('GET /flows')],
      [3, () => tenant.ask(`GET /flows/${id}/analytics`)],
      [3, () => tenant.ask('GET /manage/me', { credential })],
    ] as const
    for (const [times, ask] of requested) {
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
