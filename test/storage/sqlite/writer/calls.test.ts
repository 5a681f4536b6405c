import { afterEach, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { armFailpoints } from '../../../../src/failpoints.ts'
import type { NewEvent } from '../../../../src/storage/shared/in-rows.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import { World, type WorldOptions } from '../../../support/world.ts'

let world: World
let stored: StoredWorld

const open = (options?: WorldOptions) => {
  world = new World(options)
  stored = storeFlows(world, [])
}
afterEach(() => world.close())

const custom = (id: string): NewEvent =>
  newEventOf(stored, { kind: 'custom', userId: 'u', name: 'x', at: world.clock.now() }, id)

const append = (id: string) => {
  const { orgRow } = stored
  const batch = { orgRef: orgRow, receivedAt: world.clock.now(), refusals: {}, skewMs: null }
  return world.calls.append({ ...batch, events: [custom(id)] })
}

const waiting = () => [world.live.buffer.events, world.live.buffer.bytes]

test('calls that share a commit each have their own answers', async () => {
  open()
  const outcomes = await Promise.all(['a', 'a', 'b', 'c'].map(append))
  expect(outcomes.map(({ duplicates }) => duplicates.length)).toEqual([0, 1, 0, 0])
  expect(waiting()).toEqual([0, 0])
})

test('a write that fails before it is handed over fails for its caller alone, and takes no room', async () => {
  armFailpoints('http_request=error@2')
  open()
  armFailpoints()
  const outcomes = await Promise.allSettled(['a', 'b'].map(append))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(waiting()).toEqual([0, 0])
})

test.each(['commit', 'buffer'] as const)(
  'what waits for its commit takes room, so the bound holds within a turn (ack=%s)',
  async ack => {
    open({ ack, bufferBounds: { events: 2, bytes: 1_000_000 } })
    const taken = [append('a'), append('b')]
    await expect(append('c')).rejects.toThrow('more to write')
    await Promise.all(taken)
    await world.storage.flush()
    expect(waiting()).toEqual([0, 0])
    await append('c')
  },
)

test('nothing is acknowledged before it is synced', async () => {
  armFailpoints('before_sync=error@2')
  open()
  armFailpoints()
  await append('a')
  await expect(append('b')).rejects.toThrow('what was written could not be synced')
  // Later commits may lie behind a gap in the log.
  await expect(append('c')).rejects.toThrow('what was written could not be synced')
  await expect(world.close()).rejects.toThrow('what was written could not be synced')
  rmSync(world.dataDir, { recursive: true })
  open()
})
