import { afterAll, beforeAll, expect, test } from 'bun:test'
import { scopes } from '../../src/core/organisation/access.ts'
import { Description, type Document } from '../support/described.ts'
import { tour } from '../support/flows.ts'
import { type Asked, type PublishedFlow, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** When flows begin and for whom, as the API tells it; each answer is checked against the description. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let description: Description
let token: string
let measured: PublishedFlow

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.publish(tour({ key: 'waits', when: { event: 'exported', count: 2, within: '7d' } }))
  measured = tenant.publish(
    tour({ key: 'measured', rollout: { holdOut: 20 }, goal: { event: 'bought' } }),
  )
  const { body } = await tenant.answer('GET /openapi.json', { credential: null })
  description = new Description(body as unknown as Document)
  token = await tenant.managementToken(...scopes)
})

async function ask(what: string, requested: Asked = {}) {
  const response = await tenant.ask(what, requested)
  const [method = '', target = ''] = what.split(' ')
  const copy = response.clone()
  await description.check(
    method,
    target.split('?')[0]!.replace(/flow_\w{18,}/, '{flow_id}'),
    response,
  )
  return { status: copy.status, body: JSON.parse(await copy.text()) }
}

const manage = (what: string, body?: object) =>
  ask(what, { credential: token, ...(body && { body }) })

test('the list for a person has the events that flows wait for; every list has the throttle', async () => {
  const none = await ask('GET /flows?userId=ann')
  expect(none.body.events).toEqual({})
  expect(none.body).not.toHaveProperty('throttle')
  const at = new Date(world.clock.now() - 90_000).toISOString()
  await tenant.send([
    { id: 'e-1', kind: 'custom', name: 'exported', userId: 'ann', occurredAt: at },
    { id: 'e-2', kind: 'custom', name: 'other', userId: 'ann' },
  ])
  const { events } = (await ask('GET /flows?userId=ann')).body
  expect(Object.keys(events)).toEqual(['exported'])
  expect(events.exported).toEqual([
    { at: `${at.slice(0, 16)}:00.000Z`, mark: expect.stringMatching(/^[0-9a-z]+$/) },
  ])
  expect((await ask('GET /flows')).body).not.toHaveProperty('events')

  expect((await manage('PATCH /manage/settings', { throttle: 2 })).body.throttle).toBe(2)
  expect((await ask('GET /flows')).body.throttle).toBe(2)
  for (const throttle of [0, 101, 1.5, '2']) {
    expect((await manage('PATCH /manage/settings', { throttle })).body).toMatchObject({
      code: 'validation_failed',
      details: [{ path: '/throttle' }],
    })
  }
  expect((await manage('PATCH /manage/settings', { throttle: null })).body.throttle).toBeNull()
  expect((await ask('GET /flows')).body).not.toHaveProperty('throttle')
})

test('explain says why, rule by rule, and leaves to the browser what only it knows', async () => {
  tenant.publish(
    tour({
      key: 'all',
      schedule: { from: '2020-01-01', to: '2030-01-01' },
      when: { after: 'waits', event: 'exported', delayMs: 100, element: '#a' },
      rollout: { percent: 100 },
    }),
  )
  const explained = async (more: object = {}) =>
    (await manage('POST /manage/explain', { flow: 'all', url: 'https://a.example/', ...more })).body
  const rules = async (more?: object) =>
    Object.fromEntries(
      (await explained(more)).rules.map(
        ({ rule, holds }: { rule: string; holds: boolean | null }) => [rule, holds],
      ),
    )
  expect(await rules()).toMatchObject({
    ...{ schedule: true, rollout: null, after: false, event: false, delay: null, element: null },
  })
  await tenant.send([
    { kind: 'custom', name: 'exported', userId: 'bob' },
    { kind: 'custom', name: 'exported', userId: 'bob' },
  ])
  expect(await rules({ userId: 'bob' })).toMatchObject({ rollout: true, after: false, event: true })
  await tenant.ask(`POST /flows/${tenant.flowId('waits')}/complete`, { body: { userId: 'bob' } })
  expect(await rules({ userId: 'bob' })).toMatchObject({ after: true })
})

test('people held out are counted beside those who saw the flow, in JSON and CSV, but not by segment', async () => {
  const { id } = measured
  const none = await ask(`GET /flows/${id}/analytics`)
  expect(none.body.experiment).toMatchObject({ difference: null, interval: null })
  const of = (userId: string, kind: string) => ({ kind, userId, flowId: id, flowVersion: 1 })
  const sent = await tenant.send([
    of('held', 'flow_held_out'),
    of('held', 'flow_held_out'),
    { ...of('sees', 'flow_started'), runId: 'sees' },
    { ...of('seen', 'flow_started'), runId: 'seen' },
    { kind: 'custom', name: 'bought', userId: 'sees' },
  ])
  expect([sent.status, sent.body.accepted]).toEqual([202, 5])
  const { body } = await ask(`GET /flows/${id}/analytics`)
  expect(body.totals.starts).toBe(2)
  expect(body.experiment).toEqual({
    goal: 'bought',
    shown: { people: 2, achieved: 1, rate: 0.5 },
    heldOut: { people: 1, achieved: 0, rate: 0 },
    difference: 0.5,
    interval: { low: expect.any(Number), high: expect.any(Number) },
  })
  expect(body.definitions['experiment.achieved']).toBeString()
  const csv = await (await tenant.ask(`GET /flows/${id}/analytics/export.csv`)).text()
  const [head = '', ...rows] = csv.trim().split('\r\n')
  expect(head).toContain(
    ',complete,group,goal,people,achieved,rate,difference,difference_low,difference_high',
  )
  const experiment = rows.filter(row => row.startsWith('experiment,'))
  expect(experiment[0]).toContain('shown,bought,2,1,0.5,0.5,')
  expect(experiment[1]).toContain('held_out,bought,1,0,0,,,')

  tenant.listTraits('plan')
  const segment = await ask(`GET /flows/${id}/analytics?segment=plan:pro`)
  expect(segment.body.experiment).toBeNull()
})
