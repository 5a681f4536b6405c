import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { definitionOf, Tenant } from '../../../storage/conformance/tenant.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'
import { PostgresWorld } from '../../../support/postgres-world.ts'

const steps = (...keys: string[]) => keys.map(key => ({ key, title: key, kind: 'modal' }))

const minute = 60_000
const start = Date.UTC(2026, 10, 1)

describe('runs that have come to rest', () => {
  let server: PostgresServer
  let world: PostgresWorld
  let tenant: Tenant
  let sent = 0

  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    world = await PostgresWorld.open(await server.newDatabase(), undefined, {}, { sealPolicy })
    tenant = await Tenant.withFlows(world as never, [flow])
    world.clock.moveTo(start + 2 * 86_400_000)
  })
  afterEach(() => world.close())
  afterAll(() => server?.close())

  const sealPolicy = { runsPerSegment: 10, settledMs: 60 * minute, pauseMs: 0 }
  const flow = {
    key: 'welcome',
    versions: [
      {
        ...{ version: 1, publishedAt: start - minute },
        steps: [{ key: 'a' }, { key: 'b' }],
        items: [{ key: 'one', completeOn: 'did_one' }],
      },
    ],
  }

  const view = (run: number, at = start + run * minute, stepKey = 'a') => ({
    ...{
      kind: 'step_viewed',
      flowKey: 'welcome',
      stepKey,
      userId: `u${run}`,
      runId: `r${run}`,
      at,
    },
  })
  const send = (...events: object[]) =>
    tenant.append(events.map(event => tenant.event(`event-${sent++}`, event as never)))
  const sendRuns = (from: number, to: number) =>
    send(...Array.from({ length: to - from }, (_, i) => view(from + i)))
  const segments = () =>
    world.storage.postgres.all<{ from_at: number; to_at: number; runs: number }>(
      'select from_at, to_at, runs from run_blocks order by from_at',
    )
  const sizes = async () => (await segments()).map(({ runs }) => runs)
  const answer = () => tenant.analytics('welcome', { from: '2026-10-30', to: '2026-11-20' })

  test('are in segments without a gap, except the last ones, which do not fill a segment yet', async () => {
    await sendRuns(0, 37)
    const asRows = await answer()
    expect(await world.sealAll()).toBe(3)
    expect(await sizes()).toEqual([10, 10, 10])
    const [first, second, third] = await segments()
    expect([first?.from_at, first?.to_at]).toEqual([start, second!.from_at])
    expect(second?.to_at).toBe(third!.from_at)
    expect(await answer()).toEqual(asRows)
  })

  test('years apart are in segments that end before their numbers overflow', async () => {
    const year = 365 * 86_400_000
    await send(...Array.from({ length: 12 }, (_, i) => view(i, start - i * year)))
    await world.sealAll()
    expect((await sizes()).every(runs => runs === 1)).toBe(true)
    expect((await answer()).totals.starts).toBe(1)
  })

  test('are read from their segments, and not from their rows', async () => {
    await sendRuns(0, 21)
    await world.sealAll()
    await world.storage.postgres.run('delete from runs')
    expect((await answer()).totals.starts).toBe(20)
  })

  test('are read from rows once a version says otherwise about their steps', async () => {
    await sendRuns(0, 21)
    // Their version has no step a, so the newest version that has it says where it stands.
    await tenant.publish(definitionOf({ key: 'welcome', steps: steps('b', 'c') }))
    await send(...Array.from({ length: 21 }, (_, i) => ({ ...view(50 + i), flowVersion: 2 })))
    await world.sealAll()
    await tenant.publish(definitionOf({ key: 'welcome', steps: steps('c', 'b', 'a') }))
    const now = await answer()
    await world.storage.postgres.run('delete from run_blocks')
    expect(now).toEqual(await answer())
  })

  test('may be sealed by several nodes at the same time', async () => {
    await sendRuns(0, 41)
    const other = await PostgresWorld.open(
      world.url,
      world.clock,
      { name: 'other' },
      { sealPolicy },
    )
    try {
      const made = await Promise.all([world.sealAll(), other.sealAll()])
      expect(made[0]! + made[1]!).toBe(4)
      expect(await sizes()).toEqual([10, 10, 10, 10])
    } finally {
      await other.close()
    }
  })
})
