import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { EventIds } from '../../../src/storage/ledger/event-batches.ts'
import { eraseBeside } from '../../support/erasing.ts'
import { checklist, tour } from '../../support/flows.ts'
import { storedEvents } from '../../support/ledger.ts'
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

/** All that there is, in calls of so many lines. */
async function read(limit: number, from?: string): Promise<Line[]> {
  const all: Line[] = []
  for (let after = from; ; after = all.at(-1)!.cursor) {
    const page = await lines({ limit, ...(after !== undefined && { after }) })
    expect(page.length).toBeLessThanOrEqual(limit)
    all.push(...page)
    if (page.length < limit) return all
  }
}

const custom = (id: string, more = {}) => ({
  id,
  kind: 'custom',
  name: 'x',
  userId: 'ann',
  ...more,
})

const ids = (of: readonly { id: string }[]) => of.map(({ id }) => id)

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
  const nothing = { anonymousId: null, runId: null, url: null, reason: null, reportedAt: null }
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

describe('from call to call', () => {
  const action = fc.oneof(
    fc.record({ send: fc.integer({ min: 1, max: 50 }), by: fc.constantFrom('us', 'them') }),
    fc.record({ read: fc.integer({ min: 1, max: 90 }) }),
  )

  test('nothing is left out or told twice, and the order is that of arrival, whatever arrives meanwhile', async () => {
    const them = await Tenant.of(world)
    them.limit({ events: 1e6 })
    let sent = 0
    const batch = (size: number) => Array.from({ length: size }, () => custom(`e${sent++}`))
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async actions => {
        const told = ids(await read(100_000))
        let after = (await lines()).at(-1)?.cursor
        for (const next of actions) {
          if ('send' in next) {
            // Those that are sent together share rows of the ledger.
            const half = Math.ceil(next.send / 2)
            const by = next.by === 'us' ? tenant : them
            await Promise.all([by.send(batch(half)), by.send(batch(half))])
            continue
          }
          const query = { limit: next.read, ...(after !== undefined && { after }) }
          const page = await lines(query)
          expect(await lines(query)).toEqual(page)
          told.push(...ids(page))
          after = page.at(-1)?.cursor ?? after
        }
        told.push(...ids(await lines(after === undefined ? {} : { after })))
        expect(told).toEqual(ids(storedEvents(world.database, tenant.row)))
      }),
      { numRuns: 25 },
    )
  })

  test('an empty answer says that there is nothing new', async () => {
    expect(await lines()).toEqual([])
    await tenant.send([custom('last')])
    const [{ cursor }] = (await lines()) as [Line]
    expect(await lines({ after: cursor })).toEqual([])
    const them = await Tenant.of(world)
    for (let i = 0; i < 3; i++) {
      await them.send([custom(`of others ${i}`)])
      expect(await lines({ after: cursor })).toEqual([])
    }
    await tenant.send([custom('newer')])
    expect(ids(await lines({ after: cursor }))).toEqual(['newer'])
  })
})

test('of people who were erased there are pseudonyms, and cursors stay', async () => {
  await tenant.send([custom('a'), custom('b', { userId: 'bob' }), custom('c')])
  const before = await lines()
  eraseBeside(world, { orgRef: tenant.row, orgId: tenant.organisation.id, person: 'uann' })
  const after = await lines()
  expect(after.map(({ cursor }) => cursor)).toEqual(before.map(({ cursor }) => cursor))
  expect(after[1]).toEqual(before[1]!)
  expect(JSON.stringify(after)).not.toContain('"ann"')
  expect(after[0]!.anonymousId ?? after[0]!.userId).toBeString()
})

test('what the retention has deleted is skipped, and its cursors lead on: also where nothing is left at a start', async () => {
  const own = new World({ retentionDays: 5 })
  try {
    tenant = await Tenant.of(own)
    credential = await tenant.managementToken('analytics:read')
    for (const id of ['a', 'b', 'c']) await tenant.send([custom(id)])
    const [first, , last] = await lines()
    own.clock.advance(4 * 86_400_000)
    await tenant.send([custom('d')])
    own.clock.advance(2 * 86_400_000)
    await own.retainAll()
    expect(ids(await lines({ after: first!.cursor }))).toEqual(['d'])
    own.clock.advance(20 * 86_400_000)
    await own.retainAll()
    expect(await lines({ after: last!.cursor })).toEqual([])
    // As the next start counts on.
    const next = new EventIds(own.database).openBatch(tenant.row)
    expect(next * 64).toBeGreaterThan(Number.parseInt(last!.cursor, 36) + 64)
  } finally {
    await own.close()
  }
})

test('a cursor that this ledger has not given is refused, for what follows it would be missing', async () => {
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
