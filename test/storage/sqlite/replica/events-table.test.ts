import { afterAll, beforeAll, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Postgres } from '../../../../src/storage/log/postgres/connection.ts'
import { HandClock } from '../../../support/hand-clock.ts'
import { NodeWorld } from '../../../support/node-world.ts'
import { PostgresServer, test } from '../../../support/postgres.ts'
import type { World } from '../../../support/world.ts'
import type { Store } from '../../conformance/store.ts'
import { definitionOf, Tenant } from '../../conformance/tenant.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open()
})
afterAll(() => server?.close())

const day = 86_400_000

/** An organisation on a node, with a flow, whose events are sent there. */
async function tenantOn(world: World) {
  const tenant = await Tenant.of(world as unknown as Store)
  await tenant.publish(
    definitionOf({ key: 'welcome', steps: [{ key: 'hello', title: 'Hello', kind: 'modal' }] }),
  )
  return tenant
}

let sent = 0
const event = (tenant: Tenant, more: Partial<Parameters<Tenant['event']>[1]> = {}) =>
  tenant.event(`event-${++sent}`, { kind: 'flow_started', flowKey: 'welcome', ...more })

const odd = '{"plan":"pro","odd":"\\"quo\\\\ted\\" \\u0000 🧭","none":null}'

/** Two nodes over one database, and a connection to it. */
async function two() {
  const url = await server.newDatabase()
  const clock = new HandClock()
  const [one, other] = [await NodeWorld.open(url, clock), await NodeWorld.open(url, clock)]
  const postgres = Postgres.open(url, { most: 1 })
  const rows = () =>
    postgres.all<Record<string, unknown>>('select * from events order by seq, place')
  return {
    ...{ url, clock, one, other, postgres, rows },
    async close() {
      await Promise.all([one.close(), other.close(), postgres.close()])
    },
  }
}

const text = (value: unknown) => (value === null ? null : JSON.stringify(value))

test('every event is a row with what the API says of it, in the order of arrival', async () => {
  const { one, rows, close } = await two()
  const tenant = await tenantOn(one.world)
  await tenant.append([
    event(tenant, { userId: 'ann', runId: 'run "1"', url: 'https://a.example/\\,{}', traits: {} }),
    event(tenant, { kind: 'step_viewed', stepKey: 'hello', anonymousId: 'b', properties: odd }),
    event(tenant, { kind: 'custom', flowKey: undefined, name: 'NULL', userId: '', reason: '' }),
  ])
  await one.world.storage.copyEvents()
  const found = await rows()
  const events = await tenant.events()
  expect(found).toHaveLength(3)
  expect(
    found.map(row => ({
      ...row,
      ...{ traits: text(row.traits), properties: text(row.properties) },
      occurred_at: (row.occurred_at as Date).getTime(),
      received_at: (row.received_at as Date).getTime(),
      reported_at: (row.reported_at as Date | null)?.getTime() ?? null,
    })),
  ).toEqual(
    events.map((event, i) => ({
      ...{ seq: found[i]!.seq, place: found[i]!.place, org_id: tenant.id, id: event.id },
      ...{ kind: event.kind, source: event.source, user_id: event.userId },
      ...{ anonymous_id: event.anonymousId, flow_id: event.flowId },
      ...{ flow_key: event.flowKey, flow_version: event.flowVersion },
      ...{ step_id: event.stepId, step_key: event.stepKey },
      ...{ item_id: null, item_key: null, run_id: event.runId, session_id: event.sessionId },
      ...{ occurred_at: event.occurredAt, reported_at: event.reportedAt },
      ...{ received_at: event.receivedAt, url: event.url, name: event.name, reason: event.reason },
      properties: text(event.properties),
      traits: text(event.traits),
    })),
  )
  await close()
})

test('each event is copied once, whichever nodes copy at the same time, and after one that failed', async () => {
  const { one, other, rows, close } = await two()
  const tenant = await tenantOn(one.world)
  const ids: string[] = []
  for (let group = 0; group < 12; group++) {
    const events = Array.from({ length: 100 }, () => event(tenant, { userId: `u${group}` }))
    ids.push(...events.map(({ id }) => id))
    await tenant.append(events)
    if (group === 5) {
      const failure = () => {
        throw new Error('killed')
      }
      await expect(one.log.events.copy(failure)).rejects.toThrow('killed')
    }
    if (group % 4 === 3) {
      await other.world.storage.follow()
      await Promise.all([one, other].map(({ world }) => world.storage.together!.events.next()))
    }
  }
  // Only the node that has the job copies until nothing is left.
  for (const { world, member } of [one, other]) {
    await world.storage.follow()
    await world.storage.copyEvents()
    await member.releases('log')
  }
  expect((await rows()).map(({ id }) => id)).toEqual(ids)
  await close()
})

test('a person who is erased is erased from the rows, and nobody else', async () => {
  const { one, other, postgres, rows, close } = await two()
  const tenant = await tenantOn(one.world)
  const people = ['ann', 'bob', 'ann']
  await tenant.append(
    people.map(userId => event(tenant, { userId, url: `https://${userId}.example/` })),
  )
  await other.world.storage.follow()
  await other.world.storage.copyEvents()
  await tenant.erase('uann')
  const texts = await postgres.all<{ row: string }>('select events::text as row from events')
  expect(texts.filter(({ row }) => row.includes('ann'))).toEqual([])
  expect((await rows()).map(({ url }) => url)).toEqual([null, 'https://bob.example/', null])
  expect((await rows()).map(({ id }) => id)).toEqual((await tenant.events()).map(({ id }) => id))
  await close()
})

test('rows are deleted with the events that they copy', async () => {
  const { one, clock, rows, close } = await two()
  const tenant = await tenantOn(one.world)
  await tenant.append([event(tenant, { userId: 'old' })])
  await one.world.storage.copyEvents()
  clock.advance(100 * day)
  await tenant.append([event(tenant, { userId: 'new' })])
  await one.world.storage.copyEvents()
  expect((await rows()).map(({ user_id }) => user_id)).toEqual(['old', 'new'])
  await one.world.retainAll()
  expect((await rows()).map(({ user_id }) => user_id)).toEqual(['new'])
  await close()
})

test('a table of that name which is not a copy is left alone', async () => {
  const { one, postgres, close } = await two()
  const tenant = await tenantOn(one.world)
  await tenant.append([event(tenant, { userId: 'ann' })])
  await postgres.run('create table events (mine text)')
  await expect(one.world.storage.copyEvents()).rejects.toThrow('rename it')
  await tenant.erase('uann')
  expect(await postgres.all('select * from events')).toEqual([])
  await close()
})

test('the queries of the manual answer what it says', async () => {
  const { one, clock, postgres, close } = await two()
  clock.moveTo(Date.now())
  const tenant = await tenantOn(one.world)
  const run = (userId: string, runId: string) => ({ userId, runId, at: clock.now() })
  await tenant.append([
    event(tenant, run('ann', 'a')),
    event(tenant, { ...run('ann', 'a'), kind: 'step_viewed', stepKey: 'hello' }),
    event(tenant, { ...run('ann', 'a'), kind: 'flow_completed', at: clock.now() + 60_000 }),
    event(tenant, run('bob', 'b')),
    event(tenant, {
      ...run('bob', 'b'),
      ...{ kind: 'flow_dismissed', stepKey: 'hello', reason: 'closed' },
    }),
    event(tenant, {
      ...{ kind: 'custom', flowKey: undefined, userId: 'ann' },
      ...{ name: 'exported', properties: '{"plan":"pro"}' },
    }),
  ])
  await one.world.storage.copyEvents()
  const page = readFileSync(
    join(import.meta.dir, '../../../../src/manual/export-and-sql.md'),
    'utf8',
  )
  const queries = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, query]) => query!)
  const answers = []
  for (const query of queries) answers.push(await postgres.all<Record<string, unknown>>(query))
  expect(answers).toEqual([
    [{ flow_key: 'welcome', on_day: expect.any(Date), started: 2, completed: 1 }],
    [{ step_key: 'hello', people: 1 }],
    [{ flow_key: 'welcome', median: expect.anything() }],
    [{ flow_key: 'welcome', step_key: 'hello', reason: 'closed', count: 1 }],
    [{ name: 'exported', plan: 'pro', count: 1, people: 1 }],
  ])
  expect(String(answers[2]![0]!.median)).toContain('00:01:00')
  await close()
})
