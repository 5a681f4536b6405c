import { afterAll, beforeEach, expect, test } from 'bun:test'
import { storedEvents } from '../../support/ledger.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** An id is stored once, however often it is sent. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
beforeEach(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ events: 100_000 })
})

const event = (id: string | undefined, name = 'x') => ({ id, kind: 'custom', name, userId: 'u' })

const stored = (of = tenant) =>
  storedEvents(world.database, of.row).map(({ id, name }) => ({ id, name }))

test('at the same moment: a hundred clients, each id once, the counts add up', async () => {
  const batch = Array.from({ length: 20 }, (_, i) => event(`id-${i}`))
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => tenant.send(batch.toSorted(() => (i % 2 ? 1 : -1)))),
  )
  const sum = (name: 'accepted' | 'duplicates') =>
    answers.reduce((total, { body }) => total + body[name], 0)
  expect(answers.every(({ status }) => status === 202)).toBe(true)
  expect([sum('accepted'), sum('duplicates')]).toEqual([20, 1_980])
  expect(stored()).toHaveLength(20)
})
