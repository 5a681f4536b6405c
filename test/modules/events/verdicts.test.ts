import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checklist, tour } from '../../support/flows.ts'
import { storedEvents } from '../../support/ledger.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** Batches of events. The contract has why a single event is rejected. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let foreign: PublishedFlow

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ events: 100_000 })
  const both = { ...checklist(), steps: tour().steps }
  foreign = (await Tenant.of(world)).publish(both)
})

const good = (more: Record<string, unknown> = {}) => ({
  kind: 'custom',
  name: 'x',
  userId: 'u',
  ...more,
})

const stored = () => storedEvents(world.database, tenant.row).length

describe('a batch', () => {
  test('of which every event is another organisation’s is 401, and leaves nothing', async () => {
    const before = stored()
    const foreignOnes = [
      good({ flowId: foreign.id }),
      { flowId: foreign.id },
      good({ stepId: foreign.steps[1]!.id, properties: nested(20) }),
      good({ itemId: foreign.checklist!.items[0]!.id }),
    ]
    expect(await tenant.send(foreignOnes)).toEqual({ status: 401, body: { error: 'Unauthorized' } })
    expect(stored()).toBe(before)
  })

  test.each([0, 51, 10_000])('of %d events is 422, and nothing of it is kept', async length => {
    const before = stored()
    const { status, body } = await tenant.send(Array(length).fill(good()))
    expect(status).toBe(422)
    expect(body.details).toEqual([
      {
        path: '/events',
        message: length === 0 ? 'Must have at least 1 element' : 'Must have at most 50 elements',
      },
    ])
    expect(stored()).toBe(before)
  })

  test.each([1, 50])('of %d events is accepted as a whole', async length => {
    const before = stored()
    const { status, body } = await tenant.send(Array(length).fill(good()))
    expect([status, body.accepted]).toEqual([202, length])
    expect(stored()).toBe(before + length)
  })
})

/** An object that holds an object, and so on: `levels` of them. */
function nested(levels: number): Record<string, unknown> {
  return levels === 1 ? {} : { a: nested(levels - 1) }
}
