import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { rmSync } from 'node:fs'
import { HandClock } from '../../../support/hand-clock.ts'
import { NodeWorld } from '../../../support/node-world.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'
import { replicatedRows } from '../../../support/replicated.ts'
import type { Store } from '../../conformance/store.ts'
import { definitionOf, Tenant } from '../../conformance/tenant.ts'

const day = 86_400_000

describe('a machine that was away while events were kept for longer and shorter', () => {
  let server: PostgresServer
  let clock: HandClock
  let first: NodeWorld
  let away: NodeWorld
  let tenant: Tenant
  let sent = 0
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    const url = await server.newDatabase()
    clock = new HandClock()
    first = await NodeWorld.open(url, clock, { follows: false })
    const { world } = first
    tenant = await Tenant.of({ ...world, stores: world.stores, clock } as unknown as Store)
    await tenant.publish(definitionOf({ key: 'tour', steps: [{ key: 'one', title: 'One' }] }))
    away = await NodeWorld.open(url, clock, { follows: false, isCounted: false })
  })
  afterEach(async () => {
    for (const node of [away, first]) {
      await node.stop()
      rmSync(node.world.dataDir, { recursive: true })
    }
  })
  afterAll(() => server?.close())

  /** An event on each of so many days. */
  const sendFor = async (days: number) => {
    for (let i = 0; i < days; i++) {
      clock.advance(day)
      const userId = `user-${sent++}`
      const event = tenant.event(userId, { kind: 'flow_started', flowKey: 'tour', userId })
      await tenant.append([{ ...event, occurredAt: clock.now() }], { receivedAt: clock.now() })
    }
  }

  const eventsIn = ({ world }: NodeWorld) =>
    world.database.query<{ seq: number }, []>('select seq from event_batches').all().length

  const keepFor = async (days: number, ofOrganisation = false) => {
    if (ofOrganisation) {
      const { organisations } = first.world.management
      const { revision } = (await organisations.read(tenant.ref, clock.now()))!
      const isDone = await organisations.change(tenant.ref, {
        revision,
        settings: { retentionDays: days },
        audit: [],
      })
      expect(isDone).toBe(true)
    } else first.world.storage.housekeeping.retentionDays = days
    await first.world.retainAll()
  }

  const expectBothToHave = async (events: number) => {
    for (const { world } of [first, away]) {
      await world.storage.follow()
      await world.retainAll()
    }
    expect(eventsIn(first)).toBe(events)
    expect(replicatedRows(away.world.database)).toEqual(replicatedRows(first.world.database))
  }

  test.each([
    ['the server', false],
    ['the organisation', true],
  ])('keeps what the others keep, if the period is that of %s', async (_, isOwn) => {
    await sendFor(10)
    await away.world.storage.follow()
    await sendFor(2)
    await keepFor(5, isOwn)
    expect(eventsIn(first)).toBe(6)
    await keepFor(90, isOwn)
    await sendFor(2)
    await keepFor(6, isOwn)
    await keepFor(90, isOwn)
    await sendFor(1)
    await expectBothToHave(8)
    // From then on by the longer period.
    await sendFor(84)
    await expectBothToHave(91)
  })
})
