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

describe('a wrong question is 422, and names the parameter but not its value', () => {
  test.each([
    ['from=2026-02-30', ['/from']],
    ['from=20.11.2026', ['/from']],
    ['from=', ['/from']],
    ['from=1969-12-31', ['/from']],
    ['to=2026-1-1', ['/to']],
    ['to=10000-01-01', ['/to']],
    ['timezone=Mars%2FOlympus', ['/timezone']],
    ['timezone=%2B02:00', ['/timezone']],
    ['timezone=', ['/timezone']],
    ['from=2026-03-02&to=2026-03-01', ['/from']],
    ['from=2026-11-21', ['/from']],
    ['from=2025-01-01&to=2026-02-05', ['/from']],
    ['from=x&to=y&timezone=z', ['/from', '/to', '/timezone']],
    ['version=0', ['/version']],
    ['version=two', ['/version']],
    ['version=', ['/version']],
    ['version=2', ['/version']],
    ['version=9999999999', ['/version']],
    ['from=2026-01-01&from=2026-01-02', ['/from']],
  ])('%s', async (query, paths) => {
    for (const what of ['analytics', 'analytics/export.csv']) {
      const { status, body } = await tenant.answer(`GET /flows/${flow.id}/${what}?${query}`)
      expect([status, body.code]).toEqual([422, 'validation_failed'])
      expect(body.details.map((problem: { path: string }) => problem.path)).toEqual(paths)
      for (const value of new URLSearchParams(query).values()) {
        if (value.length > 3) expect(JSON.stringify(body.details)).not.toContain(value)
      }
    }
  })

  test.each([
    ['bom=yes', '/bom'],
    ['rows=everything', '/rows'],
    ['rows=', '/rows'],
  ])('of an export: %s', async (query, path) => {
    const what = `GET /flows/${flow.id}/analytics/export.csv?${query}`
    const { status, body } = await tenant.answer(what)
    expect(status).toBe(422)
    expect(body.details).toEqual([{ path, message: expect.stringContaining('Must be one of ') }])
  })
})

describe('the range', () => {
  const range = async (query: string) => (await ask(query)).body.range

  test('is the last 30 days, today included, in UTC, unless asked otherwise', async () => {
    const range30 = { from: '2026-10-22', to: '2026-11-20', timezone: 'UTC', complete: false }
    expect(await range('')).toEqual(range30)
    expect((await ask('')).body.daily).toHaveLength(30)
  })

  test('ends with today in the asked zone', async () => {
    expect(await range('?timezone=Pacific/Kiritimati')).toMatchObject({ to: '2026-11-20' })
    world.clock.advance(3_600_000)
    expect(await range('?timezone=Pacific/Kiritimati')).toMatchObject({ to: '2026-11-21' })
    expect(await range('?timezone=america/new_york')).toEqual({
      from: '2026-10-22',
      to: '2026-11-20',
      timezone: 'America/New_York',
      complete: false,
    })
    world.clock.advance(-3_600_000)
  })

  test('may be a single day, or 400, leap days and clock changes included', async () => {
    expect(await range('?from=2026-03-29&to=2026-03-29&timezone=Europe/Berlin')).toEqual({
      from: '2026-03-29',
      to: '2026-03-29',
      timezone: 'Europe/Berlin',
      complete: true,
    })
    const { body } = await ask('?from=2025-01-01&to=2026-02-04')
    expect(body.daily).toHaveLength(400)
  })

  test('says of its end and of each day whether it is over, in the asked zone', async () => {
    const completeIn = async (timezone: string) => {
      const { body } = await ask(`?from=2026-11-19&to=2026-11-20&timezone=${timezone}`)
      return [body.range.complete, ...body.daily.map((day: { complete: boolean }) => day.complete)]
    }
    expect(await completeIn('UTC')).toEqual([false, true, false])
    world.clock.advance(3_600_000)
    expect(await completeIn('Pacific/Kiritimati')).toEqual([true, true, true])
    world.clock.advance(-3_600_000)
  })
})

test('the answer has every field of the contract; without runs, zeros and nulls', async () => {
  const quiet = tenant.publish({ ...checklist({ key: 'quiet' }), steps: tour().steps })
  const { status, body } = await ask('?from=2026-11-19&to=2026-11-20', quiet.id)
  expect(status).toBe(200)
  const { definitions, ...answer } = body
  const nothing = { starts: 0, uniqueUsers: 0, completions: 0, dismissals: 0 }
  expect(answer).toEqual({
    flowId: quiet.id,
    flowKey: 'quiet',
    flowName: 'Getting started',
    range: { from: '2026-11-19', to: '2026-11-20', timezone: 'UTC', complete: false },
    filters: { version: null },
    ignored: [],
    generatedAt: new Date(world.clock.now()).toISOString(),
    totals: { ...nothing, uniqueCompleters: 0, inProgress: 0, completionRate: null },
    timeToComplete: { count: 0, medianSeconds: null, p90Seconds: null, untimed: 0 },
    steps: quiet.steps.map(({ id, key }, position) => ({
      stepId: id,
      key,
      position,
      title: ['Hello', 'Search'][position],
      reached: 0,
      uniqueUsers: 0,
      completed: 0,
      skipped: 0,
      targetMissing: 0,
      droppedHere: 0,
      stillHere: 0,
      dropOffRate: null,
      medianSeconds: null,
      p90Seconds: null,
      health: { state: 'unknown', okRate: null, reports: 0 },
    })),
    checklist: {
      items: quiet.checklist!.items.map(({ id, key }, i) => ({
        itemId: id,
        key,
        title: ['Invite somebody', 'Add a photo', 'Add a card'][i],
        completions: 0,
      })),
      completedAll: 0,
    },
    daily: [
      { date: '2026-11-19', ...nothing, complete: true },
      { date: '2026-11-20', ...nothing, complete: false },
    ],
    versions: [
      {
        version: 1,
        publishedAt: expect.any(String),
        starts: 0,
        completions: 0,
        completionRate: null,
      },
    ],
  })
  for (const sentence of Object.values(definitions)) expect(sentence).toMatch(/^\w.*\.$/)
  expect(definitions.daily).toContain('do not add up')
})

test('a flow that was never published is answered too: all zeros, no steps, no versions', async () => {
  tenant.push(tour({ key: 'draft', name: 'A draft' }))
  const { status, body } = await ask('', tenant.flowId('draft'))
  expect(status).toBe(200)
  expect(body).toMatchObject({
    flowKey: 'draft',
    flowName: 'A draft',
    steps: [],
    checklist: null,
    versions: [],
  })
  expect(body.totals.starts).toBe(0)
  expect(body.daily).toHaveLength(30)
})

test('a withdrawn flow keeps its numbers', async () => {
  const old = tenant.publish(tour({ key: 'old' }))
  await tenant.send([{ kind: 'flow_started', userId: 'u', flowId: old.id }])
  tenant.withdraw('old', 'archived')
  expect((await ask('', old.id)).body.totals.starts).toBe(1)
})

test('a version counts only its own runs; the list of versions counts all of them', async () => {
  const two = tenant.publish(tour({ key: 'two' }))
  tenant.publish(tour({ key: 'two', name: 'Second' }))
  const start = (userId: string, flowVersion: number) => ({
    kind: 'flow_started',
    userId,
    flowId: two.id,
    flowVersion,
  })
  await tenant.send([start('a', 1), start('b', 2), start('c', 2)])
  const { body } = await ask('?version=1', two.id)
  expect(body.filters).toEqual({ version: 1 })
  expect(body.totals.starts).toBe(1)
  expect(body.versions.map((v: { starts: number }) => v.starts)).toEqual([1, 2])
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

test('the same question gives the same answer', async () => {
  const query = '?from=2026-11-01&to=2026-11-20&timezone=Asia/Kathmandu'
  expect((await ask(query)).body).toEqual((await ask(query)).body)
})

test('people known only by their completion count as started but untimed, as is defined', async () => {
  const done = tenant.publish(tour({ key: 'by-back-end', name: 'Completed by a back end' }))
  for (const userId of ['ann', 'bea', 'cid']) {
    await tenant.answer(`POST /flows/${done.id}/complete`, { body: { userId } })
  }
  const { body } = await ask('', done.id)
  expect(body.totals).toMatchObject({ starts: 3, completions: 3, completionRate: 1 })
  const untimed = { count: 0, medianSeconds: null, p90Seconds: null, untimed: 3 }
  expect(body.timeToComplete).toEqual(untimed)
  expect(body.definitions.starts).toContain('begins with the first thing that is reported of it')
  expect(body.definitions.untimed).toContain('begin with their completion')
})

describe('an unknown parameter', () => {
  test.each([
    ['tz=Europe/Berlin', 'tz', 'timezone'],
    ['verson=1', 'verson', 'version'],
    ['timeZone=UTC', 'timeZone', 'timezone'],
    ['form=2026-11-01', 'form', 'from'],
  ])('is 422 where it looks like one of ours: %s', async (query, name, meant) => {
    const details = [
      { path: `/${name}`, message: `There is no such parameter: did you mean "${meant}"?` },
    ]
    for (const path of ['analytics', 'analytics/export.csv']) {
      const { status, body } = await tenant.answer(`GET /flows/${flow.id}/${path}?${query}`)
      expect([status, body.details]).toEqual([422, details])
    }
  })

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

test('people who may still go on are counted apart from those who have stopped', async () => {
  const tried = tenant.publish(tour({ key: 'tried' }))
  const view = (userId: string, more: object = {}) => ({
    kind: 'step_viewed',
    userId,
    runId: userId,
    flowId: tried.id,
    stepId: tried.steps[0]!.id,
    ...more,
  })
  await tenant.send([view('gone'), view('left')])
  world.clock.advance(86_400_000)
  await tenant.send([view('here'), view('ended'), view('ended', { kind: 'flow_dismissed' })])
  const [first] = (await ask('?from=2026-11-01&to=2026-11-30', tried.id)).body.steps
  expect(first).toMatchObject({ reached: 4, droppedHere: 4, stillHere: 1 })
  world.clock.advance(-86_400_000)
})

describe('a version that a completion or tick names', () => {
  test('counts, with a run and without one', async () => {
    const two = tenant.publish(checklist({ key: 'named-version' }))
    tenant.publish(checklist({ key: 'named-version', name: 'Second' }))
    const of = (userId: string, kind: string, flowVersion?: number) => ({
      kind,
      userId,
      flowId: two.id,
      ...(kind === 'item_completed' && { itemId: two.checklist!.items[0]!.id }),
      ...(flowVersion !== undefined && { flowVersion }),
    })
    const startsBy = async () => {
      const { versions } = (await ask('', two.id)).body
      return versions.map((version: { starts: number; completions: number }) => [
        version.starts,
        version.completions,
      ])
    }
    await tenant.send([of('a', 'flow_completed', 1), of('b', 'flow_completed', 2)])
    expect(await startsBy()).toEqual([
      [1, 1],
      [1, 1],
    ])
    await tenant.send([of('c', 'checklist_opened'), of('c', 'item_completed', 1)])
    await tenant.send([of('d', 'item_completed', 1)])
    expect(await startsBy()).toEqual([
      [3, 1],
      [1, 1],
    ])
  })
})
