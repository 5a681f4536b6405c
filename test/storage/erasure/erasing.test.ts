import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { emptyLog } from '../../../src/storage/database/compact.ts'
import { openForWriting } from '../../../src/storage/database/database.ts'
import { beginRewriting } from '../../../src/storage/database/rewriting.ts'
import { allowAgain, finishErasures } from '../../../src/storage/erasure/erasures.ts'
import { entriesIn } from '../../../src/storage/hash-index/chunk.ts'
import type { NewEvent } from '../../../src/storage/in-rows.ts'
import { encodeEvents, rewriteEvents } from '../../../src/storage/ledger/event-text.ts'
import { rebuild } from '../../../src/storage/projections/rebuild.ts'
import { eraseBeside, textsIn } from '../../support/erasing.ts'
import { poison, storedEvents } from '../../support/ledger.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

let world: World
let acme: Tenant
let flow: PublishedFlow

beforeEach(async () => {
  world = new World()
  acme = await Tenant.of(world)
  flow = publishTo(acme)
})
afterEach(() => world.close())

const publishTo = (tenant: Tenant) =>
  tenant.publish({ key: 'tour', steps: [{ key: 'hello', kind: 'modal', title: 'Hello' }] })

const personOf = (tenant: Tenant, person: string) => ({
  orgRef: tenant.row,
  orgId: tenant.organisation.id,
  person,
})

const started = (more: Record<string, unknown>) => ({
  kind: 'flow_started',
  flowId: flow.id,
  ...more,
})

const runKeys = () =>
  world.database
    .query<{ run_key: string }, []>('select run_key from runs order by run_key')
    .all()
    .map(({ run_key }) => run_key)

describe('whose data it is', () => {
  test('the same id of another organisation, and of the other sort, is somebody else', async () => {
    const globex = await Tenant.of(world)
    const theirs = publishTo(globex)
    await acme.send([started({ userId: 'ada' }), started({ anonymousId: 'ada' })])
    await globex.send([started({ userId: 'ada', flowId: theirs.id })])
    expect(eraseBeside(world, personOf(acme, 'uada'))).toMatchObject({ events: 1, runs: 1 })
    const left = storedEvents(world.database).map(
      ({ userId, anonymousId }) => userId ?? anonymousId,
    )
    expect(left).toEqual([expect.stringMatching(/^erased-/), 'ada', 'ada'])
    expect((await globex.send([started({ userId: 'ada', flowId: theirs.id })])).status).toBe(202)
    expect((await acme.send([started({ anonymousId: 'ada' })])).status).toBe(202)
    expect((await acme.send([started({ userId: 'ada' })])).status).toBe(202)
    const taken = storedEvents(world.database, acme.row).map(({ userId, anonymousId }) => [
      userId,
      anonymousId,
    ])
    expect(taken).toEqual([
      [expect.stringMatching(/^erased-/), null],
      [null, 'ada'],
      [null, 'ada'],
    ])
  })

  test('a run that somebody else is in keeps its id; the last one to go takes it along', async () => {
    await acme.send([
      started({ anonymousId: 'browser', runId: 'shared-run' }),
      started({ userId: 'ada', runId: 'shared-run' }),
      started({ userId: 'ada', runId: 'own-run' }),
    ])
    eraseBeside(world, personOf(acme, 'uada'))
    expect(textsIn(world.dataDir, ['shared-run', 'own-run'])).toEqual(['shared-run'])
    expect(runKeys()).toEqual([expect.stringMatching(/^rerased-/), 'rshared-run'])
    eraseBeside(world, personOf(acme, 'abrowser'))
    expect(textsIn(world.dataDir, ['shared-run', 'browser'])).toEqual([])
    expect(runKeys()).toHaveLength(2)
  })

  test.each(['ann', 'zoe'])(
    'of two accounts in a run, %s goes and no number changes',
    async who => {
      const numbers = async () => {
        const { body } = await acme.answer(`GET /flows/${flow.id}/analytics`)
        return body
      }
      // Whoever has no other run is told apart by this one alone.
      await acme.send([
        started({ userId: 'ann', runId: 'shared' }),
        started({ userId: 'zoe', runId: 'shared' }),
        started({ userId: 'zoe', runId: 'own' }),
      ])
      const before = await numbers()
      expect(before.totals).toMatchObject({ starts: 2, uniqueUsers: 2 })
      eraseBeside(world, personOf(acme, `u${who}`))
      expect(await numbers()).toEqual(before)
      expect(rebuild(world.database).changed).toBe(0)
      expect(await numbers()).toEqual(before)
      await world.storage.watch()
      // The run goes on as whose it was.
      const other = who === 'ann' ? 'zoe' : 'ann'
      await acme.send([started({ userId: other, runId: 'shared', kind: 'flow_dismissed' })])
      expect((await numbers()).totals).toMatchObject({ starts: 2, uniqueUsers: 2, dismissals: 1 })
      expect(rebuild(world.database).changed).toBe(0)
    },
  )

  test('an anonymous id goes from the events of a user too, of whom all else stays', async () => {
    await acme.send([started({ userId: 'ada', anonymousId: 'browser', runId: 'r', url: 'u' })])
    eraseBeside(world, personOf(acme, 'abrowser'))
    const [event] = storedEvents(world.database)
    expect(event).toMatchObject({ userId: 'ada', runId: 'r', url: 'u' })
    await acme.send([started({ userId: 'ada', anonymousId: 'browser', runId: 'later' })])
    expect(storedEvents(world.database)[1]).toMatchObject({ userId: 'ada', anonymousId: null })
    expect(textsIn(world.dataDir, ['browser'])).toEqual([])
  })
})

describe('where the retention has deleted events', () => {
  const day = 86_400_000
  const runs = () =>
    world.database
      .query<{ run_key: string; person: string }, []>(
        'select run_key, person from runs order by run_key',
      )
      .all()
  /** Deletes what was received before now. */
  const deleteAll = async () => {
    world.clock.advance(91 * day)
    await world.retainAll()
  }

  test('of all of a person’s, their runs go under another name, and a rebuild keeps them', async () => {
    await acme.send([
      started({ userId: 'ada-lovelace', runId: 'her-run', sessionId: 'her-session' }),
      started({ userId: 'ada-lovelace', sessionId: 'her-session' }),
      { ...started({ userId: 'ada-lovelace' }), kind: 'flow_completed' },
    ])
    await deleteAll()
    expect(storedEvents(world.database)).toEqual([])
    expect(eraseBeside(world, personOf(acme, 'uada-lovelace'))).toMatchObject({
      events: 0,
      runs: 2,
    })
    expect(textsIn(world.dataDir, ['ada-lovelace', 'her-run', 'her-session'])).toEqual([])
    expect(new Set(runs().map(({ person }) => person)).size).toBe(1)
    expect(rebuild(world.database).changed).toBe(0)
  })

  test('of somebody else in the same run, it is theirs as before', async () => {
    await acme.send([started({ userId: 'ada', anonymousId: 'browser', runId: 'shared' })])
    await deleteAll()
    const dismissed = { anonymousId: 'browser', runId: 'shared', kind: 'flow_dismissed' }
    await acme.send([started(dismissed)])
    const before = runs()
    expect(before).toEqual([{ run_key: 'rshared', person: 'uada' }])
    eraseBeside(world, personOf(acme, 'abrowser'))
    expect(runs()).toEqual(before)
    expect(rebuild(world.database).changed).toBe(0)
    expect(textsIn(world.dataDir, ['browser'])).toEqual([])
    await acme.send([started({ userId: 'ada', runId: 'shared' })])
    expect(runs()).toEqual(before)
    eraseBeside(world, personOf(acme, 'uada'))
    expect(textsIn(world.dataDir, ['shared', 'uada'])).toEqual([])
    expect(rebuild(world.database).changed).toBe(0)
  })

  test('of the person alone, a run that others’ events name keeps its id', async () => {
    await acme.send([started({ userId: 'ada', runId: 'shared' })])
    await deleteAll()
    await acme.send([started({ anonymousId: 'browser', runId: 'shared' })])
    eraseBeside(world, personOf(acme, 'uada'))
    expect(runs()).toEqual([{ run_key: 'rshared', person: expect.stringMatching(/^uerased-/) }])
    expect(rebuild(world.database).changed).toBe(0)
    expect(textsIn(world.dataDir, ['uada', '"ada"'])).toEqual([])
  })
})

test('an anonymous id that was used before and beside a user’s in one run goes from it', async () => {
  await acme.send([
    started({ anonymousId: 'browser', runId: 'shared' }),
    started({ userId: 'ada', anonymousId: 'browser', runId: 'shared' }),
  ])
  eraseBeside(world, personOf(acme, 'abrowser'))
  expect(textsIn(world.dataDir, ['browser'])).toEqual([])
  expect(runKeys()).toEqual(['rshared'])
  expect(rebuild(world.database).changed).toBe(0)
})

test('dead letters and step reports go with the person', async () => {
  poison(world.database, 'poisoned')
  await acme.send([started({ userId: 'ada-lovelace', id: 'poisoned' })])
  await acme.send([started({ userId: 'bob-the-other', id: 'poisoned too' })])
  const step = `/steps/${flow.steps[0]?.id}/health`
  const report = { outcome: 'found', message: 'a message of hers', userId: 'ada-lovelace' }
  await acme.ask(`POST ${step}`, { body: report })
  expect(eraseBeside(world, personOf(acme, 'uada-lovelace'))).toMatchObject({
    deadLetters: 1,
    stepReports: 1,
  })
  const texts = ['ada-lovelace', 'a message of hers', 'bob-the-other']
  expect(textsIn(world.dataDir, texts)).toEqual(['bob-the-other'])
  const people = world.database.query('select count(*) as n from step_health').get()
  expect(people).toEqual({ n: 1 })
})

test('not even a hash of a name or an id is left in an index', async () => {
  const places = ['event_id', 'runs_by_key', 'runs_by_person'] as const
  const rowsIn = (name: string) =>
    world.database
      .query<{ entries: Uint8Array }, []>(`select entries from ${name}_chunks`)
      .all()
      .flatMap(({ entries }) => [...entriesIn(entries).rows]).length
  for (let i = 0; i < 20; i++) {
    const events = Array.from({ length: 50 }, (_, n) =>
      started({ userId: n % 10 ? 'bob' : 'ada', id: `e-${i}-${n}`, runId: `r-${i}-${n}` }),
    )
    acme.limit({ events: 100_000 })
    await acme.send(events)
  }
  // A start reads what is in no segment, and a stop seals what is worth it.
  world.database.run('pragma wal_checkpoint(truncate)')
  const sealed = sealAllIn(world)
  expect(places.map(rowsIn)).toEqual([sealed, sealed, sealed])
  eraseBeside(world, personOf(acme, 'uada'))
  // Of a run that was renamed the new row is in memory, and in a segment later.
  expect(places.map(rowsIn)).toEqual([900, 900, 900])
})

/** Puts entries of all that is stored into a segment of each index, as a stop of long running does. */
function sealAllIn({ storage }: World): number {
  const { executor } = storage as unknown as {
    executor: {
      ids: { seal(): void }
      projector: { runs: { index: { seal(row: number): void; nextRow: number } } }
      committed(): void
    }
  }
  storage.database.run('begin immediate')
  executor.ids.seal()
  const { index } = executor.projector.runs
  index.seal(index.nextRow - 1)
  storage.database.run('commit')
  executor.committed()
  return 1_000
}

test('what a server has in its buffer is refused as well', async () => {
  const { orgRef } = personOf(acme, '')
  const batch = (id: string) =>
    world.byRow.ledger.append({
      orgRef,
      receivedAt: world.clock.now(),
      events: [eventOf(id, 'ada'), eventOf(`${id}+`, 'bob')],
      refusals: {},
      skewMs: null,
    })
  await batch('before')
  const waiting = batch('waiting')
  eraseBeside(world, personOf(acme, 'uada'))
  expect(await waiting).toEqual({ duplicates: [], deadLetters: [], erased: [0] })
  expect(storedEvents(world.database).filter(({ userId }) => userId === 'ada')).toEqual([])
})

const eventOf = (id: string, userId: string): NewEvent => ({
  id,
  kind: 'custom',
  userId,
  anonymousId: null,
  flowRef: null,
  flowVersion: null,
  stepRef: null,
  itemRef: null,
  runId: null,
  sessionId: null,
  occurredAt: 1_000,
  reportedAt: null,
  url: null,
  name: 'x',
  reason: null,
  properties: null,
})

test('who is allowed again is taken again, and stays so when an older database is restored', async () => {
  await acme.send([started({ userId: 'ada' })])
  const ada = personOf(acme, 'uada')
  eraseBeside(world, ada)
  const own = openForWriting(world.dataDir)
  const older = own.query('select * from erasures').get() as Record<string, string | number>
  expect(allowAgain(own, world.dataDir, ada, world.clock.now() - 5_000)).toBe(true)
  expect(allowAgain(own, world.dataDir, ada, world.clock.now())).toBe(false)
  expect((await acme.send([started({ userId: 'ada' })])).status).toBe(202)
  own.run(
    `insert into erasures (org_id, key, person, asked_at, secret)
    values (?, ?, ?, ?, 'a secret')`,
    [older.org_id!, older.key!, older.person!, older.asked_at!],
  )
  expect(finishErasures(own, world.dataDir, world.clock.now()).unfinished).toBe(null)
  expect(own.query('select * from erasures').all()).toEqual([])
  eraseBeside(world, ada)
  own.close()
  await acme.send([started({ userId: 'ada' })])
  expect(storedEvents(world.database).map(({ userId }) => userId)).not.toContain('ada')
})

test('a start beside a command that erases or rebuilds serves, and leaves the rest to the next', async () => {
  await acme.send([started({ userId: 'ada-lovelace' })])
  eraseBeside(world, personOf(acme, 'uada-lovelace'), 1)
  const release = beginRewriting(world.dataDir)
  const { unfinished } = finishErasures(world.database, world.dataDir, 5)
  expect(unfinished).toContain('A person is being erased')
  release()
  expect(finishErasures(world.database, world.dataDir, 6).unfinished).toBeNull()
  expect(textsIn(world.dataDir, ['ada-lovelace'])).toEqual([])
})

test('a list that is lost is written again from the database', async () => {
  const ada = personOf(acme, 'uada')
  eraseBeside(world, ada)
  const file = `${world.dataDir}/erasures.jsonl`
  const before = await Bun.file(file).text()
  await Bun.file(file).delete()
  const own = openForWriting(world.dataDir)
  finishErasures(own, world.dataDir, world.clock.now())
  own.close()
  expect(await Bun.file(file).text()).toBe(before)
})

test('a reader as of before keeps the log from being emptied, and no longer than it reads', async () => {
  await acme.send([started({ userId: 'ada' })])
  const own = openForWriting(world.dataDir)
  world.snapshots.run('begin')
  world.snapshots.query('select count(*) from runs').get()
  await acme.send([started({ userId: 'ada' })])
  expect(emptyLog(own)).toBe(false)
  expect((await acme.send([started({ userId: 'ada' })])).status).toBe(202)
  world.snapshots.run('commit')
  expect(emptyLog(own)).toBe(true)
  own.close()
})

test('rewriting no event of a text changes nothing of it', () => {
  const text = fc.option(fc.constantFrom('a', 'b', ''), { nil: null })
  const events = fc.array(
    fc.record({
      id: fc.constantFrom('x', 'y'),
      userId: text,
      runId: text,
      url: text,
      reason: text,
    }),
    { minLength: 1 },
  )
  fc.assert(
    fc.property(fc.array(events, { minLength: 1, maxLength: 4 }), batches => {
      const parts = batches.map(batch =>
        encodeEvents(batch.map(event => ({ ...eventOf('', ''), ...event }))),
      )
      const whole = {
        count: parts.reduce((sum, { count }) => sum + count, 0),
        facts: parts.map(({ facts }) => facts).join(''),
        details: parts.map(({ details }) => details).join(''),
      }
      expect(rewriteEvents(whole, event => event)).toEqual(whole)
    }),
  )
})
