import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs } from '../../../../../src/core/time/durations.ts'
import { parseQuery } from '../../../../../src/modules/analytics/query.ts'
import { analyticsService } from '../../../../../src/modules/analytics/service.ts'
import { openForWriting } from '../../../../../src/storage/sqlite/database/database.ts'
import { decodeBlock } from '../../../../../src/storage/sqlite/engine/run-blocks/block-bytes.ts'
import {
  type BlockMaker,
  defaultBlockPolicy,
  maxBlockMs,
} from '../../../../../src/storage/sqlite/engine/run-blocks/block-maker.ts'
import type { RunBlocks } from '../../../../../src/storage/sqlite/engine/run-blocks/run-blocks.ts'
import { rebuild } from '../../../../../src/storage/sqlite/projections/rebuild.ts'
import type { RefEvent } from '../../../../support/analytics-reference.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../../support/stored-history.ts'
import { World } from '../../../../support/world.ts'

/** Blocks of runs, and what deletes them. The laws of analytics check that their numbers are right. */

let world: World
let stored: StoredWorld

const blockPolicy = { ...defaultBlockPolicy, minRuns: 4, maxRuns: 10 }
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
  world = new World({ blockPolicy })
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

async function elsewhere(place: number): Promise<void> {
  const other = openForWriting(world.dataDir)
  const changed = other.run('update runs set dismissed_at = last_at where person = ?', [
    `uu${place}`,
  ])
  expect(changed.changes).toBe(1)
  // As whoever changes a run does.
  other.run('delete from run_blocks')
  other.close()
}

/** When each block begins, milliseconds after the start, how long it is, and how many runs it has. */
const blocks = () =>
  world.database
    .query<{ from_at: number; to_at: number; columns: Uint8Array }, []>(
      'select from_at, to_at, columns from run_blocks order by from_at',
    )
    .all()
    .map(row => [row.from_at - start, row.to_at - row.from_at, decodeBlock(row.columns).count])

const tenMinutes = (...places: number[]) =>
  places.map(place => [place * 10 * minuteMs, 10 * minuteMs, 10])

async function answer() {
  const entry = world.stores.catalogue().flow(stored.flowIds.get('welcome') as string)!
  const query = parseQuery(entry, { from: '2026-10-30', to: '2026-11-20' }, world.clock.now())
  const { generatedAt, ...numbers } = await analyticsService(world).analytics(
    query,
    new AbortController().signal,
  )
  return numbers
}

describe('a block', () => {
  test('covers the longest stretch that has ended and has not too many runs', async () => {
    // Sixteen of the twenty runs are half an hour old: ten minutes are complete.
    world.clock.moveTo(start + 45 * minuteMs + 1)
    await sendRuns(0, 20)
    await world.makeBlocks()
    expect(blocks()).toEqual(tenMinutes(0))
    // All twenty are too many for an hour.
    world.clock.moveTo(start + 3 * hourMs)
    await world.makeBlocks()
    expect(blocks()).toEqual(tenMinutes(0, 1))
    // In the next hours there are few enough for one, or too few for any.
    const hours = [1.2, 1.4, 1.6, 1.8, 3.5, 3.6]
    await send(...hours.map((hour, i) => view(20 + i, start + hour * hourMs)))
    world.clock.moveTo(start + 7 * hourMs)
    await world.makeBlocks()
    expect(blocks()).toEqual([...tenMinutes(0, 1), [hourMs, hourMs, 4]])
  })

  test('takes the place of shorter ones once a longer stretch has ended', async () => {
    const old = Math.floor(start / maxBlockMs) * maxBlockMs
    world.clock.moveTo(old + 9 * dayMs)
    await send(...Array.from({ length: 5 }, (_, i) => view(i, old + i)))
    await world.makeBlocks()
    expect(blocks()).toEqual([[old - start, 8 * dayMs, 5]])
    world.clock.moveTo(old + 33 * dayMs)
    await send(view(5, old + 32.5 * dayMs))
    await world.makeBlocks()
    expect(blocks()).toEqual([[old - start, maxBlockMs, 5]])
  })

  test('is deleted with the change of a run in it, and others stay', async () => {
    await sendRuns(0, 40)
    await world.makeBlocks()
    expect(blocks()).toEqual(tenMinutes(0, 1, 2, 3))
    await send(view(15, undefined, 'b'))
    expect(blocks()).toEqual(tenMinutes(0, 2, 3))
    await world.makeBlocks()
    expect(blocks()).toEqual(tenMinutes(0, 1, 2, 3))
  })

  test.each([
    ['this', (place: number) => send(view(place, undefined, 'b'))],
    ['another', elsewhere],
  ])(
    'is not written if %s connection changes a run at any moment while it is made',
    async (_, change) => {
      const inside = world.storage.housekeeping as unknown as {
        deps: { blocks: RunBlocks }
        blockMaker: BlockMaker
        blocksUnderWay: Generator<(() => void) | null>
      }
      await sendRuns(0, 28)
      await world.makeBlocks()
      for (let place = 1; place < 10; place++) {
        world.database.run('delete from run_blocks')
        inside.deps.blocks.changed.set(stored.flowRows.get('welcome') as number, stored.orgRow)
        inside.blocksUnderWay = inside.blockMaker.work()
        // The first block is begun with the sixth step, and the second is written with the eleventh.
        for (let step = 0; step < place + 3; step++) inside.blocksUnderWay.next().value?.()
        await change(place)
        await change(10 + place)
        for (let look = 0; look < 2; look++) await world.makeBlocks()
        expect(blocks()).toEqual([...tenMinutes(0, 1), [20 * minuteMs, 10 * minuteMs, 8]])
        const fromBlocks = await answer()
        world.database.run('delete from run_blocks')
        expect(await answer()).toEqual(fromBlocks)
      }
    },
  )

  test('that cannot be written is made another time', async () => {
    await sendRuns(0, 10)
    world.database.run(
      `create trigger full before insert on run_blocks begin select raise(abort, 'no room'); end`,
    )
    await expect(world.makeBlocks()).rejects.toThrow('no room')
    world.database.run('drop trigger full')
    await world.makeBlocks()
    await world.makeBlocks()
    expect(blocks().map(([, , runs]) => runs)).toEqual([10])
  })

  test('made of steps of another version is no longer used when there is a newer one', async () => {
    const flowRow = stored.flowRows.get('welcome') as number
    await sendRuns(0, 4)
    const publish = (version: number, steps: string[]) => {
      const rows = steps.map(key => stored.stepRows.get(`welcome/${key}`))
      world.database.run(
        `insert into flow_versions select flow_id, ?, ?, definition, page, ?, item_rows
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
    for (let i = 10; i < 14; i++) await send(named(i, 'a'), named(i, 'b'))
    await world.makeBlocks()
    const droppedAt = async () =>
      Object.fromEntries((await answer()).steps.map(step => [step.key, step.droppedHere]))
    const before = await droppedAt()
    publish(3, ['b', 'a'])
    const made = blocks()
    const asRows = await droppedAt()
    expect(asRows).not.toEqual(before)
    // Looked at again at the next change, or when another process changes the catalogue.
    await send(view(50, world.clock.now()))
    await world.makeBlocks()
    expect(blocks()).toEqual(made)
    const versions = world.database
      .query<{ flow_versions: number | null }, []>('select flow_versions from run_blocks')
      .all()
    expect(versions.map(row => row.flow_versions)).toEqual([3])
  })
})

describe('a rebuild by another process', () => {
  test('deletes the blocks, and the server makes them again', async () => {
    await sendRuns(0, 30)
    await world.makeBlocks()
    const before = await answer()
    const own = openForWriting(world.dataDir)
    world.database.run("update runs set completed_at = 9, dismissed_at = 9, steps = '[]'")
    world.database.run("update run_blocks set columns = x'00'")
    expect(rebuild(own).changed).toBe(1)
    own.close()
    expect(blocks()).toEqual([])
    expect(await answer()).toEqual(before)
    await world.storage.watch()
    await world.makeBlocks()
    expect(blocks()).toEqual(tenMinutes(0, 1, 2))
    expect(await answer()).toEqual(before)
  })
})

test('an answer that is under way sees every run once, whatever is put in blocks or changed meanwhile', async () => {
  await sendRuns(0, 95)
  const find = () => world.stores.catalogue().flow(stored.flowIds.get('welcome') as string)!
  const entry = world.byRow.catalogue().flow(stored.flowIds.get('welcome') as string)!
  const { range } = parseQuery(find(), { from: '2026-10-30', to: '2026-11-20' }, world.clock.now())
  const runs = { orgRef: stored.orgRow, flowRef: entry.ref, versions: entry.versions }
  const meanwhile = [
    () => world.makeBlocks(),
    () => send(view(3, undefined, 'b'), view(45, start + minuteMs, 'b'), view(90, start + 1)),
    () => world.makeBlocks(),
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

test('two readings at once come one after the other', async () => {
  await sendRuns(0, 40)
  await world.makeBlocks()
  const id = stored.flowIds.get('welcome') as string
  const { ref, versions } = world.byRow.catalogue().flow(id)!
  const runs = { orgRef: stored.orgRow, flowRef: ref, versions }
  const flow = world.stores.catalogue().flow(id)!
  const { range } = parseQuery(flow, { from: '2026-10-30', to: '2026-11-20' }, world.clock.now())
  const countOf = async () => {
    let count = 0
    for await (const columns of world.byRow.analytics.columns(runs, range)) {
      count += columns.count
      await world.storage.projected()
    }
    return count
  }
  expect(await Promise.all([countOf(), countOf(), countOf()])).toEqual([40, 40, 40])
})
