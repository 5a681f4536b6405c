import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AppError } from '../../src/core/errors.ts'
import type { NewEvent } from '../../src/core/ports.ts'
import { openForWriting } from '../../src/storage/database.ts'
import { poison, storedEvents } from '../support/ledger.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../support/stored-history.ts'
import { World } from '../support/world.ts'

let world: World
let stored: StoredWorld

const flows = [
  {
    key: 'welcome',
    versions: [{ version: 1, publishedAt: 0, steps: [{ key: 'a' }], items: [] }],
  },
]

beforeEach(() => {
  world = new World()
  stored = storeFlows(world, flows)
})
afterEach(() => world.close())

const custom = (id: string, name = 'x'): NewEvent =>
  newEventOf(stored, { kind: 'custom', userId: 'u', name, at: world.clock.now() }, id)

const started = (id: string, userId = 'u'): NewEvent =>
  newEventOf(stored, { kind: 'flow_started', userId, flowKey: 'welcome', at: 1 }, id)

const append = (...events: NewEvent[]) =>
  world.stores.ledger.append({
    orgRow: stored.orgRow,
    receivedAt: world.clock.now(),
    events,
    refusals: {},
    skewMs: null,
  })

const idsIn = (database: Database) =>
  storedEvents(database)
    .map(({ id }) => id)
    .toSorted()

const storedIds = () => idsIn(world.database)

describe('group commit', () => {
  test('what arrives together is one transaction', async () => {
    const changes = () =>
      world.reading.query<{ data_version: number }, []>('pragma data_version').get()
        ?.data_version as number
    const before = changes()
    await Promise.all(Array.from({ length: 50 }, (_, i) => append(custom(`e${i}`))))
    expect(storedIds()).toHaveLength(50)
    expect(changes() - before).toBe(1)
  })

  test('an answer comes only after the commit: another connection sees the event by then', async () => {
    await append(custom('a'))
    expect(idsIn(world.reading)).toEqual(['a'])
  })

  test('of two equal ids at the same moment one is stored, and the other is told', async () => {
    const outcomes = await Promise.all([append(custom('a')), append(custom('a'), custom('a'))])
    expect(outcomes.map(({ duplicates }) => duplicates)).toEqual([[], [0, 1]])
    expect(storedIds()).toEqual(['a'])
  })

  test('rows and projections are there together', async () => {
    await append(started('a'), started('b', 'v'))
    expect(world.reading.query('select person from runs order by person').values()).toEqual([
      ['uu'],
      ['uv'],
    ])
  })
})

describe('a poison event', () => {
  test('ends in the dead letters with its reason; its neighbours are kept', async () => {
    poison(world.database, 'bad')
    const [mine, other] = await Promise.all([
      append(custom('a'), custom('b', 'bad'), started('c')),
      append(custom('d')),
    ])
    expect(mine).toEqual({ duplicates: [], deadLetters: [1], erased: [] })
    expect(other).toEqual({ duplicates: [], deadLetters: [], erased: [] })
    expect(storedIds()).toEqual(['a', 'c', 'd'])
    const letters = world.database
      .query<{ error: string; event: string }, []>('select error, event from dead_letters')
      .all()
    expect(letters).toHaveLength(1)
    expect(letters[0]?.error).toContain('poisoned')
    expect(JSON.parse(letters[0]?.event ?? '{}').id).toBe('b')
    expect(world.reading.query('select count(*) as n from runs').get()).toEqual({ n: 1 })
  })

  test('leaves its id free', async () => {
    poison(world.database, 'bad')
    await append(custom('a', 'bad'))
    expect(await append(custom('a'))).toEqual({ duplicates: [], deadLetters: [], erased: [] })
  })

  test('in a projection leaves no half of itself', async () => {
    world.database.run(
      `create trigger poison before insert on runs when new.person = 'ubad'
      begin select raise(abort, 'poisoned'); end`,
    )
    const outcome = await append(started('a'), started('b', 'bad'), started('c', 'v'))
    expect(outcome.deadLetters).toEqual([1])
    expect(storedIds()).toEqual(['a', 'c'])
    expect(world.database.query('select person from runs order by 1').values()).toEqual([
      ['uu'],
      ['uv'],
    ])
  })
})

describe('a database that cannot be written for a while', () => {
  test('refuses everything that waits, keeps nothing of it, and heals by itself', async () => {
    world.database.run('pragma busy_timeout = 1')
    const other = openForWriting(world.dataDir)
    other.run('begin immediate')
    const refused = await Promise.allSettled([append(custom('a')), append(custom('b'))])
    for (const outcome of refused) {
      expect(outcome.status).toBe('rejected')
      const { reason } = outcome as PromiseRejectedResult
      expect(reason).toBeInstanceOf(AppError)
      expect(reason.code).toBe('overloaded')
      expect(reason.retryAfterSeconds).toBeGreaterThan(0)
    }
    expect(world.gauge.isRefused).toBe(true)
    // Who was seen is written later, and is no fault to tell of every other second.
    world.stores.presence.mark(stored.orgRow, 'heartbeat', world.clock.now())
    await world.storage.writePresence()
    other.run('rollback')
    other.close()
    // It tries by itself: a server that is not ready may have no callers.
    world.storage.watch()
    await Bun.sleep(0)
    expect(world.gauge.isRefused).toBe(false)
    await world.storage.writePresence()
    expect(world.reading.query('select org_id from presence').values()).toEqual([[stored.orgRow]])
    expect(storedIds()).toEqual([])
    expect(await append(custom('a'))).toEqual({ duplicates: [], deadLetters: [], erased: [] })
    expect(world.gauge.events).toBe(0)
  })

  test('is found out when nobody writes, and not tried while the last commit is recent', async () => {
    for (const { proveEveryMs, isFound } of [
      { proveEveryMs: 0, isFound: true },
      { proveEveryMs: 60_000, isFound: false },
    ]) {
      const idle = new World({ policy: { proveEveryMs } })
      idle.database.run('pragma busy_timeout = 1')
      const other = openForWriting(idle.dataDir)
      other.run('begin immediate')
      idle.storage.watch()
      expect(idle.gauge.isRefused).toBe(isFound)
      other.run('rollback')
      other.close()
      idle.storage.watch()
      expect(idle.gauge.isRefused).toBe(false)
      await idle.close()
    }
  })
})

describe('what was acknowledged with ack=buffer', () => {
  test('is kept when its group is taken apart and the database then refuses', async () => {
    const quick = new World({ ack: 'buffer' })
    const own = storeFlows(quick, flows)
    poison(quick.database, 'bad')
    quick.database.run('pragma busy_timeout = 1')
    const other = openForWriting(quick.dataDir)
    const batch = { orgRow: own.orgRow, receivedAt: 0, refusals: {}, skewMs: null }
    await quick.stores.ledger.append({ ...batch, events: [custom('a', 'bad'), custom('b')] })
    await quick.stores.ledger.append({ ...batch, events: [custom('c')] })
    // The first transaction meets the poison; those of the parts meet a lock.
    const { run } = quick.database
    quick.database.run = ((sql: string, ...rest: []) => {
      if (sql === 'rollback') {
        quick.database.run = run
        run.call(quick.database, sql)
        other.run('begin immediate')
        return
      }
      return run.call(quick.database, sql, ...rest)
    }) as never
    expect(await quick.storage.flush()).toBe(2)
    other.run('rollback')
    other.close()
    expect(await quick.storage.flush()).toBe(0)
    expect(idsIn(quick.reading)).toEqual(['b', 'c'])
    await quick.close()
  })
})

describe('the buffer', () => {
  test('keeps what was acknowledged while the database refuses, and stores it later', async () => {
    const quick = new World({ ack: 'buffer' })
    const own = storeFlows(quick, flows)
    quick.database.run('pragma busy_timeout = 1')
    const other = openForWriting(quick.dataDir)
    other.run('begin immediate')
    const batch = { orgRow: own.orgRow, receivedAt: 0, refusals: {}, skewMs: null }
    await quick.stores.ledger.append({ ...batch, events: [custom('a'), custom('b')] })
    expect(await quick.storage.flush()).toBe(1)
    expect(quick.gauge.events).toBe(2)
    other.run('rollback')
    other.close()
    expect(await quick.storage.flush()).toBe(0)
    expect(idsIn(quick.reading)).toEqual(['a', 'b'])
    await quick.close()
  })

  test('is empty again after everything is committed', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => append(custom(`e${i}`))))
    expect(world.gauge.events).toBe(0)
    expect(world.gauge.bytes).toBe(0)
  })

  test('refuses what would not fit, and stores nothing of it', async () => {
    const small = new World({ bufferBounds: { events: 3, bytes: 1_000_000 } })
    const own = storeFlows(small, flows)
    const send = (...ids: string[]) =>
      small.stores.ledger.append({
        orgRow: own.orgRow,
        receivedAt: 0,
        events: ids.map(id => ({ ...custom(id) })),
        refusals: {},
        skewMs: null,
      })
    const first = send('a', 'b')
    await expect(send('c', 'd')).rejects.toMatchObject({ code: 'overloaded' })
    await first
    await send('c', 'd')
    expect(idsIn(small.database)).toHaveLength(4)
    await small.close()
  })

  test('with ack=buffer an event is acknowledged before its commit, and committed soon', async () => {
    const quick = new World({ ack: 'buffer' })
    const own = storeFlows(quick, flows)
    const outcome = await quick.stores.ledger.append({
      orgRow: own.orgRow,
      receivedAt: 0,
      events: [custom('a')],
      refusals: {},
      skewMs: null,
    })
    expect(outcome).toEqual({ duplicates: [], deadLetters: [], erased: [] })
    expect(idsIn(quick.reading)).toHaveLength(0)
    await quick.storage.flush()
    expect(idsIn(quick.reading)).toHaveLength(1)
    await quick.close()
  })
})
