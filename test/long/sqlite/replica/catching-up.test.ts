import { afterAll, beforeAll, expect } from 'bun:test'
import { rmSync } from 'node:fs'
import { eventsPerBatch } from '../../../../src/storage/sqlite/ledger/event-batches.ts'
import type { Store } from '../../../storage/conformance/store.ts'
import { definitionOf, Tenant } from '../../../storage/conformance/tenant.ts'
import { HandClock } from '../../../support/hand-clock.ts'
import { NodeWorld } from '../../../support/node-world.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'
import { replicatedRows } from '../../../support/replicated.ts'

const tourOf = (...items: string[]) =>
  definitionOf({
    key: 'tour',
    steps: [{ key: 'one', title: 'One' }],
    checklist: { items: items.map(key => ({ key, title: key })) },
  })

/** As many as a machine takes at once. */
const batchesAtOnce = 100

describe('a machine that is far behind', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  afterAll(() => server?.close())

  /** Two machines, of which the second knows the tour and follows no further. */
  async function machines() {
    const clock = new HandClock()
    const url = await server.newDatabase()
    const options = { follows: false, isCounted: false }
    const ahead = await NodeWorld.open(url, clock, options)
    const behind = await NodeWorld.open(url, clock, options)
    const { world } = ahead
    const tenant = await Tenant.of({ ...world, stores: world.stores, clock } as unknown as Store)
    await tenant.publish(tourOf('first'))
    await behind.world.storage.follow()
    let people = 'user'
    const eventOf = (batch: number, i: number) =>
      tenant.event(`event-${batch}-${i}`, {
        ...{ kind: 'item_completed', flowKey: 'tour', itemKey: 'first' },
        ...{ userId: `${people}-${i}`, runId: `run-${people}-${i}` },
      })
    let sent = 0
    /** Appends so many batches, each of which is as large as a row of the ledger may be. */
    const send = async (batches: number) => {
      for (const end = sent + batches; sent < end; sent += batchesAtOnce) {
        await Promise.all(
          Array.from({ length: batchesAtOnce }, (_, place) =>
            tenant.append(
              Array.from({ length: eventsPerBatch }, (_, i) => eventOf(sent + place, i)),
            ),
          ),
        )
      }
    }
    return {
      ...{ ahead, behind, tenant, send },
      /** Publishes a longer checklist, which other people see from then on. */
      async publishNext() {
        people = 'other'
        clock.advance(1_000)
        await tenant.publish(tourOf('first', 'second'))
      },
      async [Symbol.asyncDispose]() {
        for (const node of [ahead, behind]) {
          await node.stop()
          rmSync(node.world.dataDir, { recursive: true, force: true })
        }
      },
    }
  }

  test('returns nobody’s old progress once it has taken up what it lacks', async () => {
    await using here = await machines()
    const { behind, tenant, send } = here
    const { checklists } = behind.world.stores
    const [ids, flow] = [{ userId: 'user-7', anonymousId: null }, tenant.flowRef('tour')]
    const before = await checklists.version(tenant.ref, ids)
    await send(300)
    const progress = await checklists.progress(tenant.ref, flow, ids)
    expect(progress.ticked.size).toBe(1)
    expect(await checklists.version(tenant.ref, ids)).not.toBe(before)
  })

  test('projects as it takes up, and does not hold everything in memory', async () => {
    await using here = await machines()
    const { ahead, behind, publishNext, send } = here
    const { database, storage } = behind.world
    await send(100)
    await storage.projected()
    await publishNext()
    await send(900)
    await storage.follow()
    const projected = database
      .query<{ value: number }, []>("select value from server_state where name = 'projected'")
      .get()!.value
    expect(projected).toBeGreaterThan(800)
    for (const { world } of [ahead, behind]) await world.storage.projected()
    expect(replicatedRows(database)).toEqual(replicatedRows(ahead.world.database))
  })
})
