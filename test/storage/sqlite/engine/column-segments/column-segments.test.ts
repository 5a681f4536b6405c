import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { minuteMs } from '../../../../../src/core/time/durations.ts'
import { analyticsService, questionOf } from '../../../../../src/modules/analytics/service.ts'
import { openForWriting } from '../../../../../src/storage/sqlite/database/database.ts'
import type { ColumnSegments } from '../../../../../src/storage/sqlite/engine/column-segments/column-segments.ts'
import {
  defaultSealPolicy,
  type SealedSegment,
  type Sealer,
} from '../../../../../src/storage/sqlite/engine/column-segments/sealer.ts'
import { rebuild } from '../../../../../src/storage/sqlite/projections/rebuild.ts'
import type { RefEvent } from '../../../../support/analytics-reference.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../../support/stored-history.ts'
import { World } from '../../../../support/world.ts'

/** Column segments, and what removes them. The laws of analytics check that their numbers are right. */

let world: World
let stored: StoredWorld

const sealing = { ...defaultSealPolicy, runsPerSegment: 10, changesToLook: 1, pauseMs: 0 }
const flow = {
  key: 'welcome',
  versions: [
    {
      version: 1,
      publishedAt: 0,
      steps: [{ key: 'a' }, { key: 'b' }],
      items: [
        { key: 'one', completeOn: 'did_one' },
        { key: 'two', completeOn: null },
      ],
    },
  ],
}

const start = Date.UTC(2026, 10, 1)

beforeEach(() => {
  world = new World({ sealing })
  world.database.run('pragma synchronous = off')
  stored = storeFlows(world, [flow])
})
afterEach(() => world.close())

let sent = 0

const send = async (...events: Omit<RefEvent, 'flowKey'>[]) => {
  const outcome = await world.byRow.ledger.append({
    orgRef: stored.orgRow,
    receivedAt: world.clock.now(),
    events: events.map(event => {
      const flowKey = event.kind === 'custom' ? {} : { flowKey: 'welcome' }
      return newEventOf(stored, { ...event, ...flowKey }, `event-${sent++}`)
    }),
    refusals: {},
    skewMs: null,
  })
  await world.storage.projected()
  return outcome
}

const view = (run: number, at = start + run * minuteMs, stepKey = 'a'): RefEvent => ({
  kind: 'step_viewed',
  stepKey,
  userId: `u${run}`,
  runId: `r${run}`,
  at,
})

const sendRuns = (from: number, to: number) =>
  send(...Array.from({ length: to - from }, (_, i) => view(from + i)))

const segments = () =>
  world.database
    .query<{ from_at: number; to_at: number; runs: number }, []>(
      'select from_at, to_at, runs from run_blocks order by from_at',
    )
    .all()

const sizes = () => segments().map(({ runs }) => runs)

async function answer() {
  const entry = world.stores.catalogue().flow(stored.flowIds.get('welcome') as string)!
  const question = questionOf(entry, { from: '2026-10-30', to: '2026-11-20' }, world.clock.now())
  const { generatedAt, ...numbers } = await analyticsService(world).answer(
    question,
    new AbortController().signal,
  )
  return numbers
}

describe('runs that have come to rest', () => {
  test('years apart are in segments that end before their numbers overflow', async () => {
    const year = 365 * 86_400_000
    await send(...Array.from({ length: 12 }, (_, i) => view(i, start - i * year)))
    await world.sealAll()
    expect(sizes().every(runs => runs === 1)).toBe(true)
    expect((await answer()).totals.starts).toBe(1)
  })
})

describe('a segment', () => {
  test('is given up if a run comes into it at any moment while it is made', async () => {
    const inside = world.storage.housekeeping as unknown as {
      deps: { segments: ColumnSegments }
      sealer: Sealer
      sealing: Generator<SealedSegment | null>
      write(segment: SealedSegment): Promise<void>
    }
    const size = 40
    await sendRuns(0, size)
    for (let steps = 1; steps <= 8; steps++) {
      world.database.run('delete from run_blocks')
      inside.deps.segments.externalChange()
      inside.sealing = inside.sealer.work()
      for (let step = 0; step < steps; step++) {
        const { value: segment } = inside.sealing.next()
        if (segment) await inside.write(segment)
      }
      // Between the runs of the first segment, and of the second.
      await send(view(size + 2 * steps, start + 90_000 + steps))
      await send(view(size + 2 * steps + 1, start + 12.5 * minuteMs + steps))
      await world.sealAll()
      const sealed = await answer()
      expect(sealed.totals.starts).toBe(size + 2 * steps)
      world.database.run('delete from run_blocks')
      expect(await answer()).toEqual(sealed)
    }
  })

  test('that cannot be written is tried again a minute later', async () => {
    await sendRuns(0, 11)
    world.database.run(
      `create trigger full before insert on run_blocks begin select raise(abort, 'no room'); end`,
    )
    await expect(world.sealAll()).rejects.toThrow('no room')
    world.database.run('drop trigger full')
    await world.sealAll()
    expect(sizes()).toEqual([])
    world.clock.advance(minuteMs)
    await world.sealAll()
    expect(sizes()).toEqual([10])
  })

  test('made of steps of another version is no longer used when there is a newer one', async () => {
    const flowRow = stored.flowRows.get('welcome') as number
    await sendRuns(0, 11)
    const publish = (version: number, steps: string[]) => {
      const rows = steps.map(key => stored.stepRows.get(`welcome/${key}`))
      world.database.run(
        `insert into flow_versions select flow_id, ?, ?, body, ?, item_rows
        from flow_versions where flow_id = ? and version = 1`,
        [version, start + version, JSON.stringify(rows), flowRow],
      )
      world.database.run('insert into catalogue_changes (org_id) values (?)', [stored.orgRow])
      world.takeUp()
    }
    publish(2, ['a'])
    // Runs of a version without step b, which therefore stands where the newest version has it.
    const named = (i: number, stepKey: string) => ({
      ...view(i, undefined, stepKey),
      flowVersion: 2,
    })
    for (let i = 11; i < 40; i++) await send(named(i, 'a'), named(i, 'b'))
    await world.sealAll()
    const droppedAt = async () =>
      Object.fromEntries((await answer()).steps.map(step => [step.key, step.droppedHere]))
    const before = await droppedAt()
    publish(3, ['b', 'a'])
    const made = sizes()
    const asRows = await droppedAt()
    expect(asRows).not.toEqual(before)
    // The sealer looks again at the next change, or when another process changes the catalogue.
    await send(view(0, undefined, 'b'))
    await world.sealAll()
    expect(sizes().length).toBeGreaterThanOrEqual(made.length)
    const versions = world.database
      .query<{ flow_versions: number | null }, []>('select distinct flow_versions from run_blocks')
      .all()
    expect(versions.map(row => row.flow_versions).toSorted()).toEqual([3, null].toSorted())
  })
})

describe('a rebuild by another process', () => {
  test('removes the segments, and the server makes them again', async () => {
    await sendRuns(0, 31)
    await world.sealAll()
    const before = await answer()
    const own = openForWriting(world.dataDir)
    world.database.run("update runs set completed_at = 9, dismissed_at = 9, steps = '[]'")
    world.database.run("update run_blocks set columns = x'00'")
    expect(rebuild(own).changed).toBe(1)
    own.close()
    expect(sizes()).toEqual([])
    expect(await answer()).toEqual(before)
    await world.storage.watch()
    await world.sealAll()
    expect(sizes()).toEqual([10, 10, 10])
    expect(await answer()).toEqual(before)
  })
})

test('an answer that is under way sees every run once, whatever is sealed or changed meanwhile', async () => {
  await sendRuns(0, 95)
  const find = () => world.stores.catalogue().flow(stored.flowIds.get('welcome') as string)!
  const entry = world.byRow.catalogue().flow(stored.flowIds.get('welcome') as string)!
  const { range } = questionOf(find(), { from: '2026-10-30', to: '2026-11-20' }, world.clock.now())
  const runs = { orgRef: stored.orgRow, flowRef: entry.ref, versions: entry.versions }
  const meanwhile = [
    () => world.sealAll(),
    () => send(view(3, undefined, 'b'), view(45, start + minuteMs, 'b'), view(90, start + 1)),
    () => world.sealAll(),
    () => send(view(94, start + 2 * minuteMs)),
    () => sendRuns(95, 99),
  ]
  for (let first = 0; first < meanwhile.length; first++) {
    let count = 0
    let turn = first
    const expected = (await answer()).totals.starts
    for await (const columns of world.byRow.analytics.columns(runs, range)) {
      count += columns.count
      await meanwhile[turn++ % meanwhile.length]!()
    }
    expect(count).toBe(expected)
  }
  expect((await answer()).totals.starts).toBe(99)
})
