import { afterAll, expect, test } from 'bun:test'
import type { Analytics, Summary } from '../../src/modules/analytics/schema.ts'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** The numbers of all flows at once, as the dashboard lists them. */

const world = new World()
afterAll(() => world.close())

const minute = 60_000

async function withRuns(): Promise<Tenant> {
  const tenant = await Tenant.of(world)
  for (const key of ['second', 'first']) {
    const flow = tenant.publish(tour({ key, steps: [{ key: 'one', title: 'One' }] }))
    const at = (run: number, minutes: number, kind: string) => ({
      ...{ kind, flowId: flow.id, runId: `${key}-${run}`, userId: `person-${run % 3}` },
      occurredAt: world.clock.now() - 2_000 * minute * (run % 4) - 30 * minute + minutes * minute,
    })
    await tenant.send([0, 1, 2, 3, 4, 5].map(run => at(run, 0, 'flow_started')))
    await tenant.send([0, 1, 2].map(run => at(run, run + 1, 'flow_completed')))
  }
  return tenant
}

test('the numbers are those of each flow alone, by key, for this organisation only', async () => {
  const [tenant] = [await withRuns(), await withRuns()]
  const credential = await tenant.managementToken('analytics:read')
  const query = 'timezone=Europe/Berlin'
  const { status, body } = await tenant.answer(`GET /manage/summary?${query}`, { credential })
  expect(status).toBe(200)
  const { flows, range, definitions } = body as unknown as Summary
  expect(flows.map(({ flowKey }) => flowKey)).toEqual(['first', 'second'])
  for (const { flowId, daily, stalled: _, worstSteps: __, ...numbers } of flows) {
    const alone = await tenant.answer(`GET /flows/${flowId}/analytics?${query}`)
    const analytics = alone.body as unknown as Analytics
    expect(analytics.totals.starts).toBe(6)
    expect(analytics).toMatchObject({ ...numbers, range, definitions, flowId })
    expect(daily).toEqual(analytics.daily.map(({ uniqueUsers: _, ...day }) => day))
  }
})

test('nothing is sent again as long as nothing has changed', async () => {
  const tenant = await withRuns()
  const credential = await tenant.managementToken('analytics:read')
  const ask = (etag = '') =>
    tenant.ask('GET /manage/summary', { credential, headers: { 'if-none-match': etag } })
  const etag = (await ask()).headers.get('etag')!
  expect((await ask(etag)).status).toBe(304)
  const { id } = tenant.publish(tour({ key: 'third', steps: [{ key: 'one', title: 'One' }] }))
  expect((await ask(etag)).status).toBe(200)
  const known = (await ask()).headers.get('etag')!
  await tenant.send([{ kind: 'flow_started', flowId: id, userId: 'ann', runId: 'ann' }])
  expect((await ask(known)).status).toBe(200)
})

test.each([
  'GET /manage/flows',
  'GET /manage/flows?definitions=1',
  'GET /manage/health',
  'GET /manage/install',
])('%s is answered by a 304 until it changes', async request => {
  const tenant = await withRuns()
  const credential = await tenant.managementToken('flows:read')
  const ask = (etag = '') => tenant.ask(request, { credential, headers: { 'if-none-match': etag } })
  const etag = (await ask()).headers.get('etag')!
  world.clock.advance(minute)
  expect((await ask(etag)).status).toBe(304)
  const step = { key: 'one', title: 'One', target: { selector: '#one' } }
  const { id } = tenant.publish(tour({ key: 'third', steps: [step] }))
  await tenant.send([{ kind: 'flow_started', flowId: id, userId: 'ann', runId: 'ann' }])
  expect((await ask(etag)).status).toBe(200)
})
