import { afterEach, expect, test } from 'bun:test'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import { World } from '../../../support/world.ts'

const flows = [
  {
    key: 'welcome',
    versions: [{ version: 1, publishedAt: 0, steps: [{ key: 'a' }], items: [] }],
  },
]

let world: World
afterEach(() => world.close())

const send = (stored: StoredWorld, id: string, userId: string) =>
  world.byRow.ledger.append({
    orgRef: stored.orgRow,
    receivedAt: world.clock.now(),
    events: [newEventOf(stored, { kind: 'flow_started', userId, flowKey: 'welcome', at: 1 }, id)],
    refusals: {},
    skewMs: null,
  })

const people = () =>
  world.database
    .query<{ person: string }, []>('select person from runs order by person')
    .all()
    .map(({ person }) => person)

test('a row of the ledger is followed after a restart, even if only duplicates had its number before', async () => {
  world = new World()
  const stored = storeFlows(world, flows)
  await send(stored, 'a', 'ann')
  await world.storage.projected()
  expect(await send(stored, 'a', 'ann')).toMatchObject({ duplicates: [0] })
  await world.storage.projected()
  const { dataDir } = world
  await world.stop()
  world = new World({ dataDir })
  await send(stored, 'b', 'bob')
  await world.storage.projected()
  expect(people()).toEqual(['uann', 'ubob'])
})

test('what a killed server had not projected is projected by the next one', async () => {
  world = new World()
  const stored = storeFlows(world, flows)
  await send(stored, 'a', 'ann')
  await world.storage.projected()
  await send(stored, 'b', 'bob')
  expect(people()).toEqual(['uann'])
  const killed = world
  world = new World({ dataDir: killed.dataDir })
  await world.storage.projected()
  expect(people()).toEqual(['uann', 'ubob'])
})

test('a tick is taken back for people whom waiting events of the same transaction count together', async () => {
  world = new World()
  const list = {
    key: 'start',
    versions: [{ version: 1, publishedAt: 0, steps: [], items: [{ key: 'a', completeOn: null }] }],
  }
  const stored = storeFlows(world, [list])
  const [orgRef, flowRef] = [stored.orgRow, stored.flowRows.get('start')!]
  const itemRef = stored.itemRows.get('start/a')!
  const report = (events: readonly Parameters<typeof newEventOf>[1][]) =>
    world.byRow.ledger.append({
      orgRef,
      receivedAt: world.clock.now(),
      events: events.map(event => newEventOf(stored, event, crypto.randomUUID())),
      refusals: {},
      skewMs: null,
    })
  const ofStart = { flowKey: 'start', at: 1 } as const
  await report([{ ...ofStart, kind: 'item_completed', userId: 'bob', itemKey: 'a' }])
  const visit = { ...ofStart, kind: 'flow_started', runId: 'shared' } as const
  await Promise.all([
    report(['ann', 'bob'].map(userId => ({ ...visit, userId }))),
    world.byRow.ledger.tick({
      ...{ orgRef, flowRef, userId: 'ann', anonymousId: null },
      items: [{ itemRef, completed: false }],
      receivedAt: world.clock.now(),
    }),
  ])
  const bob = { userId: 'bob', anonymousId: null }
  const { ticked } = await world.byRow.checklists.progress(orgRef, flowRef, bob)
  expect([...ticked]).toEqual([])
})
