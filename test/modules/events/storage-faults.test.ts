import { afterEach, describe, expect, test } from 'bun:test'
import { poison, storedEvents } from '../../support/ledger.ts'
import { Tenant } from '../../support/tenant.ts'
import { World, type WorldOptions } from '../../support/world.ts'

/** What callers are told when the buffer is full or the database refuses. */

let world: World
afterEach(() => world.close())

async function tenantOf(options: WorldOptions = {}): Promise<Tenant> {
  world = new World(options)
  const tenant = await Tenant.of(world)
  tenant.limit({ events: 100_000 })
  return tenant
}

const event = (id: string, name = 'x') => ({ id, kind: 'custom', name, userId: 'u' })

const storedIds = () => storedEvents(world.database).map(({ id }) => id)

describe('a buffer that is full', () => {
  const overloaded = {
    status: 503,
    body: { error: expect.any(String), code: 'overloaded' },
  }

  test('is 503 with Retry-After, and nothing of the batch was accepted', async () => {
    const tenant = await tenantOf({ bufferBounds: { events: 10, bytes: 1_000_000 } })
    const batch = Array.from({ length: 11 }, (_, i) => event(`e${i}`))
    const response = await tenant.ask('POST /events', { body: { events: batch } })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(await response.json()).toEqual(overloaded.body)
    await world.written()
    expect(storedIds()).toEqual([])
    expect((await tenant.send(batch.slice(0, 10))).body.accepted).toBe(10)
  })

  test('is counted in bytes too', async () => {
    const tenant = await tenantOf({ bufferBounds: { events: 1_000, bytes: 2_000 } })
    const large = { ...event('a'), properties: { fill: 'x'.repeat(2_000) } }
    expect(await tenant.send([large])).toEqual(overloaded)
    expect((await tenant.send([event('a')])).status).toBe(202)
  })

  test('under a burst: what was told 202 is stored, what was told 503 is not, and it drains', async () => {
    const tenant = await tenantOf({ bufferBounds: { events: 25, bytes: 1_000_000 } })
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => ({
        ids: Array.from({ length: 5 }, (_, j) => `${i}-${j}`),
        ...(await tenant.send(Array.from({ length: 5 }, (_, j) => event(`${i}-${j}`)))),
      })),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses).toEqual(new Set([202, 503]))
    const kept = answers.filter(({ status }) => status === 202).flatMap(({ ids }) => ids)
    expect(storedIds().toSorted()).toEqual(kept.toSorted())
    expect([world.live.buffer.events, world.live.buffer.bytes]).toEqual([0, 0])
    expect((await tenant.send([event('after')])).status).toBe(202)
  })

  test('refuses every other write with the same answer', async () => {
    const tenant = await tenantOf({ bufferBounds: { events: 0, bytes: 0 } })
    const flow = tenant.publish({ key: 'f', steps: [{ key: 's', title: 'S' }] })
    const step = `/steps/${flow.steps[0]!.id}`
    const writes = [
      [`POST /flows/${flow.id}/complete`, { userId: 'u' }],
      [`POST ${step}/health`, { outcome: 'found' }],
      [`POST ${step}/fingerprint`, { fingerprint: null }],
    ] as const
    for (const [what, body] of writes) {
      expect(await tenant.answer(what, { body })).toEqual(overloaded)
    }
    expect((await tenant.ask('GET /flows')).status).toBe(200)
  })

  test('is reported before the body is read, but after the credential is checked', async () => {
    const tenant = await tenantOf({ bufferBounds: { events: 0, bytes: 0 } })
    const requested = { body: 'not JSON' }
    expect(await tenant.answer('POST /events', requested)).toEqual(overloaded)
    expect((await tenant.ask('POST /events', { ...requested, credential: null })).status).toBe(401)
  })
})

describe('an event that the database refuses', () => {
  const poisoned = (tenant: Tenant) => {
    poison(world.database, 'b')
    return tenant
  }

  test('does not affect its neighbours, and is reported as storage', async () => {
    const tenant = poisoned(await tenantOf())
    const { status, body } = await tenant.send([event('a'), event('b'), event('c')])
    expect(status).toBe(202)
    expect(body).toEqual({
      accepted: 2,
      duplicates: 0,
      rejected: 1,
      results: [
        { index: 1, id: 'b', status: 'rejected', code: 'storage', message: expect.any(String) },
      ],
      skewMs: null,
    })
    expect(JSON.stringify(body)).not.toContain('poison')
    expect(storedIds()).toEqual(['a', 'c'])
  })

  test('alone in its batch makes it 422', async () => {
    const tenant = poisoned(await tenantOf())
    const { status, body } = await tenant.send([event('b')])
    expect(status).toBe(422)
    expect(body).toMatchObject({ code: 'validation_failed', results: [{ code: 'storage' }] })
  })
})

test('ack=buffer answers 202 before the commit; the events are stored with the next', async () => {
  const tenant = await tenantOf({ ack: 'buffer' })
  const { status, body } = await tenant.send([event('a'), {}])
  expect(status).toBe(202)
  expect(body).toMatchObject({ accepted: 1, rejected: 1 })
  expect(storedIds()).toEqual([])
  await world.storage.flush()
  expect(storedIds()).toEqual(['a'])
})
