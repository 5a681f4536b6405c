import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checklist, tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** What may be asked of analytics, and the shape of the answer; the numbers have their own laws. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let flow: PublishedFlow
beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ analytics: 100_000, export: 100_000, events: 100_000 })
  flow = tenant.publish({ ...checklist({ key: 'welcome' }), steps: tour().steps })
})

const ask = (query: string, of = flow.id) => tenant.answer(`GET /flows/${of}/analytics${query}`)

test('a withdrawn flow keeps its numbers', async () => {
  const old = tenant.publish(tour({ key: 'old' }))
  await tenant.send([{ kind: 'flow_started', userId: 'u', flowId: old.id }])
  tenant.withdraw('old', 'archived')
  expect((await ask('', old.id)).body.totals.starts).toBe(1)
})

test('a run shows as soon as its events are acknowledged, and steps tell where people stop', async () => {
  const run = (userId: string) => ({ userId, flowId: flow.id, runId: userId })
  const [hello, search] = flow.steps.map(({ id }) => id)
  await tenant.send([
    { kind: 'flow_started', ...run('a') },
    { kind: 'step_viewed', stepId: hello, ...run('a') },
    { kind: 'step_completed', stepId: hello, ...run('a') },
    { kind: 'step_viewed', stepId: search, ...run('a') },
    { kind: 'flow_dismissed', ...run('a') },
    { kind: 'step_viewed', stepId: hello, ...run('b') },
  ])
  const { body } = await ask('')
  expect(body.totals).toMatchObject({ starts: 2, uniqueUsers: 2, dismissals: 1, inProgress: 1 })
  expect(body.steps).toMatchObject([
    { reached: 2, completed: 1, droppedHere: 1, dropOffRate: 0.5 },
    { reached: 1, droppedHere: 1, dropOffRate: 1 },
  ])
})

test('people known only by their completion count as started but untimed', async () => {
  const done = tenant.publish(tour({ key: 'by-back-end', name: 'Completed by a back end' }))
  for (const userId of ['ann', 'bea', 'cid']) {
    await tenant.answer(`POST /flows/${done.id}/complete`, { body: { userId } })
  }
  const { body } = await ask('', done.id)
  expect(body.totals).toMatchObject({ starts: 3, completions: 3, completionRate: 1 })
  const untimed = { count: 0, medianSeconds: null, p90Seconds: null, untimed: 3 }
  expect(body.timeToComplete).toEqual(untimed)
})

describe('an unknown parameter', () => {
  test('is otherwise named in the answer: each once, cut short, at most twenty', async () => {
    const { body } = await ask('?owner=plan:pro&_=1&rows=runs&_=2&key=x')
    expect(body.ignored).toEqual(['owner', '_', 'rows', 'key'])
    expect(JSON.stringify(body)).not.toContain('plan:pro')
    const long = Array.from({ length: 50 }, (_, i) => `${'q'.repeat(100)}${i}`).join('&')
    const { ignored } = (await ask(`?${long}`)).body
    expect(ignored).toHaveLength(20)
    for (const name of ignored) expect(name.length).toBeLessThanOrEqual(60)
  })
})
