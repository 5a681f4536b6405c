import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { traitProblem } from '../../../src/core/event/traits.ts'
import { minuteMs } from '../../../src/core/time/durations.ts'
import type { Analytics } from '../../../src/modules/analytics/schema.ts'
import { tour } from '../../support/flows.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** What the laws of analytics do not cover about segments: bounds, and traits that are not listed. */

let world: World
let tenant: Tenant
let flow: ReturnType<Tenant['publish']>
let sent = 0

beforeAll(async () => {
  world = new World()
  tenant = await Tenant.of(world)
  tenant.limit({ events: 1_000_000 })
  tenant.listTraits('plan', 'seats')
  flow = tenant.publish(tour())
})
afterAll(() => world.close())

async function start(traits: object, of: object = {}) {
  const run = `run-${sent++}`
  const { status } = await tenant.answer('POST /events', {
    body: JSON.stringify({
      events: [{ kind: 'flow_started', userId: run, runId: run, flowId: flow.id, traits, ...of }],
    }),
  })
  expect(status).toBe(202)
  return run
}

const segments = async (query: string): Promise<NonNullable<Analytics['segments']>> =>
  (await tenant.answer(`GET /flows/${flow.id}/analytics?${query}`)).body.segments

test('the fifty most frequent values have a row each, the rarer ones share one', async () => {
  for (let i = 0; i < 60; i++) await start({ seats: i })
  for (let i = 0; i < 5; i++) await start({ seats: 59 })
  await start({})
  const rows = await segments('segment=seats')
  expect(rows).toHaveLength(52)
  expect(rows[0]).toMatchObject({ kind: 'value', value: '59', starts: 6, uniqueUsers: 6 })
  // Values with the same number of runs are in the order of their text.
  expect(rows[1]).toMatchObject({ value: '0', starts: 1 })
  expect(rows[50]).toMatchObject({ kind: 'other', value: null, values: 10, starts: 10 })
  expect(rows[51]).toMatchObject({ kind: 'not_said', value: null, values: 0, starts: 1 })
  // A value that has no row of its own can still be asked for.
  const { body } = await tenant.answer(`GET /flows/${flow.id}/analytics?segment=seats:9`)
  expect(body.totals.starts).toBe(1)
})

test('the earliest start that says traits counts, whatever comes later', async () => {
  const at = world.clock.now() - 60 * minuteMs
  const run = await start({ plan: 'team' }, { occurredAt: at })
  const again = (plan: string, later: number) =>
    start({ plan }, { runId: run, userId: run, occurredAt: at + later })
  await again('later', 1)
  await again('earlier', -1)
  const values = (await segments('segment=plan')).map(({ value }) => value)
  expect(values).toContain('earlier')
  expect(values).not.toContain('later')
  expect(values).not.toContain('team')
})

test('a trait taken off the list is neither kept nor shown; its older values return with it', async () => {
  await start({ plan: 'kept' })
  tenant.listTraits('seats')
  await start({ plan: 'lost', seats: 1 })
  const path = `GET /flows/${flow.id}/analytics?segment=plan`
  expect(await tenant.answer(path)).toMatchObject({ status: 422 })
  const { body } = await tenant.answer('GET /flows')
  expect(body.traits).toEqual(['seats'])
  tenant.listTraits('plan', 'seats')
  const values = (await segments('segment=plan')).map(({ value }) => value)
  expect(values).toContain('kept')
  expect(values).not.toContain('lost')
})

describe('what started a run', () => {
  const reasons = '$start_reason'

  test('groups and filters runs, without being listed', async () => {
    const of = tenant.publish(tour({ key: 'started' }))
    const begin = (reason?: string) => start({}, { flowId: of.id, ...(reason && { reason }) })
    for (const reason of ['launcher', 'launcher', 'code', 'of its own', undefined])
      await begin(reason)
    const path = `GET /flows/${of.id}/analytics`
    const { body } = await tenant.answer(`${path}?segment=${reasons}`)
    expect(
      (body as Analytics).segments?.map(({ kind, value, starts }) => [kind, value, starts]),
    ).toEqual([
      ['value', 'launcher', 2],
      ['value', 'code', 1],
      ['not_said', null, 2],
    ])
    const filtered = await tenant.answer(`${path}?segment=${reasons}:launcher`)
    expect(filtered.body.totals.starts).toBe(2)
    const csv = await tenant.ask(`${path}/export.csv?rows=runs`)
    const [header, ...rows] = (await csv.text()).trim().split('\r\n')
    expect(header).toEndWith('run_id,start_reason')
    expect(rows.filter(row => row.endsWith(',launcher'))).toHaveLength(2)
    expect(rows.filter(row => row.endsWith(','))).toHaveLength(2)
  })

  test('is no trait of the person, and none that a page can send', async () => {
    const of = tenant.publish(tour({ key: 'sent' }))
    const run = await start(
      { [reasons]: 'launcher', plan: 'pro' },
      { flowId: of.id, reason: 'code' },
    )
    const credential = await tenant.managementToken('people:read')
    const data = await tenant.answer(`GET /manage/people/export?userId=${run}`, { credential })
    expect(data.body.profile.at(-1).traits).toEqual({ plan: 'pro' })
    const path = `GET /flows/${of.id}/analytics?segment=${reasons}`
    expect((await tenant.answer(path)).body.segments).toMatchObject([{ value: 'code', starts: 1 }])
    expect(traitProblem(reasons)).toContain('always stored')
  })
})

test('a saved segment limits numbers, CSV and runs to the runs whose traits meet its rules', async () => {
  const token = await tenant.managementToken('analytics:read', 'flows:write', 'people:read')
  const credential = { credential: token }
  const survey = tenant.publish(tour({ key: 'segmented' }))
  const save = async (name: string, filter: object) => {
    const body = { name, filter }
    return (await tenant.answer('POST /manage/segments', { ...credential, body })).body.id as string
  }
  const of = { flowId: survey.id }
  const many = await start({ plan: 'pro', seats: 12 }, of)
  const few = await start({ plan: 'pro', seats: 3 }, of)
  await start({ plan: 'free', seats: 40 }, of)
  await start({}, of)
  const plan = { attribute: 'plan', op: 'eq', value: 'pro' }
  const seats = { attribute: 'seats', op: 'gt', value: 9 }
  const pro = await save('Pro', { rules: [plan] })
  const both = await save('Large Pro', { rules: [plan, seats] })
  const either = await save('Pro or large', { match: 'any', rules: [plan, seats] })
  const analytics = async (query: string) => {
    const path = `GET /manage/flows/segmented/analytics?${query}`
    return (await tenant.answer(path, credential)).body
  }
  const startsOf = async (id: string) => (await analytics(`segment=${id}`)).totals.starts
  expect(await Promise.all([pro, both, either].map(startsOf))).toEqual([2, 1, 3])
  const { filters, segments: groups } = await analytics(`segment=${pro}&segment=seats`)
  expect(filters.saved).toEqual([{ id: pro, name: 'Pro' }])
  expect(groups.map(({ value }: { value: string }) => value).sort()).toEqual(['12', '3'])

  const runs = `/manage/flows/segmented/runs?segment=${pro}`
  const listed = (await tenant.answer(`GET ${runs}`, credential)).body.runs
  expect(listed.map(({ runId }: { runId: string }) => runId).sort()).toEqual([many, few].sort())
  const csv = await tenant.ask(
    `GET /flows/${survey.id}/analytics/export.csv?segment=${both}&rows=runs`,
  )
  expect((await csv.text()).split('\r\n').filter(line => line.includes('run-'))).toHaveLength(1)

  const withFlow = await save('Finished', { flows: [{ flow: 'segmented', outcome: 'completed' }] })
  const path = `GET /manage/flows/segmented/analytics?segment=${withFlow}`
  expect(await tenant.answer(path, credential)).toMatchObject({ status: 422 })
})
