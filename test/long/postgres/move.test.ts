import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Pgbouncer, pgbouncerProgram } from '../../../scripts/support/pgbouncer.ts'
import { differingFlow } from '../../../src/cli/move/same-analytics.ts'
import { Postgres } from '../../../src/storage/postgres/database/connection.ts'
import { MoveIntoDirectory } from '../../../src/storage/postgres/move/into-directory.ts'
import { MoveIntoPostgres } from '../../../src/storage/postgres/move/into-postgres.ts'
import { movedTables } from '../../../src/storage/postgres/move/moved-tables.ts'
import { type MoveProgress, requireNoMove } from '../../../src/storage/postgres/move/moves.ts'
import { viewOfDatabase, viewOfDirectory } from '../../../src/storage/postgres/move/views.ts'
import { migrate } from '../../../src/storage/sqlite/database/migrate.ts'
import type { Store } from '../../storage/conformance/store.ts'
import { rebuilt, Tenant } from '../../storage/conformance/tenant.ts'
import { HandClock } from '../../support/hand-clock.ts'
import { autumnAnchor, historyArbitrary, reach } from '../../support/histories.ts'
import { poison } from '../../support/ledger.ts'
import { lawWorld } from '../../support/lives.ts'
import { describe, PostgresServer, test } from '../../support/postgres.ts'
import { PostgresWorld } from '../../support/postgres-world.ts'
import type { World } from '../../support/world.ts'

const day = 86_400_000
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)
const whole = { from: dateOf(autumnAnchor - reach), to: dateOf(autumnAnchor + reach) }
const people = ['ann', 'Bob', 'uann', '\u{1f600}']
const all = { after: null, most: 200, mostLookedAt: 1_000, started: null }

/** Histories that are the same in each run of the test. */
const [history, other] = fc.sample(
  historyArbitrary({ anchor: autumnAnchor, minEvents: 200, maxEvents: 260 }),
  { seed: 7, numRuns: 2 },
) as [never, never]

/** The place that has the data now, so that tenants go on when the data moves. */
class Place {
  clock = new HandClock(autumnAnchor - reach - 30 * day)
  at: Pick<World | PostgresWorld, 'stores' | 'management' | 'close'> | null = null

  get store(): Store {
    const place = this
    const nothing = () => {
      throw new Error('The places of a move need none')
    }
    return {
      keptBeyondMs: 0,
      clock: this.clock,
      get stores() {
        return place.at!.stores
      },
      get management() {
        return place.at!.management
      },
      ...{ settle: nothing, retain: nothing, refuse: nothing, traces: nothing, reopen: nothing },
      close: nothing,
    }
  }
}

/** All that can be asked about two organisations. */
async function told(tenants: readonly Tenant[], clock: HandClock) {
  const answers: unknown[] = []
  for (const tenant of tenants) {
    const { stores, management } = tenant.store
    await management.seen.write()
    answers.push(await tenant.organisation(), await management.flows.read(tenant.ref, []))
    for (const key of ['welcome', 'setup']) {
      answers.push(
        await tenant.runs(key),
        await tenant.answer(key, { ...whole, ways: '1', distribution: '1' }, autumnAnchor),
        await management.runs.runs(tenant.ref, key, { ...all, outcome: null, version: null }),
        await Array.fromAsync(
          stores.analytics.events(tenant.ref, tenant.flowRef(key), {
            startMs: 0,
            endMs: Number.MAX_SAFE_INTEGER,
          } as never),
        ).then(pages => pages.flat()),
      )
      for (const person of people) {
        const ids = { userId: person, anonymousId: null }
        answers.push(await tenant.progress(key, ids), await tenant.histories(ids))
      }
    }
    answers.push(
      await management.operations.deadLetters(tenant.ref, 100),
      await stores.presence.read(tenant.ref, clock.now()),
      await management.organisations.identityHours(tenant.ref, clock.now()),
    )
  }
  return JSON.parse(
    JSON.stringify(answers, (_, value) => {
      if (value instanceof Map || value instanceof Set) return [...value]
      return value
    }),
  )
}

describe('a move', () => {
  let server: PostgresServer
  let url: string
  let world: World
  let place: Place
  let tenants: Tenant[]
  let target: string
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  afterAll(() => server?.close())

  /** Two organisations with all that can be stored, whose events are interleaved. */
  beforeEach(async () => {
    url = await server.newDatabase()
    target = mkdtempSync(join(tmpdir(), 'cairn-moved-'))
    place = new Place()
    world = lawWorld({ dataDir: mkdtempSync(join(tmpdir(), 'cairn-test-')), clock: place.clock })
    place.at = world
    tenants = []
    const histories = [history, other] as { flows: never; events: { at: number }[] }[]
    for (const { flows } of histories) tenants.push(await Tenant.withFlows(place.store, flows))
    const sent = histories.flatMap(({ events }, org) =>
      events.map((event, i) => ({ tenant: tenants[org]!, event, id: `event-${i}` })),
    )
    sent.sort((a, b) => a.event.at - b.event.at)
    for (const [i, { tenant, event, id }] of sent.entries()) {
      const more = { receivedAt: event.at + 1, refusals: { invalid: 1 }, skewMs: i }
      await tenant.append([tenant.event(id, event as never)], more)
      if (i === 100) await world.sealAll()
    }
    place.clock.moveTo(autumnAnchor + reach + day)
    for (const tenant of tenants) {
      await tenant.complete('setup', { userId: 'ann', anonymousId: null })
      await tenant.append([tenant.event(crypto.randomUUID(), { kind: 'custom', name: 'saved' })])
      poison(world.database, 'poisonous')
      await tenant.append([tenant.event('poisonous', { kind: 'custom', name: 'a' })])
      world.database.run('drop trigger poison')
    }
    await tenants[0]!.erase('uBob')
    world.storage.housekeeping.retentionDays = 25
    await world.retainAll()
    await world.written()
  })
  afterEach(async () => {
    await place.at?.close()
    rmSync(world.dataDir, { recursive: true, force: true })
    rmSync(target, { recursive: true, force: true })
  })

  const now = () => place.clock.now()
  const withoutCursors = (events: { cursor?: string }[] | null) =>
    events?.map(({ cursor, ...rest }) => rest)

  async function stop() {
    await (world as World).stop()
    place.at = null
  }

  async function moveThere(
    onProgress: (progress: MoveProgress) => void = () => {},
    mostRows?: number,
  ) {
    const move = await MoveIntoPostgres.open({ dataDir: world.dataDir, url, now, mostRows })
    try {
      const counts = await move.run(onProgress)
      expect(await move.differingCount()).toBeNull()
      const views = [viewOfDirectory(world.dataDir), await viewOfDatabase(url, now)] as const
      expect(await differingFlow(views, now(), () => {})).toBeNull()
      for (const view of views) await view.close()
      await move.end(true)
      return counts
    } finally {
      await move.close()
    }
  }

  async function moveBack(onProgress: (progress: MoveProgress) => void = () => {}) {
    const move = await MoveIntoDirectory.open({ dataDir: target, url, now })
    try {
      const counts = await move.run(onProgress)
      expect(await move.differingCount()).toBeNull()
      await move.end()
      return counts
    } finally {
      await move.close()
    }
  }

  test('there and back: all that can be asked is answered as before', async () => {
    const before = await told(tenants, place.clock)
    const events = await Promise.all(tenants.map(tenant => tenant.events()))
    await stop()
    const counts = await moveThere()
    expect(counts.get('events')).toBe(events.flat().length)
    for (const table of [
      'runs',
      'ticks',
      'dead_letters',
      'erasures',
      'deleted_events',
      'loose_facts',
    ]) {
      expect([table, counts.get(table)]).not.toEqual([table, 0])
    }

    // The next publish is dated later than that.
    const [ledgers] = await server.ask<{ latest: number }>(
      'select min(latest_at) as latest from ledgers',
      url,
    )
    const received = events.flat().map(({ receivedAt }) => receivedAt)
    expect(ledgers!.latest).toBe(Math.max(...received))

    place.at = await PostgresWorld.open(url, place.clock)
    expect(await told(tenants, place.clock)).toEqual(before)
    // Cursors too, so that readers of the log go on where they were.
    for (const [i, tenant] of tenants.entries()) expect(await tenant.events()).toEqual(events[i]!)
    const again = await tenants[0]!.append([
      tenants[0]!.event('event-259', { kind: 'custom', name: 'a' }),
      tenants[0]!.event('new', { kind: 'custom', name: 'a' }),
    ])
    expect(again.duplicates).toHaveLength(existsIn(events[0]!, 'event-259') ? 1 : 0)
    const news = await tenants[0]!.eventsAfter(events[0]!.at(-1)!.cursor)
    expect(news?.map(({ id }) => id)).toContain('new')
    const [run] = await tenants[0]!.runs('welcome')
    await goOn(tenants[0]!, run!, 'while there')
    const whileThere = await told(tenants, place.clock)
    const logs = await Promise.all(tenants.map(tenant => tenant.events()))
    await place.at.close()

    await moveBack()
    place.at = lawWorld({ dataDir: target, clock: place.clock })
    expect(await told(tenants, place.clock)).toEqual(whileThere)
    for (const [i, tenant] of tenants.entries()) {
      expect(withoutCursors(await tenant.events())).toEqual(withoutCursors(logs[i]!))
      const cursor = logs[i]!.at(-1)!.cursor
      expect(withoutCursors(await tenant.eventsAfter(cursor))).toEqual(withoutCursors(logs[i]!))
      const known = logs[i]!.at(-1)!
      const more = [tenant.event(known.id, { kind: 'custom', name: 'a' })]
      expect((await tenant.append(more)).duplicates).toEqual([0])
    }
    const runs = (await tenants[0]!.runs('welcome')).length
    await goOn(tenants[0]!, run!, 'back again')
    expect(await tenants[0]!.runs('welcome')).toHaveLength(runs)
    expect(await rebuilt(place.store)).toBe(0)
  })

  /** Something more happens in a run, which has to be found by its key. */
  const goOn = (tenant: Tenant, { key, person }: { key: string; person: string }, id: string) =>
    tenant.append([
      tenant.event(id, {
        ...{ kind: 'step_viewed', flowKey: 'welcome', stepKey: 'menu' },
        ...(person.startsWith('u')
          ? { userId: person.slice(1) }
          : { anonymousId: person.slice(1) }),
        ...(key.startsWith('r') && { runId: key.slice(1) }),
        ...(key.startsWith('s') && { sessionId: JSON.parse(key.slice(1))[1] }),
      }),
    ])

  test.each(['flows', 'runs', 'ticks', 'events'])(
    'interrupted in %s, it goes on there',
    async table => {
      const before = await told(tenants, place.clock)
      await stop()
      let pages = 0
      const interrupt = (progress: MoveProgress) => {
        if (progress.table === table && ++pages === 3) throw new Error('interrupted')
      }
      await expect(moveThere(interrupt, table === 'flows' ? 1 : 7)).rejects.toThrow('interrupted')
      const seen: string[] = []
      await moveThere(progress => seen.push(progress.table), 7)
      expect(seen[0]).toBe(table)
      place.at = await PostgresWorld.open(url, place.clock)
      expect(await told(tenants, place.clock)).toEqual(before)
    },
  )

  test('back starts over if it was interrupted', async () => {
    await stop()
    await moveThere()
    const interrupt = ({ table }: MoveProgress) => {
      if (table === 'events') throw new Error('interrupted')
    }
    await expect(moveBack(interrupt)).rejects.toThrow('interrupted')
    expect(existsSync(join(target, 'cairn.db'))).toBe(false)
    await moveBack()
    expect(existsSync(join(target, 'moving'))).toBe(false)
    place.at = lawWorld({ dataDir: target, clock: place.clock })
    expect((await tenants[0]!.events()).length).toBeGreaterThan(0)
  })

  test('back keeps each organisation’s order, and the retention finds what is old', async () => {
    await stop()
    await moveThere()
    // Two nodes may store it like this around midnight.
    await server.ask(
      `update events set received_at = received_at + ${day}, day = day + 1 where seq % 3 = 0`,
      url,
    )
    place.at = await PostgresWorld.open(url, place.clock)
    const logs = await Promise.all(tenants.map(tenant => tenant.events()))
    await place.at.close()
    await moveBack()
    const back = lawWorld({ dataDir: target, clock: place.clock })
    place.at = back
    for (const [i, tenant] of tenants.entries()) {
      expect(withoutCursors(await tenant.events())).toEqual(withoutCursors(logs[i]!))
    }
    const days = 12
    back.storage.housekeeping.retentionDays = days
    await back.retainAll()
    const left = await Promise.all(tenants.map(tenant => tenant.events()))
    const since = (days: number) => (event: { receivedAt: number }) =>
      event.receivedAt >= now() - days * day
    // The events of a day are deleted with the last of them.
    expect(left.flat().filter(event => !since(days + 2)(event))).toEqual([])
    expect(left.flat().filter(since(days))).toHaveLength(logs.flat().filter(since(days)).length)
    expect(left.flat().length).toBeLessThan(logs.flat().length)
  })

  const connections = pgbouncerProgram ? ['straight', 'through PgBouncer'] : ['straight']
  test.each(connections)('is rejected while a node or another move runs: %s', async connection => {
    await stop()
    await using pooler = connection === 'straight' ? null : await Pgbouncer.open(server.port)
    if (pooler) url = pooler.through(url)
    const node = await PostgresWorld.open(url, place.clock)
    await expect(moveThere()).rejects.toThrow('a server runs on this database (test): stop all')
    await node.close()
    const move = await MoveIntoPostgres.open({ dataDir: world.dataDir, url, now })
    const postgres = Postgres.open(url, { most: 1 })
    try {
      await expect(requireNoMove(postgres)).rejects.toThrow('is not done')
      await expect(moveThere()).rejects.toThrow('another "cairn move" is at work')
      await expect(moveBack()).rejects.toThrow('another "cairn move" is at work')
      await move.close()
      await expect(moveBack()).rejects.toThrow('is not done: run "cairn move"')
      await moveThere()
      await requireNoMove(postgres)
    } finally {
      await postgres.close()
    }
  })

  test('goes only into an empty database, and from a directory that has not changed', async () => {
    await stop()
    const interrupt = () => {
      throw new Error('interrupted')
    }
    await expect(moveThere(interrupt)).rejects.toThrow('interrupted')
    await lawWorld(world).stop()
    await expect(moveThere()).rejects.toThrow('has changed since its move')
    url = await server.newDatabase()
    await moveThere()
    await expect(moveThere()).rejects.toThrow('this data directory was moved into this database')
    await expect(MoveIntoDirectory.open({ dataDir: world.dataDir, url, now })).rejects.toThrow(
      'holds a database already',
    )
    await server.ask("update moves set state = 'failed'", url)
    await expect(moveThere()).rejects.toThrow('came out wrong')
    await server.ask("update moves set directory = 'another'", url)
    await expect(moveThere()).rejects.toThrow('the move of another data directory')
    await server.ask('delete from moves', url)
    await expect(moveThere()).rejects.toThrow('holds organisations already')
  })

  test('back is rejected if a node runs meanwhile', async () => {
    await stop()
    await moveThere()
    const move = await MoveIntoDirectory.open({ dataDir: target, url, now })
    await move.run(() => {})
    const node = await PostgresWorld.open(url, place.clock)
    await expect(move.end()).rejects.toThrow('a server runs on this database')
    place.at = node
    await tenants[0]!.append([tenants[0]!.event('late', { kind: 'custom', name: 'a' })])
    await node.close()
    place.at = null
    await expect(move.end()).rejects.toThrow('a server ran on the database meanwhile')
    await move.close()
    expect(existsSync(join(target, 'cairn.db'))).toBe(false)
  })

  test('differences are found: a missing row, a flow with other numbers', async () => {
    await stop()
    await moveThere()
    await server.ask('update runs set completed_at = started_at + 1', url)
    const views = [viewOfDirectory(world.dataDir), await viewOfDatabase(url, now)] as const
    expect(await differingFlow(views, now(), () => {})).toContain('has other analytics from')
    for (const view of views) await view.close()
  })
})

const existsIn = (events: { id: string }[], id: string) => events.some(event => event.id === id)

test('every table of a data directory is moved, or is known not to be a source of truth', () => {
  const database = new Database(':memory:')
  migrate(database, 0)
  const made = database
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table'")
    .all()
    .map(({ name }) => name)
  const moved = movedTables(database).map(({ name }) => name)
  expect(made.filter(name => !moved.includes(name)).sort()).toEqual([
    // Events are moved another way.
    'event_batch_flows',
    'event_batches',
    // What makes SQLite fast.
    'event_id_chunks',
    'event_id_segments',
    'migrations',
    'run_blocks',
    'runs_by_key_chunks',
    'runs_by_key_segments',
    // Only one row of this is moved.
    'server_state',
    'sqlite_sequence',
  ])
})
