import { afterAll, expect, test } from 'bun:test'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Single runs of a flow, as the management API lists them. */

const world = new World()
afterAll(() => world.close())

type Run = Record<string, unknown> & { runId: string | null }

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

test('runs can be filtered by outcome, version or days, also page after page', async () => {
  const tenant = await Tenant.of(world)
  const { id: flowId } = tenant.publish(tour({ key: 'welcome', steps }))
  const credential = await tenant.managementToken('analytics:read')
  const today = new Date(world.clock.now()).toISOString().slice(0, 10)
  const noon = Date.parse(`${today}T12:00:00Z`)
  const dayMs = 24 * 60 * minute
  const events = Array.from({ length: 12 }, (_, i) => {
    const occurredAt = noon - (1 + (i % 4)) * dayMs
    const of = { flowId, userId: `person-${i}`, runId: `run-${i}`, occurredAt }
    const start = { ...of, kind: 'flow_started' }
    return i % 3 === 0 ? [start, { ...of, kind: 'flow_dismissed' }] : [start]
  })
  await tenant.send(events.flat())
  const ask = async (query: string) => {
    const { status, body } = await tenant.answer(`GET /manage/flows/welcome/runs?${query}`, {
      credential,
    })
    expect([query, status]).toEqual([query, 200])
    return body as { runs: Run[]; next: string | null }
  }
  expect((await ask('outcome=dismissed')).runs).toHaveLength(4)
  expect((await ask('outcome=in_progress&version=1')).runs).toHaveLength(8)
  expect((await ask('version=2')).runs).toEqual([])
  expect((await ask('timezone=Asia/Tokyo')).runs).toHaveLength(12)
  const [from, to] = [3, 2].map(days => new Date(noon - days * dayMs).toISOString().slice(0, 10))
  expect((await ask(`from=${from}&to=${to}`)).runs).toHaveLength(6)
  // In that zone it is already the next day.
  const east = await ask(`from=${from}&to=${to}&timezone=Pacific/Kiritimati`)
  expect(east.runs.map(({ startedAt }) => startedAt)).toEqual(
    [3, 3, 3, 4, 4, 4].map(days => new Date(noon - days * dayMs).toISOString()),
  )
  const first = await ask('outcome=dismissed&limit=3')
  const second = await ask(`outcome=dismissed&limit=3&after=${first.next}`)
  const ids = [...first.runs, ...second.runs].map(({ runId }) => runId)
  expect(new Set(ids)).toEqual(new Set(['run-0', 'run-3', 'run-6', 'run-9']))
  expect(second.next).toBeNull()
})
