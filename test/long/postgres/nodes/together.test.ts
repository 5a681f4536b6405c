import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'bun:test'
import { until } from '../../../../scripts/support/until.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import { graceMs } from '../../../../src/storage/postgres/nodes/nodes.ts'
import { namesBehind } from '../../../../src/storage/postgres/nodes/visibility.ts'
import { BufferGauge } from '../../../../src/storage/shared/boards.ts'
import { NodeBoard } from '../../../../src/storage/shared/node-board.ts'
import { authorSessionsConform } from '../../../storage/conformance/author-sessions.ts'
import { previewsConform } from '../../../storage/conformance/previews.ts'
import type { OpenStore, Store } from '../../../storage/conformance/store.ts'
import { auditOf, definitionOf, rebuilt, Tenant } from '../../../storage/conformance/tenant.ts'
import { HandClock } from '../../../support/hand-clock.ts'
import { PostgresServer, test } from '../../../support/postgres.ts'
import { PostgresWorld, refilled } from '../../../support/postgres-world.ts'

/** Nodes over one database, each with its own copy. */

const flow = (title: string) =>
  definitionOf({ key: 'welcome', steps: [{ key: 'a', title, kind: 'modal' }] })

let server: PostgresServer
let url: string
let open: PostgresWorld[]
beforeAll(async () => {
  server = await PostgresServer.open()
})
afterAll(() => server?.close())
beforeEach(async () => {
  url = await server.newDatabase()
  open = []
})
afterEach(async () => {
  for (const world of open) await world.close()
})

const node = async (name: string) => {
  const world = await PostgresWorld.open(url, undefined, { name })
  open.push(world)
  return world
}
/** An organisation that is used through one of the nodes. */
const tenantOf = (world: PostgresWorld) => Tenant.of(world as never)
const titleAt = async ({ stores }: PostgresWorld, tenant: Tenant) =>
  (await stores.catalogue().flow(tenant.flowId('welcome')))?.latest?.steps[0]?.title
const behind = ({ storage, shared }: PostgresWorld) =>
  namesBehind(storage.postgres, new NodeBoard(shared.node))
/** As if its lease had run out so long ago, by PostgreSQL's clock and its own. */
async function loseTouch(world: PostgresWorld, agoMs: number): Promise<void> {
  world.clock.advance(15_000 + agoMs)
  await world.storage.postgres.run(
    `update nodes set lease_until = clock_timestamp() - $2 * interval '1 millisecond' where id = $1`,
    world.storage.node!.id,
    agoMs,
  )
}

describe('a publish', () => {
  test('is visible on every node once it is answered', async () => {
    const [a, b, c] = [await node('a'), (await node('b')).follow(), (await node('c')).follow(30)]
    const tenant = await tenantOf(a)
    for (let i = 0; i < 4; i++) {
      await tenant.publish(flow(`Title ${i}`))
      expect(await titleAt(b, tenant)).toBe(`Title ${i}`)
      expect(await titleAt(c, tenant)).toBe(`Title ${i}`)
    }
    expect(await behind(a)).toEqual([])
  })

  test('is dated after all events that were stored before it', async () => {
    const a = (await node('a')).follow()
    const tenant = await tenantOf(a)
    await tenant.publish(flow('Old'))
    const isWaited = `select from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%ledgers%for update%'`
    let publishing: Promise<unknown> | null = null
    // Acts as another node that is storing events.
    const other = Postgres.open(url, { most: 1 })
    await other.begin(async transaction => {
      await transaction.run('select from ledgers for update')
      publishing = tenant.publish(flow('New'))
      await until(async () => (await server.ask(isWaited, url)).length > 0)
      a.clock.advance(1_000)
    })
    await other.close()
    await publishing
    const { latest } = (await a.stores.catalogue().flow(tenant.flowId('welcome')))!
    expect(Date.parse(latest!.publishedAt)).toBe(a.clock.now())
  })

  test('is also dated after events of a node whose clock is ahead', async () => {
    const [a, b] = [(await node('a')).follow(), (await node('b')).follow()]
    const tenant = await tenantOf(a)
    await tenant.publish(flow('Old'))
    b.clock.advance(60_000)
    const ahead = b.clock.now()
    const event = tenant.event('one', {
      ...{ kind: 'flow_started', flowKey: 'welcome', userId: 'ada', runId: 'run', at: ahead },
    })
    await b.stores.ledger.append({
      ...{ orgRef: tenant.ref, receivedAt: ahead, events: [event], refusals: {}, skewMs: null },
    })
    await tenant.publish(flow('New'))
    const { latest } = (await a.stores.catalogue().flow(tenant.flowId('welcome')))!
    expect(Date.parse(latest!.publishedAt)).toBe(ahead + 1)
    // The run keeps its version, even when it is counted again.
    expect(await a.storage.postgres.all('select version from runs')).toEqual([{ version: 1 }])
    expect(await rebuilt(a as never)).toBe(0)
  })

  test('names a node that does not take it up, until that node does', async () => {
    const [a, b] = [(await node('a')).follow(), await node('b')]
    const tenant = await tenantOf(a)
    const publishing = tenant.publish(flow('New'))
    await until(async () => (await behind(a)).length > 0)
    await loseTouch(b, 1)
    await publishing
    expect(await behind(a)).toEqual(['b'])
    expect(await titleAt(b, tenant)).toBeUndefined()
    await b.storage.watch()
    expect(await titleAt(b, tenant)).toBe('New')
    expect(await behind(a)).toEqual([])
  })

  test('makes a paused node reject requests until that node has applied it', async () => {
    const [a, b] = [(await node('a')).follow(), await node('b')]
    const tenant = await tenantOf(a)
    await b.storage.watch()
    expect(b.stores.catalogue()).toBeDefined()
    await loseTouch(b, graceMs + 2_000)
    await tenant.publish(flow('New'))
    expect(await behind(a)).toEqual([])
    const refused = expect.objectContaining({ code: 'overloaded' })
    expect(() => b.stores.catalogue()).toThrow(AppError)
    expect(() => b.management.managementTokens.find('x')).toThrow(refused as never)
    expect(() => b.management.dashboardSessions.find('x')).toThrow(refused as never)
    // A lease alone does not say what the node knows.
    await b.storage.node!.renew()
    expect(() => b.stores.catalogue()).toThrow(AppError)
    await b.storage.watch()
    expect(await titleAt(b, tenant)).toBe('New')
  })
})

describe('a copy', () => {
  test('is filled again from scratch if the changes that it lacks are no longer kept', async () => {
    const [a, b] = [(await node('a')).follow(), await node('b')]
    const tenant = await tenantOf(a)
    await b.storage.watch()
    await loseTouch(b, graceMs + 2_000)
    await tenant.publish(flow('New'))
    await tenant.changeFlows({ key: 'welcome', status: 'archived', draft: null, publish: null })
    await tenant.publish(flow('Newer'))
    await a.storage.postgres.run('delete from catalogue_log')
    refilled.length = 0
    await b.storage.watch()
    expect(refilled).toEqual([url])
    expect(await titleAt(b, tenant)).toBe('Newer')
    // It goes on from there, and can change things itself.
    b.follow()
    const log = await a.management.access.audit(tenant.ref, { most: 1 } as never)
    await b.management.previews.note(tenant.ref, auditOf('of b'))
    await until(async () => {
      const [line] = await a.management.access.audit(tenant.ref, { most: 1 } as never)
      return line!.action === 'of b'
    })
    expect(log[0]!.action).not.toBe('of b')
  })

  test('keeps the values of columns that an older release does not know', async () => {
    const [a, b] = [await node('a'), await node('b')]
    const tenant = await tenantOf(a)
    await a.management.organisations.change(tenant.ref, {
      ...{ revision: 1, settings: { timezone: 'Europe/Berlin' }, audit: [auditOf('zone')] },
    })
    await a.storage.postgres.script(
      `update catalogue_clock set seq = seq + 1;
      insert into catalogue_log
        select seq, 0, 'organisations', json_build_object('id', o.id)::text,
          (to_jsonb(o) - 'timezone' || '{"name": "By an older one"}')::text, 0
        from catalogue_clock, organisations as o`,
    )
    await b.storage.watch()
    const read = await b.management.organisations.read(tenant.ref, 0)
    expect(read!.organisation).toMatchObject({ name: 'By an older one', timezone: 'Europe/Berlin' })
  })
})

describe('what is short-lived', () => {
  test('is reported by every node, whichever node it arrives at', async () => {
    const [a, b] = [(await node('a')).follow(), (await node('b')).follow()]
    const tenant = await tenantOf(a)
    const first = await a.management.activity.after(tenant.ref, null)
    await until(() => b.stores.watch.isWatched(tenant.ref))
    const judged = (id: string) => ({ id, verdict: 'accepted', userId: 'ann' }) as never
    a.stores.watch.note(tenant.ref, [judged('of a')])
    b.stores.watch.note(tenant.ref, [judged('of b'), judged('of b too')])
    const ids = new Set<string | null>()
    let { cursor } = first
    await until(async () => {
      const told = await b.management.activity.after(tenant.ref, cursor)
      for (const { id } of told.events) ids.add(id)
      expect(told).toMatchObject({ isAnew: false, missed: 0 })
      cursor = told.cursor
      return ids.size === 3
    })
    expect((await a.management.activity.after(tenant.ref, cursor)).events).toEqual([])
    // Once nobody asks, nobody writes.
    await a.storage.postgres.run("update watched set asked_at = asked_at - interval '31 s'")
    await until(() => !b.stores.watch.isWatched(tenant.ref))
    await until(() => !a.stores.watch.isWatched(tenant.ref))
    expect(await a.storage.postgres.all('select * from watched_events')).toEqual([])
  })

  test('lets in one of several pages that spend the same ticket on different nodes', async () => {
    const [a, b] = [(await node('a')).follow(), (await node('b')).follow()]
    const tenant = await tenantOf(a)
    const origin = 'https://app.example.com'
    const session = {
      ...{ id: 'author_1', organisation: tenant.id, author: 'ann', flow: 'welcome', step: 'a' },
      ...{ code: 'KHTW', url: origin, origin, begunAt: 1_000 },
      ...{ ticketSha256: 'ticket', codeSha256: 'code' },
    }
    await a.management.authorSessions.begin(tenant.ref, session)
    const spent = { sha256: 'ticket', isTyped: false }
    const visits = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        [a, b][i % 2]!.management.authorSessions.redeem(spent, origin, `token ${i}`, 2_000),
      ),
    )
    expect(visits.filter(visit => visit !== null)).toHaveLength(1)
    const winner = `token ${visits.findIndex(visit => visit !== null)}`
    const proposal = {
      ...{ at: 2_100, page: origin, element: 'button', candidates: [], mayNamePerson: false },
      fingerprint: { matchCount: 1 },
      isWrapper: false,
    }
    const proposed = Array.from({ length: 4 }, (_, i) =>
      [a, b][i % 2]!.management.authorSessions.propose(winner, origin, proposal, 2_100),
    )
    expect(await Promise.all(proposed)).toEqual([true, true, true, true])
    const read = await b.management.authorSessions.read(tenant.ref, 'author_1', 'ann', 2_200)
    expect(read!.proposals.map(({ number }) => number)).toEqual([1, 2, 3, 4])
    expect(read!.state).toBe('connected')
  })
})

test('a housekeeping statement that times out does not make the node reject writes', async () => {
  const world = await node('a')
  await tenantOf(world)
  const gauge = new BufferGauge(world.shared.buffer, { events: 1, bytes: 1 })
  const other = Postgres.open(url, { most: 1 })
  const isRefused = await other.begin(async transaction => {
    await transaction.run('lock table dead_letters')
    const pass = (async () => {
      while ((await world.storage.retain()) < 1_000);
    })()
    const ended = `select pg_cancel_backend(pid) from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%dead_letters%'`
    await until(async () => (await server.ask(ended, url)).length > 0)
    await pass
    return gauge.isRefused
  })
  await other.close()
  expect(isRefused).toBe(false)
})

/** Acts as a load balancer: each call goes to the next node. */
function dealtOut<Ports extends object>(ports: readonly Ports[]): Ports {
  let turn = 0
  const next = () => ports[turn++ % ports.length]!
  return new Proxy(ports[0]!, {
    get: (_, port) =>
      new Proxy(Reflect.get(ports[0]!, port) as object, {
        get:
          (__, method) =>
          (...args: unknown[]) => {
            const of = Reflect.get(next(), port) as Record<
              string | symbol,
              (...a: unknown[]) => unknown
            >
            return of[method]!(...args)
          },
      }),
  })
}

describe('a store whose calls go to one node after the other', () => {
  const dealing: OpenStore = async () => {
    const database = await server.newDatabase()
    const clock = new HandClock()
    const a = (await PostgresWorld.open(database, clock, { name: 'a' })).follow()
    const b = (await PostgresWorld.open(database, clock, { name: 'b' })).follow()
    return {
      ...{ clock, stores: a.stores, management: dealtOut([a.management, b.management]) },
      ...({} as Store),
      close: async () => {
        await a.close()
        await b.close()
      },
    }
  }
  describe('author sessions', () => authorSessionsConform(dealing))
  describe('links to previews', () => previewsConform(dealing))
})
