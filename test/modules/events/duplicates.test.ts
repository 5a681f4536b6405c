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

test('an event without an id is given one, so that the same body twice is two events', async () => {
  const { body } = await tenant.send([event(undefined), event(undefined)])
  expect(body).toMatchObject({ accepted: 2, duplicates: 0 })
  for (const { id } of stored()) expect(id).toMatch(/^[0-9a-f-]{36}$/)
})

test('with everything at once, each event has exactly one verdict, in the order of the batch', async () => {
  await tenant.send([event('known')])
  const { body } = await tenant.send([event('known'), {}, event('new'), event('new'), { id: 'z' }])
  expect(body).toMatchObject({ accepted: 1, duplicates: 2, rejected: 2 })
  expect(body.results.map((r: { index: number; status: string }) => [r.index, r.status])).toEqual([
    [0, 'duplicate'],
    [1, 'rejected'],
    [3, 'duplicate'],
    [4, 'rejected'],
  ])
})
