import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { NewEvent } from '../../src/storage/in-rows.ts'
import { rebuild } from '../../src/storage/projections/rebuild.ts'
import { autumnAnchor, type History, reach } from '../support/histories.ts'
import { storedEvents } from '../support/ledger.ts'
import { analyticsOf, lawWorld, lifeArbitrary } from '../support/lives.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../support/stored-history.ts'
import type { World } from '../support/world.ts'

/**
 * Two organisations live through the same history. In one, events are deleted again and again while it
 * goes on; in the other all stay. Nothing but the raw events may tell the two apart.
 */

const numRuns = Number(process.env.CAIRN_TEST_HISTORIES ?? 20)

const day = 86_400_000
type Act =
  | { type: 'send'; size: number }
  | { type: 'again'; event: number }
  | { type: 'tick'; person: number; item: number; completed: boolean }
  | { type: 'complete'; person: number; daysAgo: number }
  | { type: 'delete'; days: number }
  | { type: 'seal' | 'rebuild' }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('send' as const),
      size: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('again' as const), event: fc.nat({ max: 59 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('tick' as const),
      person: fc.nat({ max: 2 }),
      item: fc.nat({ max: 2 }),
      completed: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('complete' as const),
      person: fc.nat({ max: 2 }),
      daysAgo: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('delete' as const),
      days: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ type: 'seal' as const }, { type: 'rebuild' as const }),
  },
)

const people = ['ann', 'Bob', 'uann']

/** One organisation's life; `mayDelete` says whether this is the one that forgets. */
class Life {
  readonly stored: StoredWorld
  private sent = 0
  private at = autumnAnchor - reach

  constructor(
    private readonly world: World,
    private readonly history: History,
    private readonly order: readonly number[],
    private readonly mayDelete: boolean,
  ) {
    this.stored = storeFlows(world, history.flows)
    if (!mayDelete) {
      world.database.run('update organisations set retention_days = 3650 where id = ?', [
        this.stored.orgRow,
      ])
      world.takeUp()
    }
  }

  async live(act: Act): Promise<unknown> {
    const { orgRow, flowRows } = this.stored
    this.at += day / 2
    const flowRow = flowRows.get('welcome') as number
    switch (act.type) {
      case 'send': {
        const next = this.order.slice(this.sent, this.sent + act.size)
        this.sent += act.size
        return this.append(next)
      }
      case 'again':
        return this.append(this.order.slice(0, this.sent).slice(act.event, act.event + 1))
      case 'tick': {
        const rows = [...this.stored.itemRows].filter(([name]) => name.startsWith('welcome/'))
        const item = rows[act.item % Math.max(1, rows.length)]
        if (!item) return
        return this.world.byRow.ledger.tick({
          orgRef: orgRow,
          flowRef: flowRow,
          userId: people[act.person] as string,
          anonymousId: null,
          items: [{ itemRef: item[1], completed: act.completed }],
          receivedAt: this.at,
        })
      }
      case 'complete':
        return this.world.byRow.ledger.complete({
          orgRef: orgRow,
          flowRef: flowRow,
          userId: people[act.person] as string,
          anonymousId: null,
          runId: null,
          completedAt: this.at - act.daysAgo * day,
          receivedAt: this.at,
        })
      case 'delete':
        if (!this.mayDelete) return
        this.world.clock.moveTo(this.at + 1)
        this.world.storage.retentionDays = act.days
        return this.world.retainAll()
      case 'seal':
        return this.world.sealAll()
      case 'rebuild':
        return expect(rebuild(this.world.database).changed).toBe(0)
    }
  }

  /** What was sent before counts as sent once, whether it is still there or not. */
  private async append(places: readonly number[]) {
    if (places.length === 0) return
    const events: NewEvent[] = places.map(i =>
      newEventOf(this.stored, this.history.events[i]!, `event-${i}`),
    )
    this.at = Math.max(this.at, ...events.map(({ occurredAt }) => occurredAt))
    const { orgRow } = this.stored
    return this.world.byRow.ledger.append({
      orgRef: orgRow,
      receivedAt: this.at,
      events,
      refusals: {},
      skewMs: null,
    })
  }

  async answers() {
    const flowRow = this.stored.flowRows.get('welcome') as number
    const progress = people.map(async userId => {
      const ids = { userId, anonymousId: null }
      const { ticked, completedAt } = await this.world.byRow.checklists.progress(
        this.stored.orgRow,
        flowRow,
        ids,
      )
      return { ticked: [...ticked.values()].toSorted(), completedAt }
    })
    return [await analyticsOf(this.world, this.stored), await Promise.all(progress)]
  }
}

let deleted = 0

test('analytics, checklists and verdicts are those of who never deletes, and a rebuild changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(lifeArbitrary(act), async ({ history, acts, order }) => {
      const world = lawWorld()
      const [keeping, forgetting] = [false, true].map(
        mayDelete => new Life(world, history, order, mayDelete),
      ) as [Life, Life]
      for (const act of acts) {
        const outcomes = [await keeping.live(act), await forgetting.live(act)]
        if (act.type !== 'delete') expect(outcomes[1]).toEqual(outcomes[0])
      }
      expect(rebuild(world.database).changed).toBe(0)
      expect(await forgetting.answers()).toEqual((await keeping.answers()) as never)
      const [all, left] = [keeping, forgetting].map(life =>
        storedEvents(world.database, life.stored.orgRow),
      ) as [unknown[], unknown[]]
      deleted += all.length - left.length
      await world.close()
    }),
    { numRuns },
  )
}, 240_000)

test('most of those lives had something to forget', () => {
  expect(deleted).toBeGreaterThan(numRuns * 3)
})
