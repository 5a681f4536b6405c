import { afterEach, beforeEach, expect, test } from 'bun:test'
import { armFailpoints } from '../../../../src/failpoints.ts'
import { BufferGauge } from '../../../../src/storage/shared/boards.ts'
import type { NewEvent } from '../../../../src/storage/shared/in-rows.ts'
import { StorageClient } from '../../../../src/storage/sqlite/writer/client.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import { World } from '../../../support/world.ts'

let world: World
let stored: StoredWorld

beforeEach(() => {
  world = new World()
  stored = storeFlows(world, [])
})
afterEach(() => world.close())

const custom = (id: string): NewEvent =>
  newEventOf(stored, { kind: 'custom', userId: 'u', name: 'x', at: world.clock.now() }, id)

const append = (client: StorageClient, id: string) => {
  const { orgRow } = stored
  const batch = { orgRef: orgRow, receivedAt: world.clock.now(), refusals: {}, skewMs: null }
  return client.append({ ...batch, events: [custom(id)] })
}

/** A client like that of a thread, and how many messages went each way. */
function counted() {
  const counts = { sent: 0, answers: 0 }
  const answer = (lines: string) => {
    counts.answers++
    client.receive(lines)
  }
  const send = (message: string) => {
    counts.sent++
    world.storage.inbox.take(message, answer)
  }
  const client = new StorageClient(send, world.gauge, 'commit')
  return { client, counts }
}

test('clients that share a commit each have their own answers', async () => {
  const [one, other] = [counted(), counted()]
  const outcomes = await Promise.all([
    append(one.client, 'a'),
    append(other.client, 'a'),
    append(one.client, 'b'),
    append(other.client, 'c'),
  ])
  expect(outcomes.map(({ duplicates }) => duplicates.length).toSorted()).toEqual([0, 0, 0, 1])
  expect([one.counts, other.counts]).toEqual([
    { sent: 1, answers: 1 },
    { sent: 1, answers: 1 },
  ])
})

test('a write that fails before it is sent fails for its caller alone, and takes no room', async () => {
  armFailpoints('http_request=error@2')
  const { client } = counted()
  armFailpoints()
  const outcomes = await Promise.allSettled(['a', 'b'].map(id => append(client, id)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(world.gauge.events).toBe(0)
  expect(world.gauge.bytes).toBe(0)
})

test('what a thread had gathered when it died takes no room from the others in the buffer', () => {
  const { client } = counted()
  // Nothing is sent within this turn, and a thread that dies in it has no other turn.
  append(client, 'a')
  append(client, 'b')
  expect(world.gauge.events).toBe(0)
  expect(world.gauge.bytes).toBe(0)
})

test('what is gathered counts for its own client, so the bound holds within a turn', async () => {
  const gauge = new BufferGauge(BufferGauge.memory(), { events: 2, bytes: 1_000_000 })
  const sent: string[] = []
  const client = new StorageClient(message => sent.push(message), gauge, 'buffer')
  const commit = new StorageClient(message => sent.push(message), gauge, 'commit')
  append(commit, 'a')
  append(commit, 'b')
  await expect(append(commit, 'c')).rejects.toThrow('more to write')
  await new Promise(resolve => setImmediate(resolve))
  expect(gauge.events).toBe(2)
  await expect(append(client, 'd')).rejects.toThrow('more to write')
})

test('projections can be asked for while the buffer is full, so readers are not turned away', async () => {
  const gauge = new BufferGauge(BufferGauge.memory(), { events: 1, bytes: 1_000 })
  gauge.enter(1, 10)
  const client: StorageClient = new StorageClient(
    message => world.storage.inbox.take(message, answer => client.receive(answer)),
    gauge,
    'commit',
  )
  await expect(append(client, 'a')).rejects.toMatchObject({ code: 'overloaded' })
  await client.project()
})
