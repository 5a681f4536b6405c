import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../../../scripts/support/until.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { armFailpoints } from '../../../../src/failpoints.ts'
import { type Log, LogUnavailable, type Page } from '../../../../src/storage/log/log.ts'
import type { NewEvent } from '../../../../src/storage/shared/in-rows.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import type { Replica } from '../../../../src/storage/sqlite/replica/replica.ts'
import type { Executor } from '../../../../src/storage/sqlite/writer/commands.ts'
import { defaultWriterPolicy } from '../../../../src/storage/sqlite/writer/group-commit.ts'
import { Writer } from '../../../../src/storage/sqlite/writer/writer.ts'
import { poison, storedEvents } from '../../../support/ledger.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import { World } from '../../../support/world.ts'

/** Does not wait for others that write. */
const impatient = { lockPatienceMs: 1 }

let world: World
let stored: StoredWorld

const flows = [
  {
    key: 'welcome',
    versions: [{ version: 1, publishedAt: 0, steps: [{ key: 'a' }], items: [] }],
  },
]

beforeEach(() => {
  world = new World({ policy: impatient })
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

test('a commit that fails acknowledges nothing, and the next one is not affected', async () => {
  world.database.run('create table parents (id integer primary key)')
  world.database.run(
    'create table children (parent integer references parents (id) deferrable initially deferred)',
  )
  // A constraint that is checked only by the commit.
  world.database.run(
    `create trigger orphan after insert on event_batches
    begin insert into children (parent) values (1); end`,
  )
  await expect(append(custom('a'))).rejects.toMatchObject({ code: 'overloaded' })
  expect(storedIds()).toEqual([])
  world.database.run('drop trigger orphan')
  await append(custom('b'))
  expect(storedIds()).toEqual(['b'])
})

describe('a poison event', () => {
  test('that only a projection rejects is stored, and its consequences are a dead letter', async () => {
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

describe('a report that the database rejects', () => {
  test('is kept if no single report is the cause, and storage rejects writes', async () => {
    world.database.run(
      `create trigger letters before insert on dead_letters begin select raise(abort, 'no'); end`,
    )
    poison(world.database, 'bad')
    await expect(append(custom('bad'))).rejects.toMatchObject({ code: 'overloaded' })
    expect(world.live.buffer.isRejecting).toBe(true)
    expect(storedIds()).toEqual([])
  })
})

describe('a database that cannot be written for a while', () => {
  test('rejects all waiting writes, stores none of them, and recovers by itself', async () => {
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
    expect(world.live.buffer.isRejecting).toBe(true)
    // Presence is written later, and its failure is not worth reporting every other second.
    world.byRow.presence.mark(stored.orgRow, 'heartbeat', world.clock.now())
    await world.storage.housekeeping.writePresence()
    other.run('rollback')
    other.close()
    // It retries by itself, because a server that is not ready may have no callers.
    await world.storage.watch()
    await Bun.sleep(0)
    expect(world.live.buffer.isRejecting).toBe(false)
    await world.storage.housekeeping.writePresence()
    expect(world.reading.query('select org_id from presence').values()).toEqual([[stored.orgRow]])
    expect(storedIds()).toEqual([])
    expect(await append(custom('a'))).toEqual({ duplicates: [], deadLetters: [], erased: [] })
    expect(world.live.buffer.events).toBe(0)
  })

  test('is noticed when nobody writes, and not probed while the last commit is recent', async () => {
    for (const { proveEveryMs, isFound } of [
      { proveEveryMs: 0, isFound: true },
      { proveEveryMs: 60_000, isFound: false },
    ]) {
      const idle = new World({ policy: { ...impatient, proveEveryMs } })
      await idle.storage.flush()
      const other = openForWriting(idle.dataDir)
      other.run('begin immediate')
      await idle.storage.watch()
      expect(idle.live.buffer.isRejecting).toBe(isFound)
      other.run('rollback')
      other.close()
      await idle.storage.watch()
      expect(idle.live.buffer.isRejecting).toBe(false)
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
    expect(world.live.buffer.isRejecting).toBe(true)
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
  test('is only what arrived before a rejection, and all later writes are rejected too', async () => {
    const quick = new World({ ack: 'buffer', policy: impatient })
    const { orgRow } = storeFlows(quick, flows)
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

  test('is kept when its group is split and the database then rejects writes', async () => {
    const quick = new World({ ack: 'buffer', policy: impatient })
    const own = storeFlows(quick, flows)
    poison(quick.database, 'bad')
    const other = openForWriting(quick.dataDir)
    const batch = { orgRef: own.orgRow, receivedAt: 0, refusals: {}, skewMs: null }
    await quick.byRow.ledger.append({ ...batch, events: [custom('bad'), custom('b')] })
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
  test('keeps what was acknowledged while the database rejects writes, and stores it later', async () => {
    const quick = new World({ ack: 'buffer', policy: impatient })
    const own = storeFlows(quick, flows)
    const other = openForWriting(quick.dataDir)
    other.run('begin immediate')
    const batch = { orgRef: own.orgRow, receivedAt: 0, refusals: {}, skewMs: null }
    await quick.byRow.ledger.append({ ...batch, events: [custom('a'), custom('b')] })
    expect(await quick.storage.flush()).toBe(1)
    expect(quick.live.buffer.events).toBe(2)
    other.run('rollback')
    other.close()
    expect(await quick.storage.flush()).toBe(0)
    expect(idsIn(quick.reading)).toEqual(['a', 'b'])
    await quick.close()
  })

  test('rejects a write that does not fit, and stores none of its events', async () => {
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
})

test('a transaction that the log has given up while another process was writing is not begun', async () => {
  const database = openForWriting(world.dataDir)
  database.run('pragma busy_timeout = 0')
  const givenUp = Promise.withResolvers<never>()
  let late: Promise<unknown> | undefined
  const noPages = (async function* () {})()
  const log = {
    since: () => noPages,
    append(_: unknown, work: (since: AsyncIterable<Page>) => Promise<unknown>) {
      late = work(noPages)
      return Promise.race([late, givenUp.promise])
    },
  } as unknown as Log
  const replica = { begin() {}, collect: () => [], position: {} } as unknown as Replica
  const executor = { participants: { rollback() {} } } as unknown as Executor
  const following = { log, replica, now: Date.now, onTakenUp() {}, onPage: async () => {} }
  const writer = new Writer(database, executor, defaultWriterPolicy, {}, following)
  const other = openForWriting(world.dataDir)
  other.run('begin immediate')
  const changing = writer.change(() => database.run('create table late (id integer)'))
  await until(() => late !== undefined)
  givenUp.reject(new LogUnavailable('silent'))
  await expect(changing).rejects.toThrow('silent')
  other.run('rollback')
  await expect(late).rejects.toThrow('dropped this transaction')
  expect(database.inTransaction).toBe(false)
  database.close()
  other.close()
})
