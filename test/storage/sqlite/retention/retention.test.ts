import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { databaseFile, openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { rebuild } from '../../../../src/storage/sqlite/projections/rebuild.ts'
import { BatchDeletion } from '../../../../src/storage/sqlite/retention/batch-deletion.ts'
import { storedEvents } from '../../../support/ledger.ts'
import { type PublishedFlow, Tenant } from '../../../support/tenant.ts'
import { World } from '../../../support/world.ts'

const day = 86_400_000

let world: World
let tenant: Tenant
let flow: PublishedFlow

beforeEach(async () => {
  world = new World({ retentionDays: 90, freePages: { least: 8, share: 0 } })
  world.clock.moveTo(Date.UTC(2026, 0, 10, 12))
  tenant = await Tenant.of(world)
  flow = publishedIn(tenant)
})
afterEach(() => world.close())

const publishedIn = (of: Tenant) =>
  of.publish({
    key: 'tour',
    name: 'Tour',
    kind: 'tour',
    steps: [{ key: 'a', kind: 'modal', title: 'A' }],
    checklist: { items: [{ key: 'one', title: 'One' }] },
  })

const started = (id: string, userId = id) => ({
  id,
  kind: 'flow_started',
  flowId: flow.id,
  userId,
  sessionId: 's',
})

const idsOf = (of: Tenant = tenant) => storedEvents(world.database, of.row).map(({ id }) => id)

const analytics = async () => {
  const path = `GET /flows/${flow.id}/analytics?from=2026-01-01&to=2026-12-31`
  const { body } = await tenant.answer(path)
  const { generatedAt, ...rest } = body
  return rest
}

describe('raw events', () => {
  test('an old event sent again is too old, and its id is free for another', async () => {
    const occurredAt = world.clock.now()
    await tenant.send([{ ...started('a'), occurredAt }])
    world.clock.advance(90 * day + 1)
    await world.retainAll()
    expect(idsOf()).toEqual([])
    const { body } = await tenant.send([{ ...started('a'), occurredAt }])
    expect(body.results).toMatchObject([{ code: 'too_old' }])
    expect((await tenant.send([started('a')])).body).toMatchObject({ duplicates: 0, accepted: 1 })
  })

  test('dated into the future by a clock that ran ahead go with those that arrived after them', async () => {
    world.clock.advance(365 * day)
    await tenant.send([started('ahead')])
    world.clock.advance(-365 * day)
    await tenant.send([started('a')])
    world.clock.advance(91 * day)
    await world.retainAll()
    expect(idsOf()).toEqual([])
  })

  test('survive a deletion that is rolled back, and go at the next attempt', async () => {
    await tenant.send([started('a')])
    world.clock.advance(91 * day)
    world.database.run(
      `create trigger stop before delete on event_batches begin select raise(abort, 'no'); end`,
    )
    expect(world.retainAll()).rejects.toThrow('no')
    expect(idsOf()).toEqual(['a'])
    world.database.run('drop trigger stop')
    await world.retainAll()
    expect(idsOf()).toEqual([])
  })
})

describe('a clock that is set', () => {
  const minute = 60_000
  const hour = 60 * minute

  /** Starts the service again, with a clock that was set meanwhile. */
  const startAgain = async (byMs: number) => {
    await world.stop()
    const { dataDir, clock } = world
    clock.wallMs += byMs
    world = new World({ dataDir, clock })
  }

  test('years ahead while the server runs deletes nothing for an hour, and nothing once it is set back', async () => {
    await tenant.send([started('a')])
    await world.retainAll()
    world.clock.wallMs += 3 * 365 * day
    for (let waited = 0; waited < hour; waited += 10 * minute) {
      await world.retainAll()
      world.clock.advance(10 * minute - 1)
    }
    expect(idsOf()).toEqual(['a'])
    world.clock.wallMs -= 3 * 365 * day
    await world.retainAll()
    world.clock.advance(2 * hour)
    await world.retainAll()
    expect(idsOf()).toEqual(['a'])
    expect(world.clockSettings).toEqual([3 * 365 * day, -3 * 365 * day])
  })

  test('and stays so is trusted after an hour, and what is old by it goes', async () => {
    await tenant.send([started('a')])
    await world.retainAll()
    world.clock.wallMs += 91 * day
    await world.retainAll()
    world.clock.advance(hour - 1)
    await world.retainAll()
    expect(idsOf()).toEqual(['a'])
    world.clock.advance(1)
    await world.retainAll()
    expect(idsOf()).toEqual([])
    expect(world.clockSettings).toEqual([91 * day])
  })

  test.each([91 * day, -2 * minute])(
    'before the start, %d ms from the newest event, deletes nothing for an hour',
    async byMs => {
      await tenant.send([started('a')])
      await startAgain(byMs)
      expect(world.clockSettings).toEqual([byMs])
      await world.retainAll()
      world.clock.advance(hour - 1)
      await world.retainAll()
      expect(idsOf()).toEqual(['a'])
      world.clock.advance(1)
      await world.retainAll()
      expect(idsOf()).toEqual(byMs > 0 ? [] : ['a'])
    },
  )

  test('by a minute at most, again and again, counts as one that is kept accurate', async () => {
    await tenant.send([started('a')])
    await world.retainAll()
    world.clock.advance(90 * day)
    for (let i = 0; i < 3; i++) {
      world.clock.wallMs += minute
      await world.retainAll()
    }
    expect(idsOf()).toEqual([])
    expect(world.clockSettings).toEqual([])
  })
})

describe('a rebuild', () => {
  test('loses nothing of what is deleted while it replays', async () => {
    await tenant.send([started('a'), { ...started('b', 'a'), kind: 'flow_completed' }])
    world.clock.advance(1)
    await tenant.send([started('c')])
    const right = await analytics()
    const own = openForWriting(world.dataDir)
    const { transaction } = own
    let isDeleted = false
    // The first transaction of a rebuild comes when it has replayed a flow.
    own.transaction = (inside => {
      if (!isDeleted) {
        isDeleted = true
        const batches = new BatchDeletion(world.database)
        batches.mark(tenant.row, { seq: 1, at: world.clock.now() })
        expect(batches.delete(tenant.row, () => true)).toBe(2)
      }
      return transaction.call(own, inside)
    }) as typeof transaction
    expect(rebuild(own).changed).toBe(0)
    own.close()
    expect(isDeleted).toBe(true)
    expect(idsOf()).toEqual(['c'])
    expect(await analytics()).toEqual(right)
  })
})

describe('disk space', () => {
  /** Nothing of it can be compressed. */
  const text = () => randomBytes(3_000).toString('base64')
  const fill = async () => {
    for (let i = 0; i < 30; i++) {
      const events = Array.from({ length: 20 }, (_, n) => ({
        ...started(`${i}-${n}`),
        properties: { text: text() },
      }))
      await tenant.send(events)
    }
  }
  const size = () => {
    world.database.run('pragma wal_checkpoint(truncate)')
    return statSync(databaseFile(world.dataDir)).size
  }

  test('is given back, except a reserve for what comes next', async () => {
    tenant.limit({ events: 1_000 })
    const empty = size()
    await fill()
    const full = size()
    expect(full - empty).toBeGreaterThan(1_500_000)
    world.clock.advance(91 * day)
    await world.retainAll()
    expect(size() - empty).toBeLessThan(full / 10)
    expect(world.database.query('pragma integrity_check').values()).toEqual([['ok']])
  })
})
