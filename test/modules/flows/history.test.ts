import { afterAll, beforeEach, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { FlowList } from '../../../src/modules/flows/schema.ts'
import { checklist, tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let welcome: PublishedFlow
let setup: PublishedFlow
beforeEach(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ flows: 100_000, events: 100_000 })
  welcome = tenant.publish(tour({ key: 'welcome' }))
  setup = tenant.publish(checklist({ key: 'setup', frequency: 'always' }))
})

const at = (ms = 0) => new Date(world.clock.now() + ms).toISOString()

const send = async (...events: object[]) => {
  const { status, body } = await tenant.answer('POST /events', {
    body: { events: events.map(event => ({ userId: 'ann', ...event })) },
  })
  expect([status, body.rejected]).toEqual([202, 0])
}

const listFor = async (query: string) => {
  const { status, body } = await tenant.answer(`GET /flows?${query}`)
  expect(status).toBe(200)
  expect([...Value.Errors(FlowList, body)]).toEqual([])
  return body
}
const historyFor = async (query = 'userId=ann') => (await listFor(query)).history

const started = (flow: PublishedFlow, runId: string) => ({
  kind: 'flow_started',
  flowId: flow.id,
  runId,
})

test('the list is the one that everybody gets, with the history added', async () => {
  const { body: plain } = await tenant.answer('GET /flows')
  expect(await listFor('userId=ann')).toEqual({ ...plain, history: {} })
  await send(started(welcome, 'one'))
  expect(await listFor('userId=ann')).toEqual({
    ...plain,
    history: {
      [welcome.id]: {
        runs: 1,
        startedAt: at(),
        completedAt: null,
        dismissedAt: null,
        openRunId: 'one',
      },
    },
  })
  expect((await tenant.answer('GET /flows')).body).toEqual(plain)
})

test('the history says what was done last, and that a run is open', async () => {
  await send(started(welcome, 'one'), { ...started(welcome, 'one'), kind: 'flow_dismissed' })
  expect(await historyFor()).toMatchObject({
    [welcome.id]: { runs: 1, completedAt: null, dismissedAt: at(), openRunId: null },
  })
  await tenant.answer(`POST /flows/${welcome.id}/complete`, {
    body: { userId: 'ann', runId: 'one' },
  })
  expect(await historyFor()).toMatchObject({
    [welcome.id]: { runs: 1, completedAt: at(), dismissedAt: null, openRunId: null },
  })
  world.clock.advance(5_000)
  await send(started(welcome, 'two'))
  expect(await historyFor()).toMatchObject({
    [welcome.id]: { runs: 2, startedAt: at(), completedAt: at(-5_000), openRunId: 'two' },
  })
})

test('the last tick of a checklist completes its open run', async () => {
  await send({ ...started(setup, 'list'), kind: 'checklist_opened' })
  expect(await historyFor()).toMatchObject({ [setup.id]: { openRunId: 'list' } })
  const items = setup.checklist!.items.map(({ id }) => ({ id, completed: true }))
  await tenant.answer(`POST /flows/${setup.id}/checklist-progress`, {
    body: { userId: 'ann', items },
  })
  expect(await historyFor()).toMatchObject({
    [setup.id]: { runs: 1, completedAt: at(), openRunId: null },
  })
})

test('the run of a visitor who turns out to be a user belongs to the user', async () => {
  await send({ ...started(welcome, 'one'), userId: null, anonymousId: 'visitor' })
  expect(await historyFor('anonymousId=visitor')).toMatchObject({ [welcome.id]: { runs: 1 } })
  await send({
    kind: 'step_viewed',
    flowId: welcome.id,
    stepId: welcome.steps[0]!.id,
    runId: 'one',
  })
  expect(await historyFor('anonymousId=visitor')).toEqual({})
  expect(await historyFor()).toMatchObject({ [welcome.id]: { runs: 1, openRunId: 'one' } })
  expect(await historyFor('userId=ann&anonymousId=visitor')).toEqual(await historyFor())
})

test('flows that may be shown at any time, or are not published, are not in the history', async () => {
  const news = tenant.publish(tour({ key: 'news', kind: 'announcement', frequency: 'always' }))
  const old = tenant.publish(tour({ key: 'old' }))
  const items = tenant.publish(checklist({ key: 'items', frequency: 'always' }))
  const flows = [news, old, setup, items]
  await send(...flows.map(flow => started(flow, flow.id)))
  expect(Object.keys(await historyFor()).toSorted()).toEqual(
    [items.id, old.id, setup.id].toSorted(),
  )
  tenant.withdraw('old', 'archived')
  expect(Object.keys(await historyFor()).toSorted()).toEqual([items.id, setup.id].toSorted())
})

test('of more than 200 flows those of the highest priority count', async () => {
  const keys = Array.from({ length: 201 }, (_, n) => `flow-${n}`)
  for (const [n, key] of keys.entries()) tenant.push(tour({ key, priority: 500 - n }))
  tenant.publishAgain(...keys)
  const { body } = await tenant.answer('GET /flows')
  const ids = body.flows.map(({ id }: PublishedFlow) => id) as string[]
  for (let from = 0; from < ids.length; from += 50) {
    const some = ids.slice(from, from + 50)
    await send(...some.map(flowId => ({ kind: 'flow_started', flowId, runId: 'one' })))
  }
  expect(Object.keys(await historyFor())).toEqual(ids.slice(0, 200))
})
