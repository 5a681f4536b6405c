import { afterAll, expect, test } from 'bun:test'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** What is shown of events as they arrive: the verdict on each, as its sender is told. */

const world = new World()
afterAll(() => world.close())

const path = 'GET /manage/activity'

async function watched() {
  const tenant = await Tenant.of(world)
  const flow = tenant.publish(tour({ key: 'welcome', steps: [{ key: 'one', title: 'One' }] }))
  const credential = await tenant.managementToken('analytics:read', 'people:read')
  const { body } = await tenant.answer(path, { credential })
  return { tenant, flow, credential, cursor: body.cursor as string }
}

test('each event has its verdict, with what it names and why it was refused', async () => {
  const { tenant, flow, credential, cursor } = await watched()
  const stranger = await Tenant.of(world)
  const theirs = stranger.publish(tour({ key: 'secret', steps: [{ key: 'hidden', title: 'H' }] }))
  const viewed = { kind: 'step_viewed', userId: 'ann', flowId: flow.id, stepId: flow.steps[0]!.id }
  const url = `https://app.example/${'x'.repeat(400)}`
  const batch = (...events: object[]) => tenant.answer('POST /events', { body: { events } })
  await batch({ ...viewed, id: 'first', url })
  const { status } = await batch(
    { ...viewed, id: 'first' },
    { ...viewed, id: 'lost', stepId: 'step_nowhere' },
    { id: 'odd', kind: 7, anonymousId: 'browser' },
    { ...viewed, id: 'foreign', flowId: theirs.id, stepId: theirs.steps[0]!.id },
    null as never,
  )
  expect(status).toBe(202)
  expect((await batch({ ...viewed, flowId: theirs.id })).status).toBe(401)

  const { body } = await tenant.answer(`${path}?after=${cursor}`, { credential })
  const [first, again, lost, odd, foreign, nothing, alone, ...more] = body.events
  expect(body).toMatchObject({ isAnew: false, missed: 0 })
  expect(more).toEqual([])
  const names = { flowKey: 'welcome', stepKey: 'one', userId: 'ann', anonymousId: null }
  expect(first).toMatchObject({
    ...names,
    ...{ id: 'first', kind: 'step_viewed', verdict: 'accepted', code: null, message: null },
    receivedAt: new Date(world.clock.now()).toISOString(),
  })
  expect(first.url).toBe(`${url.slice(0, 299)}…`)
  expect(again).toMatchObject({ ...names, id: 'first', verdict: 'duplicate', code: null })
  const refused = { verdict: 'rejected', message: expect.any(String) }
  expect(lost).toMatchObject({ ...refused, code: 'unknown_step', stepId: 'step_nowhere' })
  expect(lost).toMatchObject({ flowKey: 'welcome', stepKey: null })
  expect(odd).toMatchObject({ ...refused, code: 'invalid', kind: null, anonymousId: 'browser' })
  for (const one of [foreign, alone]) {
    expect(one).toMatchObject({
      ...refused,
      code: 'unauthorized',
      flowId: theirs.id,
      flowKey: null,
    })
  }
  expect(foreign.stepKey).toBeNull()
  expect(nothing).toMatchObject({ ...refused, code: 'invalid', id: null, userId: null })
  expect(JSON.stringify(body)).not.toMatch(/secret|hidden/)
})

test('without the scope people:read nobody is named', async () => {
  const { tenant } = await watched()
  const credential = await tenant.managementToken('analytics:read')
  await tenant.send([{ kind: 'custom', name: 'x', userId: 'ann', anonymousId: 'browser' }])
  const { body } = await tenant.answer(path, { credential })
  expect(body.events).toMatchObject([{ name: 'x', userId: null, anonymousId: null }])
  const flowsOnly = await tenant.managementToken('flows:read', 'people:read')
  expect((await tenant.answer(path, { credential: flowsOnly })).status).toBe(403)
})

test('nothing is remembered once nobody has asked for half a minute', async () => {
  const { tenant, credential, cursor } = await watched()
  const { watch } = world.stores
  world.clock.advance(29_000)
  world.storage.watch()
  expect(watch.isWatched(tenant.ref)).toBe(true)
  world.clock.advance(2_000)
  world.storage.watch()
  expect(watch.isWatched(tenant.ref)).toBe(false)
  await tenant.send([{ kind: 'custom', name: 'x', userId: 'ann' }])
  const { body } = await tenant.answer(`${path}?after=${cursor}`, { credential })
  expect(body).toMatchObject({ isAnew: true, missed: 0, events: [] })
})

test('beyond 16 organisations, a newcomer waits until one that nobody asks for makes room', async () => {
  world.clock.advance(60_000)
  world.storage.watch()
  const all = []
  for (let i = 0; i < 16; i++) all.push(await watched())
  const late = await Tenant.of(world)
  const credential = await late.managementToken('analytics:read')
  expect(await late.answer(path, { credential })).toMatchObject({
    status: 503,
    body: { code: 'overloaded' },
  })
  world.clock.advance(6_000)
  for (const { tenant, credential } of all.slice(1)) await tenant.answer(path, { credential })
  expect((await late.answer(path, { credential })).status).toBe(200)
  expect(world.stores.watch.isWatched(all[0]!.tenant.ref)).toBe(false)
  expect(world.stores.watch.isWatched(all[1]!.tenant.ref)).toBe(true)
})
