import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs } from '../../../src/core/time/durations.ts'
import { rebuild } from '../../../src/storage/sqlite/projections/rebuild.ts'
import { checklist, tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** The wall clock is set while the service runs, by a hand-driven clock; `faults.test.ts` sets the binary's. */

let world: World
let tenant: Tenant

beforeEach(async () => {
  world = new World()
  tenant = await Tenant.of(world)
})
afterEach(() => world.close())

/** Sets the wall clock; no time passes. */
const setClock = (byMs: number) => {
  world.clock.wallMs += byMs
}

const steps: [string, number][] = [
  ['forward', hourMs],
  ['back', -hourMs],
  ['back by a leap second', -1_000],
]

describe.each(steps)('a clock that is set %s', (_, byMs) => {
  test('gives events the time at their receipt, in the order of their arrival', async () => {
    const flow = tenant.publish(tour())
    const event = { kind: 'flow_started', userId: 'u', flowId: flow.id }
    const before = world.clock.now()
    await tenant.send([{ ...event, id: 'first' }])
    setClock(byMs)
    const after = world.clock.now()
    const future = after + 10 * minuteMs
    await tenant.send([{ ...event, id: 'second' }])
    await tenant.send([{ ...event, id: 'third', occurredAt: future }])
    await tenant.send([{ ...event, id: 'fourth', occurredAt: before - minuteMs }], {
      sentAt: before,
    })
    const skewed = Math.abs(byMs) > minuteMs ? byMs : 0
    const rows = (
      await (await tenant.ask(`GET /flows/${flow.id}/analytics/export.csv?rows=events`)).text()
    )
      .trim()
      .split('\r\n')
      .map(line => line.split(','))
    const [head = [], ...lines] = rows
    const cells = (name: string) => lines.map(line => line[head.indexOf(name)])
    expect(cells('id')).toEqual(['first', 'second', 'third', 'fourth'])
    expect(cells('received_at').map(text => Date.parse(text!))).toEqual([
      before,
      after,
      after,
      after,
    ])
    expect(cells('occurred_at').map(text => Date.parse(text!))).toEqual([
      before,
      after,
      after,
      Math.min(after, before - minuteMs + skewed),
    ])
  })

  test('moves the bound of the retention with it, and nothing that is stored', async () => {
    const flow = tenant.publish(tour())
    const event = { kind: 'flow_started', userId: 'u', flowId: flow.id }
    const oldest = () => world.clock.now() - 90 * dayMs
    await tenant.send([{ ...event, id: 'kept', occurredAt: oldest() }])
    setClock(byMs)
    const { body } = await tenant.send([
      { ...event, id: 'kept', occurredAt: oldest() },
      { ...event, id: 'oldest', occurredAt: oldest() },
      { ...event, id: 'older', occurredAt: oldest() - 1 },
    ])
    expect(body).toMatchObject({ accepted: 1, duplicates: 1, rejected: 1 })
    expect(body.results[1]).toMatchObject({ id: 'older', code: 'too_old' })
  })

  test('lets the last write of an item count', async () => {
    const flow = tenant.publish(checklist())
    const item = flow.checklist!.items[0]!
    const write = async (completed: boolean) => {
      const body = { userId: 'u', items: [{ id: item.id, completed }] }
      const answer = await tenant.answer(`POST /flows/${flow.id}/checklist-progress`, { body })
      return answer.body.items[0].completed
    }
    expect(await write(true)).toBe(true)
    setClock(byMs)
    expect(await write(false)).toBe(false)
    setClock(byMs)
    expect(await write(true)).toBe(true)
    await world.storage.projected()
    expect(rebuild(world.database).changed).toBe(0)
  })

  test("lets each person's last report of a step count, after a rebuild too", async () => {
    const flow = tenant.publish(tour())
    const report = async (outcome: string) => {
      let state = ''
      for (const userId of ['a', 'b', 'c', 'd', 'e']) {
        const path = `POST /steps/${flow.steps[1]!.id}/health`
        state = (await tenant.answer(path, { body: { userId, outcome } })).body.state
      }
      return state
    }
    expect(await report('not_found')).toBe('broken')
    setClock(byMs)
    expect(await report('found')).toBe('healthy')
    rebuild(world.database)
    expect(await health(flow)).toBe('healthy')
  })

  test('leaves the snippet seen when it was seen last, and no later', async () => {
    await tenant.ask('GET /heartbeat')
    await world.storage.housekeeping.writePresence()
    setClock(byMs)
    world.clock.advance(10_000)
    await tenant.ask('GET /heartbeat')
    const now = Math.floor(world.clock.now() / 1_000) * 1_000
    const heartbeat = async () => {
      const { seen } = await world.stores.presence.read(tenant.ref, world.clock.now())
      return seen.heartbeat?.lastAt
    }
    // A second is within what requests may differ by, so the time stays as it is.
    const expected = Math.abs(byMs) > minuteMs ? now : Math.max(now, world.clock.now() - 11_000)
    expect(await heartbeat()).toBe(expected)
    await world.storage.housekeeping.writePresence()
    expect(
      world.database
        .query('select heartbeat_last from presence where org_id = ?')
        .values(tenant.row),
    ).toEqual([[expected]])
  })
})

const health = async (flow: PublishedFlow) => {
  const { body } = await tenant.answer(`GET /flows/${flow.id}/analytics`)
  return body.steps[1].health.state
}
