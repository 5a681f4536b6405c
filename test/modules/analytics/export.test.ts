import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { rowTypes } from '../../../src/modules/analytics/csv.ts'
import { checklist, tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let flow: PublishedFlow
beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ export: 100_000, events: 100_000 })
  flow = tenant.publish({
    ...checklist({ key: 'welcome', name: '=1+1' }),
    steps: [
      { key: 'hello', title: '@Hello, "you"' },
      { key: 'search', title: '-Search\nnow' },
    ],
  })
})

const occurredAt = () => new Date(world.clock.now() - 60_000).toISOString()

const exported = async (query = '', of = flow.id) => {
  const response = await tenant.ask(`GET /flows/${of}/analytics/export.csv${query}`)
  expect(response.status).toBe(200)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { headers: response.headers, text: bytes.toString() }
}

const rowsOf = (text: string): Record<string, string>[] =>
  parse(text, { columns: true, bom: true, record_delimiter: '\r\n' })

describe('the file', () => {
  test('has a total, and one row per day, step, item and version', async () => {
    const rows = rowsOf((await exported('?from=2026-11-01&to=2026-11-20')).text)
    const counts = Map.groupBy(rows, row => row.row_type)
    expect([...counts].map(([type, { length }]) => [type, length])).toEqual([
      ['total', 1],
      ['day', 20],
      ['step', 2],
      ['item', 3],
      ['version', 1],
    ])
  })

  test('has the types of rows that the manual lists', async () => {
    const manual = await Bun.file('src/manual/export-and-sql.md').text()
    const [, ofTypes = ''] = manual.split('\n## The types of rows\n')
    const [table] = ofTypes.split('\n## ')
    const listed = [...table!.matchAll(/^\| `(\w+)` \|/gm)].map(([, type]) => type)
    expect(listed).toEqual(Object.keys(rowTypes))
  })

  test('gives no spreadsheet a formula: texts that begin like one have a quote in front', async () => {
    const rows = rowsOf((await exported()).text)
    expect(rows[0]?.title).toBe("'=1+1")
    const titles = rows.filter(({ row_type }) => row_type === 'step').map(({ title }) => title)
    expect(titles).toEqual(['\'@Hello, "you"', "'-Search\nnow"])
  })
})

describe('rows=runs', () => {
  test('has one row per run, and one column per step', async () => {
    const run = { flowId: flow.id, occurredAt: occurredAt() }
    const [hello, search] = flow.steps.map(({ id }) => id)
    await tenant.send([
      { kind: 'step_viewed', userId: 'one', runId: 'r1', stepId: hello, ...run },
      { kind: 'step_completed', userId: 'one', runId: 'r1', stepId: hello, ...run },
      { kind: 'target_missing', userId: 'one', runId: 'r1', stepId: search, ...run },
      { kind: 'flow_completed', userId: 'one', runId: 'r1', ...run, occurredAt: undefined },
      { kind: 'step_skipped', anonymousId: '=cmd', runId: 'r2', stepId: hello, ...run },
      { kind: 'flow_dismissed', anonymousId: '=cmd', runId: 'r2', ...run },
    ])
    const rows = rowsOf((await exported('?rows=runs')).text)
    expect(Object.keys(rows[0]!)).toEqual([
      'run_key',
      'user_id',
      'anonymous_id',
      'version',
      'started_at',
      'last_at',
      'outcome',
      'completed_at',
      'dismissed_at',
      'seconds_to_complete',
      'step:hello',
      'step:search',
      'run_id',
      'start_reason',
    ])
    expect(rows).toHaveLength(2)
    expect(rows.map(({ run_key, run_id }) => [run_key, run_id])).toEqual([
      ['rr1', 'r1'],
      ['rr2', 'r2'],
    ])
    expect(rows[0]).toMatchObject({
      user_id: 'one',
      anonymous_id: '',
      version: '1',
      started_at: occurredAt(),
      outcome: 'completed',
      seconds_to_complete: '60',
      'step:hello': 'completed',
      'step:search': 'target_missing',
    })
    expect(rows[1]).toMatchObject({
      user_id: '',
      anonymous_id: "'=cmd",
      outcome: 'dismissed',
      completed_at: '',
      seconds_to_complete: '',
      'step:hello': 'skipped',
      'step:search': '',
    })
  })
})

describe('rows=events', () => {
  test('has one row per event, with everything that was reported', async () => {
    const other = tenant.publish(tour({ key: 'events' }))
    const event = {
      id: 'e1',
      kind: 'step_viewed',
      userId: 'u',
      anonymousId: 'a',
      flowId: other.id,
      flowVersion: 1,
      stepId: other.steps[0]!.id,
      runId: 'r',
      sessionId: 's',
      occurredAt: occurredAt(),
      url: 'https://app.example/?a=1,2',
      name: '+name',
      reason: 'why "so"',
      properties: { a: ['x', 1] },
    }
    await tenant.send([event])
    const rows = rowsOf((await exported('?rows=events', other.id)).text)
    expect(rows).toEqual([
      {
        id: 'e1',
        kind: 'step_viewed',
        source: 'events',
        user_id: 'u',
        anonymous_id: 'a',
        flow_id: other.id,
        flow_version: '1',
        step_id: other.steps[0]!.id,
        step_key: 'hello',
        item_id: '',
        run_id: 'r',
        session_id: 's',
        occurred_at: occurredAt(),
        reported_at: occurredAt(),
        received_at: new Date(world.clock.now()).toISOString(),
        url: 'https://app.example/?a=1,2',
        name: "'+name",
        reason: 'why "so"',
        properties: '{"a":["x",1]}',
      },
    ])
  })

  test('names where a row came from: a call, a tick, or a custom event', async () => {
    const listed = tenant.publish(checklist({ key: 'sources' }))
    await tenant.send([{ kind: 'custom', userId: 'u', name: 'invited' }])
    await tenant.ask(`POST /flows/${listed.id}/checklist-progress`, {
      body: { userId: 'u', items: [{ key: 'photo', completed: true }] },
    })
    await tenant.ask(`POST /flows/${listed.id}/complete`, { body: { userId: 'u' } })
    const rows = rowsOf((await exported('?rows=events', listed.id)).text)
    expect(rows.map(({ source }) => source).toSorted()).toEqual([
      'checklist_progress',
      'complete',
      'custom_event',
    ])
  })
})

test('a download that is given up stops the reading', async () => {
  const { analytics } = world.stores
  let isStopped = false
  world.stores.analytics = {
    ...analytics,
    async *runs() {
      try {
        for (;;) yield []
      } finally {
        isStopped = true
      }
    },
  }
  const response = await tenant.ask(`GET /flows/${flow.id}/analytics/export.csv?rows=runs`)
  const reader = response.body!.getReader()
  await reader.read()
  await reader.read()
  await reader.cancel()
  world.stores.analytics = analytics
  expect(isStopped).toBe(true)
})

test('an export that fails before its first byte is 500', async () => {
  const { analytics } = world.stores
  world.stores.analytics = {
    ...analytics,
    // biome-ignore lint/correctness/useYield: it fails before it could.
    async *columns() {
      throw new Error('this failure is part of a test')
    },
  }
  const response = await tenant.ask(`GET /flows/${flow.id}/analytics/export.csv`)
  world.stores.analytics = analytics
  expect(response.status).toBe(500)
})
