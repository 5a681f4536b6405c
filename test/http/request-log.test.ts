import { afterAll, beforeAll, expect, test } from 'bun:test'
import { AppError } from '../../src/core/errors.ts'
import { tour } from '../support/flows.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let spent: Tenant
let flowId: string

beforeAll(async () => {
  tenant = await Tenant.of(world)
  flowId = tenant.publish(tour()).id
  spent = await Tenant.of(world)
  spent.limit({ flows: 1 })
  await spent.ask('GET /flows')
})

const events = { events: [{ kind: 'custom', name: 'x', userId: 'u' }] }

const cases: [status: number, what: string, asked: Asked][] = [
  [200, 'GET /flows', {}],
  [200, 'HEAD /flows', {}],
  [200, 'GET /flows/{flow}/analytics', {}],
  [200, 'GET /flows/{flow}/analytics/export.csv', {}],
  [200, 'GET /flows/{flow}/analytics/export.csv?rows=runs', {}],
  [200, 'HEAD /flows/{flow}/analytics/export.csv', {}],
  [200, 'POST /flows/{flow}/complete', { body: { userId: 'u' } }],
  [202, 'POST /events', { body: events }],
  [204, 'OPTIONS /events', {}],
  [204, 'OPTIONS /nothing', {}],
  [304, 'GET /flows', { headers: { 'if-none-match': '*' } }],
  [400, 'POST /events', { body: '{' }],
  [401, 'GET /flows', { credential: null }],
  [404, 'GET /flows/nothing', {}],
  [404, 'HEAD /nothing', {}],
  [405, 'DELETE /flows', {}],
  [413, 'POST /events', { body: 'x'.repeat(1_048_577) }],
  [415, 'POST /events', { body: '{}', headers: { 'content-type': 'text/xml' } }],
  [422, 'POST /events', { body: {} }],
]

const expectOneLine = async (status: number, ask: () => Promise<Response>) => {
  world.answers.length = 0
  const response = await ask()
  expect(world.answers).toHaveLength(1)
  const requestId = response.headers.get('x-request-id')
  expect(world.answers[0]).toMatchObject({ requestId, status })
}

test.each(cases)(
  '%d of %s is logged once, under its request id',
  async (status, what, requested) => {
    await expectOneLine(status, () => tenant.ask(what.replace('{flow}', flowId), requested))
  },
)

test('a 429 is logged once, under its request id', () =>
  expectOneLine(429, () => spent.ask('GET /flows')))

test.each([
  [500, new Error('inside')],
  [503, new AppError('overloaded', 'Too much', { retryAfterSeconds: 1 })],
] as const)('a %d is logged once, under its request id', async (status, error) => {
  const { ledger } = world.stores
  world.stores.ledger = new Proxy(ledger, {
    get: (_, verb) => (verb === 'requireRoom' ? () => {} : () => Promise.reject(error)),
  })
  try {
    await expectOneLine(status, () => tenant.ask('POST /events', { body: events }))
  } finally {
    world.stores.ledger = ledger
  }
})
