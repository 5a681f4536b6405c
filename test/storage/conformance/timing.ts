import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { causedAt, mergeCaused } from '../../../src/core/event/caused.ts'
import type { TimeRange } from '../../../src/core/time/time-range.ts'
import type { OpenStore, Rounds, Store } from './store.ts'
import { definitionOf, type EventOf, rebuilt, Tenant } from './tenant.ts'

/** The events that flows wait for and people have caused, and what becomes of people who are held out. */

const user = (userId: string) => ({ userId, anonymousId: null })

const steps = [{ key: 'one', title: 'One', kind: 'modal' }]
const waits = (count: number) =>
  definitionOf({ key: 'waits', when: { event: 'exported', count }, steps })
const measured = definitionOf({
  ...{ key: 'measured', rollout: { holdOut: 10 }, goal: { event: 'bought' }, steps },
})

const people = ['a', 'b', 'c', 'd']
const range = { startMs: 100, endMs: 200 } as TimeRange

interface Happened {
  kind: string
  userId: string
  flowVersion: number
  at: number
}

/** What happens to people, at times around the range. */
const happened: fc.Arbitrary<Happened[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('flow_started', 'flow_held_out', 'custom'),
    userId: fc.constantFrom(...people),
    flowVersion: fc.constantFrom(1, 2),
    at: fc.integer({ min: 90, max: 210 }),
  }),
  { maxLength: 24 },
)

/** Somebody who saw version 2 was held back from version 1, and version 2 holds back somebody else. */
const heldInAnother: Happened[] = [
  { kind: 'flow_held_out', userId: 'a', flowVersion: 1, at: 110 },
  { kind: 'flow_started', userId: 'a', flowVersion: 2, at: 120 },
  { kind: 'flow_held_out', userId: 'b', flowVersion: 2, at: 110 },
  { kind: 'flow_started', userId: 'c', flowVersion: 2, at: 120 },
]

/** The experiment, computed slowly and literally from its definition. */
function experimentOf(events: readonly Happened[], version: number | null) {
  const is = (kind: string, of: (event: Happened) => boolean = () => true) =>
    events.filter(event => event.kind === kind && of(event))
  const isRequested = ({ flowVersion }: Happened) => version === null || flowVersion === version
  const isIn = ({ at }: Happened) => at >= range.startMs && at < range.endMs
  const everHeld = is('flow_held_out')
  const held = everHeld.filter(isRequested)
  const holding = new Set(held.map(({ flowVersion }) => flowVersion))
  const firstAt = (of: Happened[]) => Math.min(...of.map(({ at }) => at))
  const reached = (person: string, since: number) =>
    is('custom', ({ userId, at }) => userId === person && at >= since).length > 0
  const group = (of: (person: string) => Happened[]) => {
    const members = people.filter(person => of(person).length > 0)
    const achieved = members.filter(person => reached(person, firstAt(of(person))))
    return { people: members.length, achieved: achieved.length }
  }
  // For each version the first time counts, even if it lies outside the range.
  const heldOf = (person: string) =>
    [...holding].flatMap(of => {
      const own = held.filter(event => event.userId === person && event.flowVersion === of)
      const first = own.find(({ at }) => at === firstAt(own))
      return first && isIn(first) ? [first] : []
    })
  const wasHeld = (person: string) => everHeld.some(({ userId }) => userId === person)
  return {
    heldOut: group(heldOf),
    shown: group(person =>
      wasHeld(person)
        ? []
        : is('flow_started', event => event.userId === person && isIn(event)).filter(
            ({ flowVersion }) => holding.has(flowVersion),
          ),
    ),
  }
}

export function timingConforms(open: OpenStore, rounds: Rounds): void {
  let store: Store
  let tenant: Tenant
  let sent = 0
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
  })

  const send = (...events: EventOf[]) =>
    tenant.append(events.map(event => tenant.event(`timing-${sent++}`, event)))
  const exported = (userId: string, at: number): EventOf => ({
    ...{ kind: 'custom', name: 'exported', userId, at },
  })
  const caused = async (userId: string) =>
    [...((await store.stores.people.caused(tenant.ref, user(userId))).get('exported') ?? [])].map(
      ([minute]) => minute,
    )

  describe('what people have caused', () => {
    test('is kept only for events that a published flow waits for, and as often as it asks', async () => {
      await send(exported('ann', 0))
      await tenant.publish(waits(2))
      const minutes = [3, 1, 2].map(minute => exported('ann', minute * 60_000))
      await send(...minutes, { kind: 'custom', name: 'other', userId: 'ann', at: 0 })
      expect(await caused('ann')).toEqual([3, 2])
      expect(await caused('bob')).toEqual([])
      const { ref } = await Tenant.of(store)
      expect([...(await store.stores.people.caused(ref, user('ann')))]).toEqual([])
      await tenant.withdraw('waits', 'draft')
      await send(exported('ann', 9 * 60_000))
      expect(await caused('ann')).toEqual([3, 2])
    })

    test('is found in the ledger by a rebuild, which keeps what only deleted events had', async () => {
      await send(exported('ann', 60_000))
      await tenant.publish(waits(3))
      await send(exported('ann', 120_000))
      expect(await caused('ann')).toEqual([2])
      await rebuilt(store)
      expect(await caused('ann')).toEqual([2, 1])
      await rebuilt(store)
      expect(await caused('ann')).toEqual([2, 1])
    })

    test('is that of all events together, whatever their order and batches', async () => {
      const minutes = fc.array(fc.nat(9), { minLength: 1, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(minutes, fc.nat(12), async (minutes, cut) => {
          const own = await Tenant.of(store)
          await own.publish(waits(5))
          const events = minutes.map((minute, i) =>
            own.event(`law-${sent++}-${i}`, exported('ann', minute * 60_000)),
          )
          for (const part of [events.slice(cut), events.slice(0, cut)]) {
            if (part.length > 0) await own.append(part)
          }
          const all = events.map(({ id, occurredAt }) => causedAt(id, occurredAt))
          const told = await store.stores.people.caused(own.ref, user('ann'))
          expect(told.get('exported')).toEqual([...mergeCaused([], all, 5)])
        }),
        { numRuns: rounds(20) },
      )
    })

    test('is deleted with an erased person, and no count changes', async () => {
      await tenant.publish(waits(1), measured)
      await send(
        exported('ada-lovelace', 60_000),
        {
          kind: 'flow_started',
          flowKey: 'measured',
          flowVersion: 1,
          userId: 'ada-lovelace',
          at: 110,
        },
        {
          kind: 'flow_held_out',
          flowKey: 'measured',
          flowVersion: 1,
          userId: 'bob-bobson',
          at: 110,
        },
        { kind: 'custom', name: 'bought', userId: 'ada-lovelace', at: 150 },
        { kind: 'custom', name: 'bought', userId: 'bob-bobson', at: 150 },
      )
      const before = { shown: { people: 1, achieved: 1 }, heldOut: { people: 1, achieved: 1 } }
      const experiment = () =>
        store.stores.analytics.experiment(tenant.ref, tenant.flowRef('measured'), {
          ...{ range, version: null, goal: 'bought' },
        })
      expect(await experiment()).toEqual(before)
      await tenant.erase('uada-lovelace')
      await tenant.erase('ubob-bobson')
      expect(await caused('ada-lovelace')).toEqual([])
      expect(await store.traces(['ada-lovelace', 'bob-bobson'])).toEqual([])
      expect(await experiment()).toEqual(before)
      await rebuilt(store)
      expect(await experiment()).toEqual(before)
    })
  })

  test('an experiment matches its definition in any order, rebuilt or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        happened,
        fc.constantFrom(null, 1, 2),
        fc.boolean(),
        async (events, version, isRebuilt) => {
          const own = await Tenant.of(store)
          await own.publish(measured)
          await own.publish(measured)
          const all = events.map(({ kind, ...event }, i) =>
            own.event(`law-${sent++}-${i}`, {
              ...(kind === 'custom'
                ? { kind: 'custom', name: 'bought', userId: event.userId, at: event.at }
                : { kind: kind as EventOf['kind'], flowKey: 'measured', ...event }),
              ...(kind === 'flow_started' && { runId: `run-${i}` }),
            }),
          )
          if (all.length > 0) await own.append(all.toReversed())
          if (isRebuilt) await rebuilt(store)
          const told = await store.stores.analytics.experiment(own.ref, own.flowRef('measured'), {
            ...{ range, version, goal: 'bought' },
          })
          expect(told).toEqual(experimentOf(events, version))
        },
      ),
      { numRuns: rounds(15), examples: [[heldInAnother, 2, false]] },
    )
  })
}
