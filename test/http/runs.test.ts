import { afterAll, expect, test } from 'bun:test'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Single runs of a flow, as the management API lists them. */

const world = new World()
afterAll(() => world.close())

const steps = [
  { key: 'one', title: 'One' },
  { key: 'two', title: 'Two' },
]

const minute = 60_000

test('a run says whose it was, how far it came, how long that took, and how it ended', async () => {
  const tenant = await Tenant.of(world)
  const flow = tenant.publish(tour({ key: 'welcome', steps }))
  const credential = await tenant.managementToken('analytics:read')
  const start = world.clock.now() - 60 * minute
  const at = (run: string, person: object, seconds: number, kind: string, step?: number) => ({
    ...person,
    kind,
    flowId: flow.id,
    runId: run,
    occurredAt: start + seconds * 1_000,
    ...(step !== undefined && { stepId: flow.steps[step]!.id }),
  })
  const [ann, browser] = [{ userId: 'ann' }, { anonymousId: 'browser' }]
  await tenant.send([
    at('first', ann, 0, 'flow_started'),
    at('first', ann, 1, 'step_viewed', 0),
    at('first', ann, 5, 'step_completed', 0),
    at('first', ann, 6, 'step_viewed', 1),
    at('first', ann, 30, 'flow_completed'),
    at('second', browser, 60, 'flow_started'),
    at('second', browser, 61, 'step_viewed', 0),
    at('second', browser, 62, 'flow_dismissed'),
    { ...at('', ann, 90, 'target_missing', 1), runId: undefined, sessionId: 's' },
  ])
  const { status, body } = await tenant.answer('GET /manage/flows/welcome/runs', { credential })
  expect([status, body.flowId, body.next]).toEqual([200, flow.id, null])
  expect(body.runs).toMatchObject([
    {
      ...{ runId: null, userId: 'ann', outcome: 'in_progress', lastStep: null },
      steps: [{ key: 'two', outcome: 'target_missing', seconds: null }],
    },
    {
      ...{ runId: 'second', userId: null, anonymousId: 'browser', outcome: 'dismissed' },
      ...{ secondsToComplete: null, lastStep: { key: 'one', title: 'One' } },
    },
    {
      ...{ runId: 'first', userId: 'ann', anonymousId: null, version: 1, outcome: 'completed' },
      startedAt: new Date(start).toISOString(),
      completedAt: new Date(start + 30_000).toISOString(),
      ...{ dismissedAt: null, secondsToComplete: 30, lastStep: { key: 'two' } },
      steps: [
        { stepId: flow.steps[0]!.id, key: 'one', outcome: 'completed', seconds: 4 },
        { key: 'two', outcome: 'viewed', seconds: null },
      ],
    },
  ])
})
