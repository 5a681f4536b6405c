import { afterAll, beforeEach, expect, test } from 'bun:test'
import { tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let flow: PublishedFlow
beforeEach(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ flows: 100_000 })
  flow = tenant.publish(tour())
})

const complete = (body: object) => tenant.answer(`POST /flows/${flow.id}/complete`, { body })

const completions = async () => {
  const { body } = await tenant.answer(`GET /flows/${flow.id}/analytics`)
  return [body.totals.starts, body.totals.completions, body.totals.uniqueCompleters]
}

test('a run whose start arrives late gets the completion that was reported for it', async () => {
  // As a page does: it sends the completion at once, and the batch with the start seconds later.
  const start = async (sessionId: string, occurredAt: number) => {
    const events = [{ kind: 'flow_started', userId: 'u', flowId: flow.id, sessionId, occurredAt }]
    const { status } = await tenant.ask('POST /events', { body: { events } })
    expect(status).toBe(202)
  }
  const [first, second] = [world.clock.now(), world.clock.now() + 60_000]
  await start('s1', first)
  world.clock.advance(5_000)
  await complete({ userId: 'u' })
  world.clock.advance(60_000)
  await complete({ userId: 'u' })
  await start('s2', second)
  expect(await completions()).toEqual([2, 2, 1])
})

test('fifty times at the same moment is one completion, and one caller is the first', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => complete({ userId: 'u' })))
  const first = answers.filter(({ body }) => body.alreadyCompleted === false)
  expect(first).toHaveLength(1)
  expect(await completions()).toEqual([1, 1, 1])
})

test('a completion is an event of the ledger: it completes the run that it names', async () => {
  const run = { userId: 'u', flowId: flow.id, runId: 'r' }
  await tenant.send([{ kind: 'flow_started', ...run }])
  world.clock.advance(5_000)
  await complete({ userId: 'u', runId: 'r' })
  expect(await completions()).toEqual([1, 1, 1])
  const { body } = await tenant.answer(`GET /flows/${flow.id}/analytics`)
  expect(body.timeToComplete).toMatchObject({ count: 1, medianSeconds: 5, p90Seconds: 5 })
})

test('a flow_completed event counts as a completion, and the other way round', async () => {
  await tenant.send([{ kind: 'flow_completed', userId: 'u', flowId: flow.id }])
  expect((await complete({ userId: 'u' })).body.alreadyCompleted).toBe(true)
})
