import { afterEach, expect, test } from 'bun:test'
import { newEventOf, type StoredWorld, storeFlows } from '../../support/stored-history.ts'
import { World } from '../../support/world.ts'

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

test('a row of the ledger whose number only duplicates had is followed after the next start', async () => {
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
