import { afterAll, beforeEach, expect, test } from 'bun:test'
import { checklist, tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** Every event of an organisation, line by line after a cursor. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let credential: string
let flow: PublishedFlow

beforeEach(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ events: 1e6, manage: 1e6 })
  credential = await tenant.managementToken('analytics:read')
  flow = tenant.publish(tour())
})

type Line = Record<string, unknown> & { cursor: string; id: string }

async function lines(query: Record<string, string | number> = {}): Promise<Line[]> {
  const search = new URLSearchParams(query as Record<string, string>)
  const response = await tenant.ask(`GET /manage/events?${search}`, { credential })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  const text = await response.text()
  return text === ''
    ? []
    : text
        .slice(0, -1)
        .split('\n')
        .map(line => JSON.parse(line))
}

const custom = (id: string, more = {}) => ({
  id,
  kind: 'custom',
  name: 'x',
  userId: 'ann',
  ...more,
})

test('a line has all of an event, and its flow, step and item by id and key', async () => {
  const list = tenant.publish(checklist())
  const [invite] = list.checklist!.items
  const properties = { plan: 'pro\nteam', seats: 5 }
  await tenant.send([
    { id: 'one', kind: 'step_viewed', userId: 'ann', flowId: flow.id, stepId: flow.steps[1]!.id },
    { id: 'two', kind: 'custom', name: 'invited', userId: 'ann', sessionId: 's', properties },
  ])
  const [one, two, ticked, ...more] = await lines()
  expect(more).toEqual([])
  const at = new Date(world.clock.now()).toISOString()
  const nothing = {
    anonymousId: null,
    runId: null,
    url: null,
    reason: null,
    reportedAt: null,
    traits: null,
  }
  const noFlow = { flowId: null, flowKey: null, flowVersion: null, stepId: null, stepKey: null }
  const common = { cursor: expect.any(String), userId: 'ann', occurredAt: at, receivedAt: at }
  expect(one).toEqual({
    ...{ ...common, ...nothing, itemId: null, itemKey: null, sessionId: null, name: null },
    ...{ id: 'one', kind: 'step_viewed', source: 'events', properties: null },
    ...{ flowId: flow.id, flowKey: 'welcome', flowVersion: null },
    ...{ stepId: flow.steps[1]!.id, stepKey: 'search' },
  })
  expect(two).toEqual({
    ...{ ...common, ...nothing, ...noFlow, itemId: null, itemKey: null, sessionId: 's' },
    ...{ id: 'two', kind: 'custom', source: 'events', name: 'invited', properties },
  })
  expect(ticked).toMatchObject({ kind: 'item_completed', source: 'custom_event' })
  expect(ticked).toMatchObject({ flowKey: 'start', itemId: invite!.id, itemKey: 'invite' })
})

test('a cursor that this ledger has not given is refused, else lines after it would be missing', async () => {
  await tenant.send([custom('a')])
  const refused = await tenant.answer('GET /manage/events?after=zzzzzzzz', { credential })
  expect([refused.status, refused.body]).toMatchObject([422, { details: [{ path: '/after' }] }])
  for (const query of ['after=-1', 'after=A', 'after=', 'limit=0', 'limit=100001', 'limit=ten']) {
    const { status } = await tenant.answer(`GET /manage/events?${query}`, { credential })
    expect([query, status]).toEqual([query, 422])
  }
})

test('an answer that fails midway is an error to whoever reads it, not an end', async () => {
  const { eventLog } = world.management
  const original = eventLog.after.bind(eventLog)
  eventLog.after = async () =>
    (async function* () {
      yield []
      throw new Error('this failure is part of a test')
    })()
  const response = await tenant.ask('GET /manage/events', { credential })
  eventLog.after = original
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow('part of a test')
  expect(world.broken).toMatchObject([{ route: '/manage/events', status: 500 }])
})
