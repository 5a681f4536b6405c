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

const at = (ms = 0) => new Date(world.clock.now() + ms).toISOString()

const complete = (body: object) => tenant.answer(`POST /flows/${flow.id}/complete`, { body })

const completions = async () => {
  const { body } = await tenant.answer(`GET /flows/${flow.id}/analytics`)
  return [body.totals.starts, body.totals.completions, body.totals.uniqueCompleters]
}

test('a completion is answered with its time, and that it is the first', async () => {
  expect(await complete({ userId: 'u' })).toEqual({
    status: 200,
    body: {
      flowId: flow.id,
      userId: 'u',
      status: 'completed',
      completedAt: at(),
      alreadyCompleted: false,
    },
  })
  expect(await completions()).toEqual([1, 1, 1])
})

test('a repeated completion changes nothing, and the answer says so', async () => {
  const first = at()
  await complete({ userId: 'u' })
  world.clock.advance(1_000)
  const { body } = await complete({ userId: 'u' })
  expect(body).toMatchObject({ completedAt: first, alreadyCompleted: true })
  expect(await completions()).toEqual([1, 1, 1])
})

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

test('the earliest reported time stands, whatever the order of the reports', async () => {
  await complete({ userId: 'u', completedAt: at(-1_000) })
  expect((await complete({ userId: 'u', completedAt: at(-5_000) })).body).toMatchObject({
    completedAt: at(-5_000),
    alreadyCompleted: true,
  })
  expect((await complete({ userId: 'u' })).body.completedAt).toBe(at(-5_000))
})

test('a time in the future becomes the receipt', async () => {
  expect((await complete({ userId: 'u', completedAt: at(60_000) })).body.completedAt).toBe(at())
})

test('epoch milliseconds are a time too', async () => {
  const completedAt = world.clock.now() - 5
  expect((await complete({ userId: 'u', completedAt })).body.completedAt).toBe(at(-5))
})

test('users, anonymous people and people of other organisations are kept apart', async () => {
  await complete({ userId: 'u' })
  expect((await complete({ userId: 'v' })).body.alreadyCompleted).toBe(false)
  expect((await complete({ anonymousId: 'u' })).body).toEqual({
    flowId: flow.id,
    anonymousId: 'u',
    status: 'completed',
    completedAt: at(),
    alreadyCompleted: false,
  })
  expect(await completions()).toEqual([3, 3, 3])
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

test('a withdrawn flow can still be completed; one that never was published cannot', async () => {
  tenant.withdraw('welcome', 'draft')
  expect((await complete({ userId: 'u' })).status).toBe(200)
  tenant.push(tour({ key: 'draft' }))
  const draft = `POST /flows/${tenant.flowId('draft')}/complete`
  expect((await tenant.answer(draft, { body: { userId: 'u' } })).status).toBe(404)
})

test.each<[string, object, string]>([
  ['nobody', {}, '/userId'],
  ['an empty name', { userId: '' }, '/userId'],
  ['a long name', { userId: 'u'.repeat(129) }, '/userId'],
  ['NUL in a name', { userId: 'a\0' }, '/userId'],
  ['half a surrogate pair', { anonymousId: '\udc00' }, '/anonymousId'],
  ['a long run id', { userId: 'u', runId: 'r'.repeat(65) }, '/runId'],
  ['NUL in a run id', { userId: 'u', runId: 'a\0' }, '/runId'],
  ['no time', { userId: 'u', completedAt: 'now' }, '/completedAt'],
  ['a time of before the retention', { userId: 'u', completedAt: 0 }, '/completedAt'],
])('%s is 422, by its place', async (_, body, path) => {
  const answer = await complete(body)
  expect(answer.status).toBe(422)
  expect(answer.body.details).toEqual([{ path, message: expect.any(String) }])
  expect(await completions()).toEqual([0, 0, 0])
})
