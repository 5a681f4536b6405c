import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { TimeRange } from '../../../../src/core/time/time-range.ts'
import type { NewEvent, StoredEvent } from '../../../../src/storage/shared/in-rows.ts'
import { storedEvents } from '../../../support/ledger.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import { World } from '../../../support/world.ts'

let world: World
let stored: StoredWorld

const flowOf = (key: string) => ({
  key,
  versions: [{ version: 1, publishedAt: 0, steps: [{ key: 'a' }], items: [] }],
})

beforeEach(() => {
  world = new World()
  stored = storeFlows(world, [flowOf('first'), flowOf('second')])
})
afterEach(() => world.close())

const event = (id: string, flowKey: string | undefined, at: number, userId = 'u'): NewEvent =>
  newEventOf(stored, { kind: 'custom', name: 'x', flowKey, userId, at }, id)

const append = (...events: NewEvent[]) =>
  world.byRow.ledger.append({
    orgRef: stored.orgRow,
    receivedAt: world.clock.now(),
    events,
    refusals: {},
    skewMs: null,
  })

const always = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER }

async function exported(flowKey: string, range = always, orgRow = stored.orgRow) {
  const events: StoredEvent[] = []
  const flowRow = stored.flowRows.get(flowKey) as number
  for await (const page of world.byRow.analytics.events(orgRow, flowRow, range as TimeRange)) {
    expect(page.length).toBeGreaterThan(0)
    events.push(...page)
  }
  return events.map(({ id }) => id)
}

describe('a batch with duplicates', () => {
  test('shares a row with what is stored at the same time, and each event keeps its time of receipt', async () => {
    const sent = [
      append(event('a', 'first', 1)),
      append(event('a', 'first', 1), event('b', 'first', 2)),
    ]
    world.clock.advance(5)
    sent.push(append(event('c', 'second', 3), event('b', 'first', 9)))
    const outcomes = await Promise.all(sent)
    expect(outcomes.map(({ duplicates }) => duplicates)).toEqual([[], [0], [1]])
    expect(world.database.query('select seq, events from event_batches').values()).toEqual([[1, 3]])
    const now = world.clock.now()
    expect(
      storedEvents(world.database).map(({ id, receivedAt }) => [id, receivedAt - now]),
    ).toEqual([
      ['a', -5],
      ['b', -5],
      ['c', 0],
    ])
    expect((await append(event('c', 'first', 3), event('b', 'first', 9))).duplicates).toEqual([
      0, 1,
    ])
  })

  test('makes no row if it has nothing else', async () => {
    await append(event('a', 'first', 1))
    await append(event('a', 'first', 1))
    expect(world.database.query('select seq, events from event_batches').values()).toEqual([[1, 1]])
  })
})

test('more events than a row holds become several rows', async () => {
  const ids = Array.from({ length: 130 }, (_, i) => `e${i}`)
  const outcome = await append(
    ...ids.map((id, i) => event(id, 'first', i)),
    event('e7', 'first', 1),
  )
  expect(outcome.duplicates).toEqual([130])
  expect(world.database.query('select events from event_batches').values()).toEqual([
    [64],
    [64],
    [2],
  ])
  expect(await exported('first')).toEqual(ids)
  const again = await append(...ids.map((id, i) => event(id, 'first', i)))
  expect(again.duplicates).toHaveLength(130)
})
