import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rotateKey } from '../support/organisations.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ flows: 10_000, events: 10_000, heartbeat: 10_000, health: 10_000, status: 10_000 })
})

describe('a key that was rotated', () => {
  const hour = 3_600_000
  const rotated = async (graceMs: number) => {
    const tenant = await Tenant.of(world)
    const now = world.clock.now()
    const { snippetKey } = rotateKey(world.database, tenant.row, { now, graceMs })
    world.takeUp()
    const use = async (credential: string) =>
      (await tenant.ask('GET /flows', { credential })).status
    return { old: () => use(tenant.key), current: () => use(snippetKey) }
  }

  test('works to the last millisecond of its grace time, and not after', async () => {
    const { old, current } = await rotated(hour)
    expect([await old(), await current()]).toEqual([200, 200])
    world.clock.advance(hour - 1)
    expect([await old(), await current()]).toEqual([200, 200])
    world.clock.advance(1)
    expect([await old(), await current()]).toEqual([401, 200])
  })

  test('stops at once without a grace time', async () => {
    const { old, current } = await rotated(0)
    expect([await old(), await current()]).toEqual([401, 200])
  })
})

test('a key in another case is 401', async () => {
  const credential = swapCase(tenant.key)
  expect((await tenant.ask('GET /flows', { credential })).status).toBe(401)
})

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, c => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase()))
}
