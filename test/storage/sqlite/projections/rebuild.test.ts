import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { rebuild } from '../../../../src/storage/sqlite/projections/rebuild.ts'
import type { RefEvent } from '../../../support/analytics-reference.ts'
import { storeBehind } from '../../../support/ledger.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import { World } from '../../../support/world.ts'

let world: World
let stored: StoredWorld
/** The connection of a rebuild, which is another process's. */
let own: Database

const flowOf = (key: string) => ({
  key,
  versions: [
    {
      version: 1,
      publishedAt: 0,
      steps: [{ key: 'a' }],
      items: [
        { key: 'one', completeOn: 'did_one' },
        { key: 'two', completeOn: null },
      ],
    },
  ],
})

beforeEach(() => {
  world = new World()
  stored = storeFlows(world, [flowOf('first'), flowOf('second')])
  own = openForWriting(world.dataDir)
})
afterEach(async () => {
  own.close()
  await world.close()
})

let sent = 0

const send = async (...events: RefEvent[]) => {
  const outcome = await world.byRow.ledger.append({
    orgRef: stored.orgRow,
    receivedAt: world.clock.now(),
    events: events.map(event => newEventOf(stored, event, `event-${sent++}`)),
    refusals: {},
    skewMs: null,
  })
  await world.storage.projected()
  return outcome
}

const history = (flowKey: string): RefEvent[] => [
  { kind: 'flow_started', flowKey, userId: 'u', sessionId: 's1', at: 10 },
  { kind: 'step_viewed', flowKey, stepKey: 'a', userId: 'u', sessionId: 's1', at: 11 },
  { kind: 'flow_completed', flowKey, userId: 'u', at: 20 },
  { kind: 'item_completed', flowKey, itemKey: 'two', userId: 'v', at: 30 },
  { kind: 'custom', name: 'did_one', userId: 'v', at: 40 },
]

const tables = ['runs', 'loose_facts', 'ticks', 'progress', 'completions']

const dump = () =>
  tables.map(table =>
    world.database
      .query<Record<string, unknown>, []>(`select * from ${table}`)
      .all()
      .map(({ id, ...row }) => JSON.stringify(row))
      .sort(),
  )

test('a rebuild corrects wrong, missing and surplus rows, and says how many flows had them', async () => {
  await send(...history('first'), ...history('second'))
  const right = dump()
  const flow = stored.flowRows.get('first')
  for (const damage of [
    `update runs set completed_at = 99, steps = '[]' where flow_id = ${flow}`,
    `delete from ticks where flow_id = ${flow}`,
    `insert into runs (org_id, flow_id, run_key, person, started_at, last_at, version, steps)
      values (${stored.orgRow}, ${flow}, 'rghost', 'ughost', 1, 1, 1, '[]')`,
    `update progress set checklist_at = null where flow_id = ${flow}`,
    `delete from loose_facts where flow_id = ${flow}`,
  ]) {
    world.database.run(damage)
    expect(dump()).not.toEqual(right)
    expect(rebuild(own)).toMatchObject({ flows: 2, changed: 1 })
    expect(dump()).toEqual(right)
    expect(rebuild(own).changed).toBe(0)
  }
})

test('a version that is published during a rebuild counts for the flows that follow', async () => {
  await send(...history('first'), ...history('second'))
  const second = stored.flowRows.get('second') as number
  const now = world.clock.now()
  let isPublished = false
  rebuild(own, () => {
    if (isPublished) return
    isPublished = true
    world.database.run(
      `insert into flow_versions select flow_id, 2, ${now}, definition, page, step_rows, item_rows
      from flow_versions where flow_id = ${second}`,
    )
    world.database.run('insert into catalogue_changes (org_id) values (?)', [stored.orgRow])
    const event: RefEvent = {
      kind: 'flow_started',
      flowKey: 'second',
      userId: 'w',
      sessionId: 's9',
      at: now,
    }
    storeBehind(world.database, stored.orgRow, [newEventOf(stored, event, 'meanwhile')])
  })
  const run = world.database.query<{ version: number }, []>(
    `select version from runs where person = 'uw'`,
  )
  expect(run.get()).toEqual({ version: 2 })
  world.takeUp()
})

test('what is stored while a flow is replayed is not lost', async () => {
  await send(...history('first'), ...history('second'))
  const before = dump()
  // Between the flows, through the running server's connection, so the projections already have it.
  let rounds = 0
  const pending: Promise<unknown>[] = []
  rebuild(own, () => {
    pending.push(
      send({ kind: 'flow_started', flowKey: 'second', userId: `late-${rounds++}`, at: 50 }),
    )
  })
  await Promise.all(pending)
  expect(dump()[0]).toHaveLength((before[0]?.length ?? 0) + 2)
  expect(rebuild(own).changed).toBe(0)
})

test('rows that a rebuild in another process replaces are known to the running server at once', async () => {
  await send(...history('first'), ...history('second'))
  const right = dump()
  // All rows get new numbers, some of which the server has given before.
  for (const damage of ['delete from runs', 'delete from completions']) own.run(damage)
  expect(rebuild(own).changed).toBe(2)
  expect(dump()).toEqual(right)
  const at = 12
  await send(
    { kind: 'step_completed', flowKey: 'first', stepKey: 'a', userId: 'u', sessionId: 's1', at },
    { kind: 'flow_completed', flowKey: 'second', userId: 'u', at: 21 },
  )
  expect(dump()[0]).toHaveLength(right[0]?.length as number)
  expect(dump()[4]).toEqual(right[4] as string[])
  const person = { userId: 'u', anonymousId: null }
  const flowRow = stored.flowRows.get('second') as number
  const report = { ...person, orgRef: stored.orgRow, flowRef: flowRow, runId: null }
  const now = world.clock.now()
  const again = await world.byRow.ledger.complete({ ...report, completedAt: now, receivedAt: now })
  expect(again).toEqual({ completedAt: 20, alreadyCompleted: true })
  expect(rebuild(own).changed).toBe(0)
})
