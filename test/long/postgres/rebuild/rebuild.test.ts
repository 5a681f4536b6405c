import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { rowOf } from '../../../../src/storage/shared/in-rows.ts'
import type { Store } from '../../../storage/conformance/store.ts'
import { definitionOf, type EventOf, rebuilt, Tenant } from '../../../storage/conformance/tenant.ts'
import { PostgresServer, test } from '../../../support/postgres.ts'
import { LongWorkNode } from '../../../support/postgres-long-work.ts'

let server: PostgresServer
let node: LongWorkNode
let tenant: Tenant
let sent = 0

const flowOf = (key: string) =>
  definitionOf({
    key,
    steps: [{ key: 'a', title: 'A', kind: 'modal' }],
    checklist: {
      items: [
        { key: 'one', title: 'One', completeOn: { event: 'did_one' } },
        { key: 'two', title: 'Two' },
      ],
    },
    goal: { event: 'did_one' },
    when: { event: 'did_two' },
  })

beforeAll(async () => {
  server = await PostgresServer.open()
})
afterAll(() => server?.close())
beforeEach(async () => {
  node = await LongWorkNode.open(await server.newDatabase())
  tenant = await Tenant.of(node.store as Store)
  await tenant.publish(flowOf('first'), flowOf('second'))
})
afterEach(() => node.store.close())

const send = (...events: EventOf[]) =>
  tenant.append(events.map(event => tenant.event(`event-${sent++}`, event)))

const history = (flowKey: string, of = ''): EventOf[] => [
  { kind: 'flow_started', flowKey, userId: `u${of}`, sessionId: 's1', at: 10 },
  { kind: 'step_viewed', flowKey, stepKey: 'a', userId: `u${of}`, sessionId: 's1', at: 11 },
  { kind: 'flow_completed', flowKey, userId: `u${of}`, at: 20 },
  { kind: 'flow_started', flowKey, userId: `v${of}`, runId: `shared${of}`, at: 25 },
  { kind: 'flow_started', flowKey, userId: `w${of}`, runId: `shared${of}`, at: 26 },
  { kind: 'item_completed', flowKey, itemKey: 'two', userId: `v${of}`, at: 30 },
  { kind: 'custom', name: 'did_one', userId: `v${of}`, at: 40 },
  { kind: 'custom', name: 'did_two', userId: `v${of}`, at: 41 },
  { kind: 'flow_held_out', flowKey, userId: `x${of}`, at: 50 },
]

const tables = ['runs', 'run_people', 'loose_facts', 'ticks', 'progress', 'completions', 'held_out']
tables.push('checklist_completions', 'caused_events', 'goals', 'step_health')

const { stringify } = JSON
const dump = () =>
  Promise.all(
    tables.map(async table => {
      const rows = await node.parts.postgres.all<{ id?: number }>(`select * from ${table}`)
      return [table, rows.map(({ id, ...row }) => stringify(row)).sort()] as const
    }),
  )

async function lives(): Promise<void> {
  await send(...history('first'), ...history('second'))
  const step = tenant.stepRef('first', 'a')
  for (const [at, outcome] of [
    [2, 'found'],
    [1, 'not_found'],
  ] as const) {
    await node.store.stores.steps.recordHealth({
      ...{ orgRef: tenant.ref, stepRef: step, version: 1, person: 'uu', outcome, at },
      ...{ url: null, selector: null, matchCount: 1, waitMs: null, snippetVersion: null },
      message: null,
    })
  }
}

test('a rebuild corrects wrong, missing and surplus rows, and says how many flows had them', async () => {
  await lives()
  expect(await rebuilt(node.store as Store)).toBe(0)
  const right = await dump()
  expect(right.filter(([, rows]) => rows.length === 0).map(([table]) => table)).toEqual([])
  const flow = `org_id = ${rowOf(tenant.ref)} and flow_id = ${rowOf(tenant.flowRef('first'))}`
  for (const damage of [
    `update runs set completed_at = 99, steps = '[]' where ${flow}`,
    `update runs set has_loose = 0 where ${flow}`,
    `delete from runs where ${flow}`,
    `insert into runs (id, org_id, flow_id, run_key, person, started_at, last_at, version, steps)
    select 77, org_id, flow_id, 'rnobody', 'unobody', 1, 1, 1, '' from runs where ${flow} limit 1`,
    `delete from ticks where ${flow}`,
    `delete from run_people where ${flow}`,
    `update progress set checklist_at = 1 where ${flow}`,
    // If these were merged with the right ones, they would stay as they are.
    `update completions set reported_at = 1 where ${flow}`,
    `update held_out set at = 1 where ${flow}`,
  ]) {
    await node.parts.postgres.run(damage)
    expect([damage, await dump()]).not.toEqual([damage, right])
    expect([damage, await rebuilt(node.store as Store)]).toEqual([damage, 1])
    expect([damage, await dump()]).toEqual([damage, right])
    expect(await rebuilt(node.store as Store)).toBe(0)
  }
})

test('a rebuild finds nothing wrong while others write, and corrects beside them', async () => {
  await lives()
  const writing: Promise<unknown>[] = []
  for (let time = 0; time < 10; time++) {
    for (const flow of ['first', 'second']) writing.push(send(...history(flow, `-${time}`)))
    expect(await rebuilt(node.store as Store)).toBe(0)
  }
  await node.parts.postgres.run('delete from runs')
  for (const flow of ['first', 'second']) writing.push(send(...history(flow, '-last')))
  expect(await rebuilt(node.store as Store)).toBe(2)
  await Promise.all(writing)
  expect(await rebuilt(node.store as Store)).toBe(0)
})
