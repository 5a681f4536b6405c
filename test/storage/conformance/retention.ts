import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { autumnAnchor, type History, lifeArbitrary, reach } from '../../support/histories.ts'
import type { OpenStore, Rounds, Store } from './store.ts'
import { rebuilt, Tenant } from './tenant.ts'

const day = 86_400_000
type Act =
  | { type: 'send'; size: number }
  | { type: 'again'; event: number }
  | { type: 'tick'; person: number; item: number; completed: boolean }
  | { type: 'complete'; person: number; daysAgo: number }
  | { type: 'delete'; days: number }
  | { type: 'settle' | 'rebuild' }

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
    arbitrary: fc.constantFrom({ type: 'settle' as const }, { type: 'rebuild' as const }),
  },
)

const people = ['ann', 'Bob', 'uann'].map(userId => ({ userId, anonymousId: null }))

/** One organisation's life. `mayDelete` says whether its events are deleted. */
class Life {
  private sent = 0
  /** How many had been sent when events were last deleted. */
  private sentByDeletion = 0
  private at = autumnAnchor - reach
  private readonly items: string[]

  private constructor(
    private readonly store: Store,
    readonly tenant: Tenant,
    private readonly history: History,
    private readonly order: readonly number[],
    private readonly mayDelete: boolean,
  ) {
    const { versions } = history.flows.find(({ key }) => key === 'welcome')!
    this.items = [...new Set(versions.flatMap(({ items }) => items.map(({ key }) => key)))]
  }

  static async of(
    store: Store,
    history: History,
    order: readonly number[],
    mayDelete: boolean,
  ): Promise<Life> {
    const tenant = await Tenant.withFlows(store, history.flows)
    if (!mayDelete) await tenant.change({ settings: { retentionDays: 3_650 } })
    return new Life(store, tenant, history, order, mayDelete)
  }

  async live(act: Act): Promise<unknown> {
    this.at += day / 2
    const receivedAt = this.at
    switch (act.type) {
      case 'send': {
        const next = this.order.slice(this.sent, this.sent + act.size)
        this.sent += act.size
        return this.append(next)
      }
      case 'again':
        // What may be deleted is too old to be sent again.
        return this.append(
          this.order.slice(this.sentByDeletion, this.sent).slice(act.event, act.event + 1),
        )
      case 'tick': {
        const item = this.items[act.item % Math.max(1, this.items.length)]
        if (item === undefined) return
        const items = { [item]: act.completed }
        return this.tenant.tick('welcome', people[act.person]!, items, { receivedAt })
      }
      case 'complete': {
        const at = this.at - act.daysAgo * day
        return this.tenant.complete('welcome', people[act.person]!, { at, receivedAt })
      }
      case 'delete':
        this.sentByDeletion = this.sent
        if (!this.mayDelete) return
        this.store.clock.moveTo(this.at + 1)
        return this.store.retain(act.days)
      case 'settle':
        return this.store.settle()
      case 'rebuild':
        return expect(await rebuilt(this.store)).toBe(0)
    }
  }

  /** An event that was sent before counts only once. */
  private async append(places: readonly number[]) {
    if (places.length === 0) return
    const events = places.map(i => this.tenant.event(`event-${i}`, this.history.events[i]!))
    this.at = Math.max(this.at, ...events.map(({ occurredAt }) => occurredAt))
    return this.tenant.append(events, { receivedAt: this.at })
  }

  async answers() {
    const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)
    const requested = {
      from: dateOf(autumnAnchor - reach),
      to: dateOf(autumnAnchor + reach),
      timezone: 'Europe/Berlin',
    }
    const analytics = []
    for (const key of ['welcome', 'setup']) {
      analytics.push(await this.tenant.analytics(key, requested, autumnAnchor))
    }
    const progress = []
    for (const person of people) progress.push(await this.tenant.progress('welcome', person))
    return [analytics, progress]
  }
}

export function retentionConforms(open: OpenStore, rounds: Rounds): void {
  describe('retention', () => {
    /**
     * Two organisations live through the same history. In one, events are deleted again and again
     * while it goes on; in the other all stay. Nothing but the raw events may tell the two apart.
     */
    test('deleting events changes no number, checklist or verdict of an organisation', async () => {
      let deleted = 0
      const numRuns = rounds(40)
      await fc.assert(
        fc.asyncProperty(lifeArbitrary(act), async ({ history, acts, order }) => {
          const store = await open()
          const keeping = await Life.of(store, history, order, false)
          const forgetting = await Life.of(store, history, order, true)
          for (const act of acts) {
            const outcomes = [await keeping.live(act), await forgetting.live(act)]
            if (act.type !== 'delete') expect(outcomes[1]).toEqual(outcomes[0])
          }
          expect(await rebuilt(store)).toBe(0)
          expect(await forgetting.answers()).toEqual((await keeping.answers()) as never)
          const all = await keeping.tenant.events()
          deleted += all.length - (await forgetting.tenant.events()).length
          await store.close()
        }),
        { numRuns },
      )
      expect(deleted).toBeGreaterThan(numRuns * 3)
    }, 300_000)
  })
}
