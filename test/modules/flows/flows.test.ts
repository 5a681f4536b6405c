import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { Flow } from '../../../src/core/flow/flow.ts'
import { checklist, tour } from '../../support/flows.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
beforeEach(async () => {
  tenant = await Tenant.of(world)
})

const list = async () => {
  const { status, body } = await tenant.answer('GET /flows')
  expect(status).toBe(200)
  return body as { flows: { key: string; id: string; version: number }[]; version: string }
}
const keys = async () => (await list()).flows.map(({ key }) => key)

test('an organisation without flows has an empty list, which still has a version', async () => {
  expect(await tenant.answer('GET /flows')).toEqual({
    status: 200,
    body: { flows: [], version: expect.any(String) },
  })
})

test('flows come highest priority first, then by key', async () => {
  for (const [key, priority] of [
    ['b', 0],
    ['z', 9],
    ['a', 0],
    ['m', -1],
    ['B', 0],
  ] as const) {
    tenant.publish(tour({ key, priority }))
  }
  expect(await keys()).toEqual(['z', 'B', 'a', 'b', 'm'])
})

test('a flow has every field of the contract, in the list and by its id alike', async () => {
  const { id } = tenant.publish({
    ...tour({ priority: 5, frequency: 'until_completed', theme: { accent: '#0b7285', radius: 8 } }),
    ...checklist({ key: 'welcome', name: 'Welcome', title: 'Welcome to Harbor' }),
    steps: tour().steps,
    targeting: {
      urls: [{ match: 'prefix', pattern: '/app' }],
      audience: { match: 'any', rules: [{ attribute: 'role', op: 'in', value: ['admin'] }] },
    },
    schedule: { from: '2026-01-01' },
    when: { delayMs: 100 },
    rollout: { percent: 50, holdOut: 10 },
    goal: { event: 'bought' },
    locale: 'en',
    texts: { de: { title: 'Willkommen bei Harbor' } },
  })
  const { body } = await tenant.answer(`GET /flows/${id}`)
  expect((await list()).flows).toEqual([body])
  expect([...Value.Errors(Flow, body)]).toEqual([])
  expect(Object.keys(body).sort()).toEqual(Object.keys(Flow.properties).sort())
  const untitled = tenant.publish(tour({ key: 'untitled' }))
  expect((await tenant.answer(`GET /flows/${untitled.id}`)).body).not.toHaveProperty('title')
  expect(body).toMatchObject({
    id,
    key: 'welcome',
    kind: 'tour',
    version: 1,
    publishedAt: '2026-11-20T09:30:00.000Z',
    priority: 5,
    frequency: 'until_completed',
    theme: { accent: '#0b7285', background: null, text: null, radius: 8 },
    steps: [
      { key: 'hello', position: 0, kind: 'modal', target: null },
      {
        key: 'search',
        position: 1,
        kind: 'tooltip',
        target: { selector: '#search', waitMs: 3000, required: true, onMissing: 'skip' },
        placement: { side: 'bottom', align: 'center' },
        advance: { on: 'button', event: null },
        buttons: [],
      },
    ],
    checklist: { order: 'any', items: [{ key: 'invite', position: 0 }, {}, {}] },
  })
})

describe('what the next request sees', () => {
  test('a draft is nowhere: not in the list, and 404 by its id', async () => {
    tenant.push(tour())
    expect(await keys()).toEqual([])
    expect((await tenant.ask(`GET /flows/${tenant.flowId('welcome')}`)).status).toBe(404)
  })

  test('a publication is there, an edit only once it is published too', async () => {
    const { id } = tenant.publish(tour())
    tenant.push(tour({ name: 'Edited' }))
    expect((await tenant.answer(`GET /flows/${id}`)).body).toMatchObject({ name: 'Welcome' })
    tenant.publishAgain('welcome')
    expect((await tenant.answer(`GET /flows/${id}`)).body).toMatchObject({
      name: 'Edited',
      version: 2,
    })
  })

  test.each(['draft', 'archived'] as const)('one withdrawn to %s is gone', async status => {
    const { id } = tenant.publish(tour())
    tenant.withdraw('welcome', status)
    expect(await keys()).toEqual([])
    expect(await tenant.answer(`GET /flows/${id}`)).toEqual({
      status: 404,
      body: { error: 'There is no such flow', code: 'flow_not_found' },
    })
    tenant.publishAgain('welcome')
    expect(await keys()).toEqual(['welcome'])
  })
})

test('ids of flows, steps and items survive every publication, renaming and reordering', async () => {
  const first = tenant.publish({ ...checklist(), steps: tour().steps })
  const second = tenant.publish({
    ...checklist({ name: 'Renamed' }),
    steps: [{ key: 'new', title: 'New' }, ...tour().steps.toReversed()],
  })
  expect(second.id).toBe(first.id)
  const ids = (flow: typeof first) => Object.fromEntries(flow.steps.map(({ key, id }) => [key, id]))
  expect(ids(second)).toMatchObject(ids(first))
  expect(second.checklist?.items.map(({ id }) => id)).toEqual(
    first.checklist!.items.map(({ id }) => id),
  )
  const all = [first.id, ...second.steps.map(({ id }) => id)]
  for (const id of all) expect(id).toMatch(/^(flow|step)_[A-Za-z0-9]{18}$/)
})

test('the version of the list changes with every published flow, and with nothing else', async () => {
  const versions = [(await list()).version]
  const isNew = async () => {
    const { version } = await list()
    const known = versions.includes(version)
    versions.push(version)
    return !known
  }
  tenant.publish(tour())
  expect(await isNew()).toBe(true)
  tenant.push(tour({ name: 'Edited' }))
  expect(await isNew()).toBe(false)
  tenant.publishAgain('welcome')
  expect(await isNew()).toBe(true)
  tenant.publish(checklist())
  expect(await isNew()).toBe(true)
  tenant.withdraw('start', 'archived')
  expect(await isNew()).toBe(false)
  const { body } = await tenant.answer('GET /heartbeat')
  expect(body.flowsVersion).toBe((await list()).version)
})

test('one organisation’s flows are not another’s', async () => {
  const other = await Tenant.of(world)
  other.publish(tour())
  expect(await keys()).toEqual([])
})
