import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { idsOf } from '../../../src/core/event/event.ts'
import {
  passesOf,
  personOfEvent,
  progressOf,
  type RefEvent,
  type RefFlow,
  referenceAnalytics,
} from '../../support/analytics-reference.ts'
import type { OpenStore, Rounds } from './store.ts'
import { type EventOf, rebuilt, referenceEvent, Tenant } from './tenant.ts'

/**
 * Checklists in real use: a visitor who ticks and then signs in, two people in one run, ticks that are
 * taken back and made again, new versions with other items, late reports. The answers must equal what
 * the slow reference computes from the ledger.
 */

const begin = Date.UTC(2026, 10, 16, 9)
const people = ['av', 'aw', 'uann', 'ubob']
const items = ['x', 'y', 'z']

const itemsArbitrary = fc.shuffledSubarray(items, { minLength: 1, maxLength: 3 })
const flowArbitrary = fc.tuple(itemsArbitrary, fc.option(itemsArbitrary)).map(
  ([first, second]): RefFlow => ({
    key: 'setup',
    versions: [first, ...(second ? [second] : [])].map((keys, n) => ({
      version: n + 1,
      publishedAt: n === 0 ? 1 : begin + 20_000,
      steps: [{ key: 'a' }],
      items: keys.map(key => ({ key, completeOn: key === 'z' ? 'did_z' : null })),
    })),
  }),
)

const inRun = fc.constantFrom<{ runId?: string; sessionId?: string }>(
  {},
  { runId: '1' },
  { runId: '1' },
  { runId: '2' },
  { sessionId: '1' },
)
const person = fc.nat({ max: people.length - 1 }).map(i => people[i]!)

const deed = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('report' as const),
      kind: fc.constantFrom<RefEvent['kind']>(
        'checklist_opened',
        'item_completed',
        'item_completed',
        'item_completed',
        'step_viewed',
        'custom',
        'flow_completed',
      ),
      person,
      // A user's event may name the browser, too.
      beside: fc.option(fc.constantFrom('v', 'w'), { nil: undefined }),
      item: fc.constantFrom(...items),
      run: inRun,
      flowVersion: fc.option(fc.constantFrom(1, 2), { nil: undefined }),
      agoMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 15_000 })),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('write' as const),
      person,
      items: fc.uniqueArray(fc.tuple(fc.constantFrom(...items), fc.boolean()), {
        selector: ([key]) => key,
        minLength: 1,
        maxLength: 3,
      }),
      run: inRun,
      // Requests may reach the store in a different order than they were received.
      receivedAgoMs: fc.integer({ min: 0, max: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'settle' as const }) },
)

const caseArbitrary = fc.record({
  flow: flowArbitrary,
  deeds: fc.array(fc.tuple(deed, fc.constantFrom(1, 2, 1_000, 7_000), fc.boolean()), {
    minLength: 4,
    maxLength: 24,
    size: 'max',
  }),
  erased: fc.option(person),
})

/** The ledger as reference events, without what Cairn derived from custom events: the reference does that. */
async function eventsIn(tenant: Tenant): Promise<RefEvent[]> {
  const events = await tenant.events()
  return events.filter(({ source }) => source !== 'custom_event').map(referenceEvent)
}

const range = { from: '2026-11-01', to: '2026-11-30' }

async function answerOf(tenant: Tenant) {
  const { totals, timeToComplete, steps, checklist, daily, versions } = await tenant.answer(
    'setup',
    range,
  )
  return {
    totals,
    timeToComplete,
    steps: steps.map(({ stepId, title, health, ...step }) => step),
    checklist: checklist && {
      items: checklist.items.map(({ key, completions }) => ({ key, completions })),
      completedAll: checklist.completedAll,
    },
    daily,
    versions,
  }
}

async function hasRunsThatBeginTogether(tenant: Tenant): Promise<boolean> {
  const runs = await tenant.runs('setup')
  return new Set(runs.map(run => `${run.startedAt} ${run.person}`)).size < runs.length
}

/** Whether an item counts for somebody only because an event names another id beside theirs. */
function isTickedBeside(flow: RefFlow, events: RefEvent[], one: string): boolean {
  const alone = events.map(event =>
    event.userId === undefined ? event : { ...event, anonymousId: undefined },
  )
  const tickedIn = (some: RefEvent[]) => Object.keys(progressOf(flow, some, one).ticked).length
  return tickedIn(events) > tickedIn(alone)
}

/** One flow with two items. An event can tick the first one as well. */
const twoItems: RefFlow = {
  key: 'setup',
  versions: [
    {
      version: 1,
      publishedAt: 1,
      steps: [{ key: 'a' }],
      items: [
        { key: 'one', completeOn: 'did_one' },
        { key: 'two', completeOn: null },
      ],
    },
  ],
}

export function checklistsConform(open: OpenStore, rounds: Rounds): void {
  describe('checklists', () => {
    test('answers match the ledger, even when somebody is erased', async () => {
      const store = await open()
      store.alone?.()
      const numRuns = rounds(70)
      const met = {
        sharedRun: 0,
        bothIds: 0,
        completed: 0,
        takenBack: 0,
        passedAgain: 0,
        erased: 0,
      }
      await fc.assert(
        fc.asyncProperty(caseArbitrary, async ({ flow, deeds, erased }) => {
          const tenant = await Tenant.withFlows(store, [flow])
          store.clock.moveTo(begin)
          const has = (key: string) => tenant.itemRef('setup', key) !== null
          const pending: Promise<unknown>[] = []
          for (const [i, [deed, pauseMs, isAwaited]] of deeds.entries()) {
            store.clock.advance(pauseMs)
            const now = store.clock.now()
            if (deed.type === 'settle') {
              await Promise.all(pending)
              await store.settle()
              continue
            }
            const ids = idsOf(deed.person)
            if (deed.type === 'write') {
              const written = Object.fromEntries(deed.items.filter(([key]) => has(key)))
              const receivedAt = now - deed.receivedAgoMs
              pending.push(tenant.tick('setup', ids, written, { ...deed.run, receivedAt }))
            } else {
              const { kind, beside, item, run, flowVersion, agoMs } = deed
              if (kind === 'item_completed' && !has(item)) continue
              const event = {
                kind,
                ...(ids.userId === null
                  ? { anonymousId: ids.anonymousId! }
                  : { userId: ids.userId, ...(beside && { anonymousId: beside }) }),
                ...run,
                at: now - agoMs,
                ...(kind === 'custom'
                  ? { name: 'did_z' }
                  : { flowKey: 'setup', ...(flowVersion !== undefined && { flowVersion }) }),
                ...(kind === 'item_completed' && { itemKey: item }),
                ...(kind === 'step_viewed' && { stepKey: 'a' }),
              } satisfies EventOf
              pending.push(tenant.append([tenant.event(`deed-${i}`, event)]))
            }
            if (isAwaited) await Promise.all(pending)
          }
          await Promise.all(pending)

          const answer = await answerOf(tenant)
          const events = await eventsIn(tenant)
          const query = { flowKey: 'setup', ...range, timezone: 'UTC', now: store.clock.now() }
          const { isComplete, ...expected } = referenceAnalytics([flow], events, query)
          expect(answer).toEqual(expected)
          for (const one of people) {
            const { ticked, completedAt } = await tenant.progress('setup', idsOf(one))
            const { checklistAt, ...expected } = progressOf(flow, events, one)
            expect(ticked).toEqual(expected.ticked)
            const reported = events.filter(
              event => event.kind === 'flow_completed' && personOfEvent(event) === one,
            )
            const times = [...reported.map(({ at }) => at), checklistAt ?? Number.POSITIVE_INFINITY]
            expect(completedAt ?? Number.POSITIVE_INFINITY).toBe(Math.min(...times))
          }
          met.completed += answer.totals.completions > 0 ? 1 : 0
          met.takenBack += events.some(({ kind }) => kind === 'item_reopened') ? 1 : 0
          met.passedAgain += people.some(one => passesOf(flow, events, one).length > 1) ? 1 : 0
          const inFirst = events.filter(event => event.runId === '1').map(personOfEvent)
          met.sharedRun += new Set(inFirst).size > 1 ? 1 : 0
          met.bothIds += people.some(one => isTickedBeside(flow, events, one)) ? 1 : 0

          // If two runs began at the same moment, the greater key counts as later, and erasing changes keys.
          if (erased === null || (await hasRunsThatBeginTogether(tenant))) return
          await tenant.erase(erased)
          met.erased++
          expect(await answerOf(tenant)).toEqual(answer)
        }),
        { numRuns },
      )
      // Over PostgreSQL there are too few histories to require every case, so this is 0.
      const minCount = Math.floor(numRuns / 10)
      for (const count of Object.values(met)) expect(count).toBeGreaterThanOrEqual(minCount)
      expect(await rebuilt(store)).toBe(0)
      await store.close()
    }, 300_000)

    describe('ticks by both ids', () => {
      const both = { userId: 'u', anonymousId: 'v' }
      const opened: EventOf = { kind: 'checklist_opened', flowKey: 'setup' }
      const ticks: EventOf[] = [
        { kind: 'item_completed', flowKey: 'setup', itemKey: 'one', anonymousId: 'v', at: begin },
        { kind: 'item_completed', flowKey: 'setup', itemKey: 'two', userId: 'u', at: begin + 1 },
      ]
      const naming: [string, EventOf, boolean][] = [
        ['of an event of a run', { ...opened, runId: '1', ...both }, true],
        ['of an event of a session', { ...opened, sessionId: '1', ...both }, true],
        ['of an event without either', { ...opened, ...both }, true],
        ['of a lone completion', { kind: 'flow_completed', flowKey: 'setup', ...both }, true],
        ['of a lone tick', { ...ticks[0]!, ...both }, true],
        ['of a custom event', { kind: 'custom', name: 'seen', ...both }, false],
        ['of who is held back', { kind: 'flow_held_out', flowKey: 'setup', ...both }, false],
      ]

      test('count together if it is an event of a run, whenever it arrives', async () => {
        const store = await open()
        for (const [name, event, isTogether] of naming) {
          for (const place of [0, 1, 2]) {
            const tenant = await Tenant.withFlows(store, [twoItems])
            store.clock.moveTo(begin)
            const events = ticks.toSpliced(place, 0, { at: begin, ...event })
            for (const [i, one] of events.entries()) {
              await tenant.append([tenant.event(`${i}`, one)])
              if (place === 1) await store.settle()
            }
            for (const ids of [idsOf('uu'), idsOf('av')]) {
              const { ticked } = await tenant.progress('setup', ids)
              const count = Object.keys(ticked).length
              expect([name, place, count]).toEqual([name, place, isTogether ? 2 : 1])
            }
          }
        }
        expect(await rebuilt(store)).toBe(0)
        await store.close()
      })
    })

    test('a custom event ticks an item again that was taken back, even in the same commit', async () => {
      const store = await open()
      const tenant = await Tenant.withFlows(store, [twoItems])
      store.clock.moveTo(begin)
      const person = { userId: 'u', anonymousId: null }
      await tenant.tick('setup', person, { one: true })
      store.clock.advance(1_000)
      const takenBack = tenant.tick('setup', person, { one: false })
      store.clock.advance(5)
      const again = tenant.append([
        tenant.event('again', { kind: 'custom', name: 'did_one', userId: 'u' }),
      ])
      await Promise.all([takenBack, again])
      expect((await tenant.progress('setup', person)).ticked).toEqual({ one: store.clock.now() })
      await store.close()
    })
  })
}
