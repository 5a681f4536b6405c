import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../../src/core/errors.ts'
import { armFailpoints } from '../../../../src/failpoints.ts'
import type { NewEvent } from '../../../../src/storage/shared/in-rows.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { poison, storedEvents } from '../../../support/ledger.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import { World } from '../../../support/world.ts'

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
  world.byRow.ledger.append({
    orgRef: stored.orgRow,
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
    await world.storage.projected()
    expect(world.reading.query('select count(*) as n from runs').get()).toEqual({ n: 1 })
  })

  test('in a group of thousands costs one more commit, not one per command', async () => {
    poison(world.database, 'bad')
    const version = world.reading.query<{ data_version: number }, []>('pragma data_version')
    const before = version.get()!.data_version
    const outcomes = await Promise.all(
      Array.from({ length: 3_000 }, (_, i) => append(custom(`e${i}`, i === 1_500 ? 'bad' : 'x'))),
    )
    expect(outcomes.filter(({ deadLetters }) => deadLetters.length > 0)).toHaveLength(1)
    expect(outcomes[1_500]).toEqual({ duplicates: [], deadLetters: [0], erased: [] })
    expect(storedIds()).toHaveLength(2_999)
    expect(version.get()!.data_version - before).toBe(1)
  })

  test('that only a projection refuses is stored, and what follows from it is a dead letter', async () => {
    world.database.run(
      `create trigger poison before insert on runs when new.person = 'ubad'
      begin select raise(abort, 'poisoned'); end`,
    )
    const outcome = await append(started('a'), started('b', 'bad'), started('c', 'v'))
    expect(outcome.deadLetters).toEqual([])
    await world.storage.projected()
    expect(storedIds()).toEqual(['a', 'b', 'c'])
    const letters = world.database.query<{ event: string }, []>('select event from dead_letters')
    expect(letters.all().map(({ event }) => JSON.parse(event))).toEqual([
      expect.objectContaining({ id: 'b', isStored: true }),
    ])
    expect(world.database.query('select person from runs order by 1').values()).toEqual([
      ['uu'],
      ['uv'],
    ])
  })
})

describe('a report that the database refuses', () => {
  const person = { userId: 'bad', anonymousId: null }
  const letters = () =>
    world.database
      .query<{ event: string }, []>('select event from dead_letters order by seq')
      .all()
      .map(({ event }) => JSON.parse(event))

  test('of a completion, a tick or step health ends in the dead letters, and its caller is told', async () => {
    const { orgRow } = stored
    const flowRow = stored.flowRows.get('welcome')!
    poison(world.database, 'bad')
    world.database.run(
      `create trigger poison_health before insert on step_reports when new.message = 'bad'
      begin select raise(abort, 'poisoned'); end`,
    )
    const { ledger, steps } = world.byRow
    const times = { receivedAt: 7, completedAt: 7 }
    const items = [{ itemRef: 1, completed: true }]
    const report = {
      orgRef: orgRow,
      stepRef: 1,
      version: 1,
      person: null,
      outcome: 'found',
      at: 7,
    } as const
    const details = { url: null, selector: null, matchCount: null, waitMs: null }
    const outcomes = await Promise.allSettled([
      append(custom('a')),
      ledger.complete({ orgRef: orgRow, flowRef: flowRow, runId: null, ...person, ...times }),
      ledger.tick({ orgRef: orgRow, flowRef: flowRow, items, ...person, receivedAt: 7 }),
      steps.recordHealth({ ...report, ...details, message: 'bad', snippetVersion: null }),
      append(custom('b')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
      'fulfilled',
    ])
    expect(letters()).toMatchObject([
      { type: 'complete', orgRow, flowRow, userId: 'bad', completedAt: 7 },
      { type: 'tick', orgRow, flowRow, userId: 'bad', items: [{ itemRow: 1, completed: true }] },
      { type: 'health', orgRow, stepRow: 1, message: 'bad' },
    ])
    expect(storedIds()).toEqual(['a', 'b'])
    expect(world.gauge.isRefused).toBe(false)
  })

  test('is not given up if no report is to blame, and storage refuses writes', async () => {
    world.database.run(
      `create trigger letters before insert on dead_letters begin select raise(abort, 'no'); end`,
    )
    poison(world.database, 'bad')
    await expect(append(custom('a', 'bad'))).rejects.toMatchObject({ code: 'overloaded' })
    expect(world.gauge.isRefused).toBe(true)
    expect(storedIds()).toEqual([])
  })
})

describe('a database that cannot be written for a while', () => {
  test('refuses everything that waits, keeps nothing of it, and recovers by itself', async () => {
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
    // Presence is written later, and its failure is not worth reporting every other second.
    world.byRow.presence.mark(stored.orgRow, 'heartbeat', world.clock.now())
    await world.storage.housekeeping.writePresence()
    other.run('rollback')
    other.close()
    // It retries by itself, because a server that is not ready may have no callers.
    world.storage.watch()
    await Bun.sleep(0)
    expect(world.gauge.isRefused).toBe(false)
    await world.storage.housekeeping.writePresence()
    expect(world.reading.query('select org_id from presence').values()).toEqual([[stored.orgRow]])
    expect(storedIds()).toEqual([])
    expect(await append(custom('a'))).toEqual({ duplicates: [], deadLetters: [], erased: [] })
    expect(world.gauge.events).toBe(0)
  })

  test('is noticed by background writes, at the next look', async () => {
    world.database.run('pragma busy_timeout = 1')
    const other = openForWriting(world.dataDir)
    other.run('begin immediate')
    world.byRow.presence.mark(stored.orgRow, 'heartbeat', world.clock.now())
    await expect(world.storage.housekeeping.writePresence()).rejects.toThrow('locked')
    // The write that probes the database fails as well.
    world.storage.watch()
    expect(world.gauge.isRefused).toBe(true)
    other.run('rollback')
    other.close()
    world.storage.watch()
    expect(world.gauge.isRefused).toBe(false)
  })

  test('is noticed when nobody writes, and not probed while the last commit is recent', async () => {
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

describe('a database that is no longer where it was', () => {
  const away = () => `${world.dataDir}-away`
  afterEach(() => rmSync(away(), { recursive: true, force: true }))

  test('is not written, because nobody would find the data, and recovers once it is back', async () => {
    renameSync(world.dataDir, away())
    await expect(append(custom('a'))).rejects.toMatchObject({ code: 'overloaded' })
    expect(world.gauge.isRefused).toBe(true)
    renameSync(away(), world.dataDir)
    expect(await append(custom('a'))).toEqual({ duplicates: [], deadLetters: [], erased: [] })
    expect(storedIds()).toEqual(['a'])
  })

  test.each(['cairn.db', 'cairn.db-wal'])('%s replaced by a copy is not written', async name => {
    const file = join(world.dataDir, name)
    renameSync(file, away())
    copyFileSync(away(), file)
    await expect(append(custom('a'))).rejects.toMatchObject({ code: 'overloaded' })
    rmSync(file)
    renameSync(away(), file)
    expect(await append(custom('a'))).toEqual({ duplicates: [], deadLetters: [], erased: [] })
  })
})

test('what fails after the commit is not stored again, and nothing is stored until a restart', async () => {
  armFailpoints('after_commit=error')
  const broken = new World()
  armFailpoints()
  const { orgRow } = storeFlows(broken, flows)
  const report = {
    orgRef: orgRow,
    stepRef: 1,
    version: 1,
    person: 'uu',
    outcome: 'found',
    at: 1,
  } as const
  const details = { url: null, selector: null, matchCount: null, waitMs: null, message: null }
  for (let time = 0; time < 2; time++) {
    const recorded = broken.byRow.steps.recordHealth({
      ...report,
      ...details,
      snippetVersion: null,
    })
    await expect(recorded).rejects.toThrow('could not be noted')
  }
  const stored = broken.reading.query('select count(*) as reports from step_reports')
  expect(stored.get()).toEqual({ reports: 1 })
  await broken.close()
})

describe('what was acknowledged with ack=buffer', () => {
  test('is only what came before storage refused, and the rest is refused too', async () => {
    const quick = new World({ ack: 'buffer' })
    const { orgRow } = storeFlows(quick, flows)
    quick.database.run('pragma busy_timeout = 1')
    const other = openForWriting(quick.dataDir)
    other.run('begin immediate')
    const batch = { orgRef: orgRow, receivedAt: 0, refusals: {}, skewMs: null }
    const send = (id: string) => quick.byRow.ledger.append({ ...batch, events: [custom(id)] })
    await send('a')
    await quick.storage.flush()
    await expect(send('b')).rejects.toMatchObject({ code: 'overloaded' })
    other.run('rollback')
    other.close()
    await quick.storage.flush()
    await send('c')
    await quick.storage.flush()
    expect(idsIn(quick.reading)).toEqual(['a', 'c'])
    await quick.close()
  })

  test('is kept when its group is taken apart and the database then refuses', async () => {
    const quick = new World({ ack: 'buffer' })
    const own = storeFlows(quick, flows)
    poison(quick.database, 'bad')
    quick.database.run('pragma busy_timeout = 1')
    const other = openForWriting(quick.dataDir)
    const batch = { orgRef: own.orgRow, receivedAt: 0, refusals: {}, skewMs: null }
    await quick.byRow.ledger.append({ ...batch, events: [custom('a', 'bad'), custom('b')] })
    await quick.byRow.ledger.append({ ...batch, events: [custom('c')] })
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
    const batch = { orgRef: own.orgRow, receivedAt: 0, refusals: {}, skewMs: null }
    await quick.byRow.ledger.append({ ...batch, events: [custom('a'), custom('b')] })
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
      small.byRow.ledger.append({
        orgRef: own.orgRow,
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
    const outcome = await quick.byRow.ledger.append({
      orgRef: own.orgRow,
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
