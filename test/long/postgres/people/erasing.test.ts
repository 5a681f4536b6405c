import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { finishErasures } from '../../../../src/storage/postgres/people/erase-person.ts'
import { nameOfErased } from '../../../../src/storage/postgres/people/person-name.ts'
import { rowOf } from '../../../../src/storage/shared/in-rows.ts'
import type { Store } from '../../../storage/conformance/store.ts'
import {
  auditOf,
  definitionOf,
  type EventOf,
  rebuilt,
  Tenant,
} from '../../../storage/conformance/tenant.ts'
import { PostgresServer, test } from '../../../support/postgres.ts'
import { LongWorkNode } from '../../../support/postgres-long-work.ts'

let server: PostgresServer
let url: string
let node: LongWorkNode
let other: LongWorkNode
let tenant: Tenant
let sent = 0

const tour = definitionOf({
  key: 'tour',
  steps: [{ key: 'hello', title: 'Hello', kind: 'modal' }],
  checklist: { items: ['one', 'two'].map(key => ({ key, title: key })) },
})
const range = { from: '2026-11-01', to: '2026-11-30' }

beforeAll(async () => {
  server = await PostgresServer.open()
})
afterAll(() => server?.close())
beforeEach(async () => {
  url = await server.newDatabase()
  node = await LongWorkNode.open(url)
  tenant = await Tenant.of(node.store as Store)
  await tenant.publish(tour)
  // Opened after the publish, because a change waits until all existing nodes have seen it.
  other = await LongWorkNode.open(url, node.world.clock)
})
afterEach(async () => {
  await other.store.close()
  await node.store.close()
})

const send = (...events: EventOf[]) =>
  tenant.append(events.map(event => tenant.event(`event-${sent++}`, event)))
/** @param more with `at` in milliseconds since ten minutes ago */
const started = ({ at = 0, ...more }: Partial<EventOf>): EventOf => ({
  kind: 'flow_started',
  flowKey: 'tour',
  at: node.world.clock.now() - 600_000 + at,
  ...more,
})

/** Stores a little of every kind of data, of a person and of others beside them. */
async function lives(userId: string): Promise<void> {
  const ids = { userId, anonymousId: null }
  const shared = `shared-${sent}`
  await send(
    ...[`own-${userId}`, shared].map(runId => started({ userId, runId, at: 10 })),
    started({ userId, sessionId: `s-${userId}`, at: 20 }),
    started({ userId: 'bob', runId: shared, at: 30 }),
    started({ userId, anonymousId: 'browser', url: `https://${userId}`, at: 40 }),
  )
  await tenant.complete('tour', ids)
  await tenant.tick('tour', ids, { one: true })
  await tenant.tick('tour', { userId: 'bob', anonymousId: null }, { two: true })
  await node.store.stores.steps.recordHealth({
    ...{ orgRef: tenant.ref, stepRef: tenant.stepRef('tour', 'hello'), version: 1, at: 1 },
    ...{ person: `u${userId}`, outcome: 'found', url: null, selector: null, matchCount: 1 },
    ...{ waitMs: null, snippetVersion: null, message: null },
  })
}

test('an erasure that was cut off is finished by another node, which knows only a hash', async () => {
  for (const steps of [1, 2, 3, 4, 5, 6]) {
    const userId = `ada-${steps}`
    await lives(userId)
    const before = await tenant.analytics('tour', range)
    await expect(tenant.erase(`u${userId}`, steps)).rejects.toThrow('gone away')
    await other.world.storage.watch()
    await other.world.storage.finishErasures()
    expect(await finishErasures(other.parts)).toEqual({ people: 0, unfinished: null })
    expect(await other.store.traces([userId])).toEqual([])
    expect(await tenant.analytics('tour', range)).toEqual(before)
    expect(await rebuilt(node.store as Store)).toBe(0)
    await node.world.storage.watch()
    const [{ receipt }] = (await node.parts.postgres.all<{ receipt: string }>(
      'select receipt from erasures order by id desc limit 1',
    )) as [{ receipt: string }]
    expect(JSON.parse(receipt)).toMatchObject({ events: 6, ticks: 1, stepReports: 1 })
  }
})

/** How many rows of runs PostgreSQL has read. */
async function runsRead(): Promise<number> {
  const row = await node.parts.postgres.get<{ rows: number }>(
    `select (seq_tup_read + idx_tup_fetch)::bigint as rows from pg_stat_user_tables
    where relname = 'runs'`,
  )
  return row!.rows
}

test('an erasure goes in steps, between which others write', async () => {
  const all = Array.from({ length: 2_300 }, (_, i) =>
    started({ userId: 'ada-lovelace', runId: `her-${i}`, at: 10 + i }),
  )
  await send(...all)
  await lives('ada-lovelace')
  const { totals } = await tenant.analytics('tour', range)
  let others = 0
  const writing: Promise<unknown>[] = []
  const write = () => {
    const userId = `other-${others++}`
    const ids = { userId, anonymousId: null }
    writing.push(
      send(started({ userId, runId: `her-${others * 100}`, at: 5_000 })),
      tenant.tick('tour', ids, { one: true, two: true }),
    )
  }
  const { subject, ...audit } = auditOf('person.erase')
  const before = await runsRead()
  const eraser = await LongWorkNode.open(url, node.world.clock)
  const asked = tenant.named('uada-lovelace')
  const { people } = eraser.store.management
  const { receipt } = await people.erase(asked, { compact: false }, audit, write)
  expect(receipt.erased).toMatchObject({ runs: 2_304, events: 2_306 })
  await Promise.all(writing)
  // Connections report what they have read when they are closed.
  await eraser.store.close()
  // Each run is found by its key, although PostgreSQL has no statistics of the table yet.
  expect((await runsRead()) - before).toBeLessThan(100 * 2_304)
  expect(others).toBeGreaterThan(5)
  expect(await node.store.traces(['ada-lovelace'])).toEqual([])
  expect(await rebuilt(node.store as Store)).toBe(0)
  // No run was lost. Whoever joined a run that had already been renamed got one of their own.
  const { starts } = (await tenant.analytics('tour', range)).totals
  expect(starts).toBeGreaterThanOrEqual(totals.starts)
  expect(starts).toBeLessThanOrEqual(totals.starts + others)
})

test('the name behind a hash is found in what is left of the person, whatever the name is', async () => {
  const { changes, postgres } = node.parts
  const { subject, ...audit } = auditOf('person.erase')
  for (const name of ['aé"\\\'%_😀', 'u 1', 'ux']) {
    const { orgId, person } = tenant.named(name)
    const asked = { orgRef: rowOf(tenant.ref), orgId, person }
    const row = await changes.beginErasure(asked, audit)
    expect(await nameOfErased(postgres, row)).toBeNull()
    const letter = { kind: 'custom', name: 'x', userId: null, anonymousId: null }
    const ids = name.startsWith('u') ? { userId: name.slice(1) } : { anonymousId: name.slice(1) }
    const insert = 'insert into dead_letters (org_id, at, error, event) values ($1, 1, $2, $3)'
    const buried = JSON.stringify({ ...letter, ...ids, id: 'e' })
    await postgres.run(insert, asked.orgRef, 'no', buried)
    expect(await nameOfErased(postgres, row)).toBe(name)
    expect((await tenant.erase(name)).receipt.erased).toMatchObject({ deadLetters: 1 })
    expect(await nameOfErased(postgres, row)).toBeNull()
    await postgres.run(
      `insert into caused_events values ($1, $2, 'x', '[]')`,
      ...[asked.orgRef, name],
    )
    expect(await nameOfErased(postgres, row)).toBe(name)
  }
})
