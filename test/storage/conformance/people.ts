import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { idsOf, personOf } from '../../../src/core/event/event.ts'
import type { NewEvent } from '../../../src/core/event/stored-event.ts'
import { historyOf } from '../../../src/core/run/past-run.ts'
import type { LoggedEvent } from '../../../src/storage/interfaces/events.ts'
import { historyArbitrary, springAnchor } from '../../support/histories.ts'
import { personalEvents } from '../../support/personal-events.ts'
import type { OpenStore, Rounds, Store } from './store.ts'
import { always, definitionOf, type EventOf, rebuilt, Tenant } from './tenant.ts'

const day = 86_400_000
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)

const person = (userId: string) => ({ userId, anonymousId: null })
const visitor = (anonymousId: string) => ({ userId: null, anonymousId })

const tour = definitionOf({ key: 'tour', steps: [{ key: 'hello', title: 'Hello', kind: 'modal' }] })
const another = definitionOf({ ...tour, key: 'another' })

let sent = 0
const started = (more: Partial<EventOf>): EventOf => ({
  kind: 'flow_started',
  flowKey: 'tour',
  ...more,
})

const erasureArbitrary = historyArbitrary({
  anchor: springAnchor,
  minEvents: 5,
  maxEvents: 60,
}).chain(history =>
  fc.record({
    history: fc.constant(history),
    who: fc.nat({ max: 99 }),
    sizes: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
    isSettled: fc.boolean(),
    /** Whether the retention deletes the first half of the events before the erasure. */
    isHalfDeleted: fc.boolean(),
    /** After how many steps the caller goes away, once. */
    leavesAfter: fc.option(fc.integer({ min: 1, max: 20 })),
  }),
)

/** What remains of an event whose person is erased. */
const whatStays = ({ kind, flow, flowVersion, step, item, occurredAt }: LoggedEvent) => ({
  kind,
  flow,
  flowVersion,
  step,
  item,
  occurredAt,
})

export function peopleConform(open: OpenStore, rounds: Rounds): void {
  describe('what a person has done', () => {
    /** What follows a part of a history. A rebuild is rare, because it replays all that the store has seen. */
    const afterwards = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('nothing', 'settle') },
      { weight: 1, arbitrary: fc.constant('rebuild') },
    )

    test('agrees with all their runs, settled, rebuilt or neither', async () => {
      const store = await open()
      const numRuns = rounds(25)
      await fc.assert(
        fc.asyncProperty(
          historyArbitrary({ anchor: springAnchor }),
          fc.array(afterwards, { minLength: 1, maxLength: 6 }),
          async (history, afterwards) => {
            const tenant = await Tenant.withFlows(store, history.flows)
            const size = Math.ceil(history.events.length / afterwards.length)
            for (const [n, next] of afterwards.entries()) {
              const some = history.events.slice(n * size, (n + 1) * size)
              if (some.length > 0) {
                await tenant.append(some.map((event, i) => tenant.event(`event-${n}-${i}`, event)))
              }
              if (next === 'settle') await store.settle()
              if (next === 'rebuild') expect(await rebuilt(store)).toBe(0)
            }
            const runs = new Map(
              await Promise.all(
                history.flows.map(async ({ key }) => [key, await tenant.runs(key)] as const),
              ),
            )
            const people = new Set(
              history.events.map(({ userId = null, anonymousId = null }) =>
                personOf(userId, anonymousId),
              ),
            )
            for (const name of people) {
              const own = [...runs].flatMap(([key, all]) => {
                const theirs = all.filter(run => run.person === name)
                return theirs.length > 0 ? [[key, historyOf(theirs)]] : []
              })
              expect(await tenant.histories(idsOf(name))).toEqual(Object.fromEntries(own))
            }
          },
        ),
        { numRuns },
      )
      await store.close()
    }, 300_000)

    test('is listed event by event, latest first and page by page, without anybody else’s', async () => {
      const store = await open()
      const [tenant, other] = [await Tenant.of(store), await Tenant.of(store)]
      const sent: string[] = []
      for (const who of [tenant, other]) await who.publish(tour)
      for (let batch = 0; batch < 3; batch++) {
        const ids = ['one', 'two', 'three'].map(name => `${batch}-${name}`)
        await tenant.append(ids.map(id => tenant.event(id, started({ userId: 'ann' }))))
        await tenant.append([tenant.event(`${batch}-bob`, started({ userId: 'bob' }))])
        await other.append([other.event(`${batch}-theirs`, started({ userId: 'ann' }))])
        sent.push(...ids)
        store.clock.advance(1_000)
      }
      const told: string[] = []
      let before: string | null = null
      do {
        const look = await store.management.people.events(tenant.named('uann'), before, 2)
        expect(look.events.length).toBeLessThanOrEqual(2)
        told.push(...look.events.map(({ id }) => id))
        before = look.next
      } while (before !== null)
      expect(told).toEqual(sent.toReversed())
      await store.close()
    })

    test('covers the runs that were stored last if there are very many', async () => {
      const store = await open()
      const tenant = await Tenant.of(store)
      await tenant.publish(tour, another)
      const send = (flowKey: string, runIds: string[]) =>
        tenant.append(
          runIds.map((runId, i) =>
            tenant.event(`${flowKey}-${runId}`, {
              kind: 'flow_started',
              flowKey,
              userId: 'eve',
              runId,
              at: i + 1,
            }),
          ),
        )
      await send('another', ['other'])
      await send(
        'tour',
        Array.from({ length: 1_500 }, (_, i) => `${i}`),
      )
      for (let time = 0; time < 2; time++) {
        expect(await tenant.histories(person('eve'))).toEqual({
          tour: expect.objectContaining({ runs: 1_000, openRunId: '1499' }),
          another: expect.objectContaining({ runs: 1, openRunId: 'other' }),
        })
        await store.settle()
      }
      await store.close()
    })
  })

  describe('a person who is erased', () => {
    let store: Store
    let tenant: Tenant
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store.close())
    beforeEach(async () => {
      tenant = await Tenant.of(store)
      await tenant.publish(tour)
    })

    const send = (...events: EventOf[]) => sendTo(tenant, ...events)
    const sendTo = (to: Tenant, ...events: EventOf[]) =>
      to.append(events.map(event => to.event(`event-${sent++}`, event)))
    const namesIn = async (of = tenant) =>
      (await of.events()).map(({ userId, anonymousId }) => [userId, anonymousId])
    const runKeys = async () => (await tenant.runs('tour')).map(({ key }) => key).toSorted()
    const runs = async () => (await tenant.runs('tour')).map(({ key, person }) => ({ key, person }))
    const pseudonym = expect.stringMatching(/^erased-/)

    test('changes no number, leaves no text of theirs, and affects nobody else’s events', async () => {
      const numRuns = rounds(30)
      await fc.assert(
        fc.asyncProperty(erasureArbitrary, async drawn => {
          // Each history has a store of its own, because in some its time goes on past others' events.
          const store = await open()
          const { history, who, sizes, isSettled, isHalfDeleted, leavesAfter } = drawn
          const tenant = await Tenant.withFlows(store, history.flows)
          const events = personalEvents(history.events, (event, id) => tenant.event(id, event))
          const half = Math.floor(events.length / 2)
          for (const part of [events.slice(0, half), events.slice(half)]) {
            for (let at = 0, n = 0; at < part.length; n++) {
              const size = sizes[n % sizes.length]!
              await tenant.append(part.slice(at, at + size))
              at += size
            }
            if (isHalfDeleted) store.clock.advance(30 * day)
          }
          if (isSettled) await store.settle()
          if (isHalfDeleted) await store.retain(45)
          const requested = {
            from: dateOf(springAnchor - 30 * day),
            to: dateOf(springAnchor + 30 * day),
          }
          // One at a time, as the analytics service computes them.
          const answers = async () => {
            const all = []
            for (const { key } of history.flows) all.push(await tenant.analytics(key, requested))
            return all
          }
          const before = await answers()
          const ledgerBefore = await tenant.events()

          const { userId, anonymousId } = events[who % events.length]!
          const name = personOf(userId, anonymousId)
          const isTheirs = (event: Pick<NewEvent, 'userId' | 'anonymousId'>) =>
            personOf(event.userId, event.anonymousId) === name
          if (leavesAfter !== null) await tenant.erase(name, leavesAfter).catch(() => {})
          await tenant.erase(name)

          expect(await answers()).toEqual(before)
          const own = events.filter(isTheirs)
          const othersRuns = new Set(
            events.filter(event => !isTheirs(event)).flatMap(({ runId }) => runId ?? []),
          )
          const gone = [
            name.slice(1),
            ...own.flatMap(event => [
              event.id,
              ...[event.url, event.reason, event.properties].flatMap(text => text ?? []),
              // Only the value, because runs and segments have it as well, each in its own form.
              ...(event.traits === null ? [] : [JSON.parse(event.traits).plan]),
              ...(event.runId !== null && !othersRuns.has(event.runId) ? [event.runId] : []),
            ]),
          ]
          expect(await store.traces(gone)).toEqual([])
          const told = JSON.stringify([await tenant.events(), await tenant.stored(name)])
          expect(gone.filter(text => told.includes(text))).toEqual([])

          // In others' events, only an erased anonymous id that stood beside theirs has changed.
          const isBeside = (event: LoggedEvent) =>
            event.userId !== null && personOf(null, event.anonymousId) === name
          const after = await tenant.events()
          expect(after.length).toBe(ledgerBefore.length)
          for (const [i, event] of ledgerBefore.entries()) {
            if (isTheirs(event)) expect(after[i]).toMatchObject(whatStays(event))
            else if (isBeside(event)) {
              expect(after[i]).toEqual({ ...event, anonymousId: after[i]!.anonymousId })
            } else expect(after[i]).toEqual(event)
          }

          // Their reports are no longer accepted, and those of others are.
          const again = await tenant.append(events.map(event => ({ ...event, id: `${event.id}!` })))
          expect(again.erased).toEqual(events.flatMap((event, i) => (isTheirs(event) ? [i] : [])))
          expect(await store.traces([name.slice(1)])).toEqual([])
          expect(await rebuilt(store)).toBe(0)
          await store.close()
        }),
        { numRuns },
      )
    }, 300_000)

    test('is not confused with the same id in another organisation, or of the other kind', async () => {
      const other = await Tenant.of(store)
      await other.publish(tour)
      await send(started({ userId: 'ada' }), started({ anonymousId: 'ada' }))
      await sendTo(other, started({ userId: 'ada' }))
      const receipt = await tenant.erase('uada')
      expect(receipt).toMatchObject({
        organisation: tenant.id,
        askedAt: store.clock.now(),
        erased: { events: 1, runs: 1 },
      })
      expect(await namesIn(other)).toEqual([['ada', null]])
      expect(await sendTo(other, started({ userId: 'ada' }))).toMatchObject({ erased: [] })
      expect(await send(started({ anonymousId: 'ada' }))).toMatchObject({ erased: [] })
      expect(await send(started({ userId: 'ada' }))).toMatchObject({ erased: [0] })
      expect(await namesIn()).toEqual([
        [pseudonym, null],
        [null, 'ada'],
        [null, 'ada'],
      ])
    })

    test('leaves the id of a run that somebody else is in, and the last to be erased takes it along', async () => {
      await send(
        started({ anonymousId: 'browser-1', runId: 'shared-run' }),
        started({ userId: 'ada-1', runId: 'shared-run' }),
        started({ userId: 'ada-1', runId: 'own-run' }),
      )
      await tenant.erase('uada-1')
      expect(await store.traces(['own-run'])).toEqual([])
      expect(await runKeys()).toEqual([expect.stringMatching(/^rerased-/), 'rshared-run'])
      await tenant.erase('abrowser-1')
      expect(await store.traces(['shared-run', 'browser-1'])).toEqual([])
      expect(await runKeys()).toHaveLength(2)
    })

    test('of two visitors in a run, leaves it to the user who signs in later', async () => {
      await send(
        started({ anonymousId: 'ann', runId: 'shared' }),
        started({ anonymousId: 'bob', runId: 'shared' }),
      )
      await tenant.erase('aann')
      expect(await runs()).toEqual([{ key: 'rshared', person: expect.stringMatching(/^aerased-/) }])
      await send(started({ userId: 'zoe', runId: 'shared' }))
      expect(await runs()).toEqual([{ key: 'rshared', person: 'uzoe' }])
      expect(await rebuilt(store)).toBe(0)
    })

    test('of two users in a run, leaves it to a later user whose id sorts before the one who stays', async () => {
      await send(
        started({ userId: 'zed', runId: 'shared' }),
        started({ userId: 'zoe', runId: 'shared' }),
      )
      await tenant.erase('uzoe')
      expect(await runs()).toEqual([{ key: 'rshared', person: 'uzed' }])
      for (const userId of ['amy', 'zed']) {
        await send(started({ userId, runId: 'shared' }))
        expect(await runs()).toEqual([{ key: 'rshared', person: 'uamy' }])
        expect(await rebuilt(store)).toBe(0)
      }
    })

    test.each(['ada', 'carl', 'zoe'])(
      'keeps a run that was theirs when user %s joins it',
      async userId => {
        await send(
          started({ userId: 'bob', runId: 'shared' }),
          started({ userId: 'zed', runId: 'shared' }),
        )
        await tenant.erase('ubob')
        const before = await runs()
        expect(before).toEqual([{ key: 'rshared', person: expect.stringMatching(/^uerased-/) }])
        await send(started({ userId, runId: 'shared' }))
        expect(await runs()).toEqual(before)
        expect(await rebuilt(store)).toBe(0)
      },
    )

    test('has their anonymous id removed from a user’s events too, where all else stays', async () => {
      const both = { userId: 'ada', anonymousId: 'browser-2' }
      await send(started({ ...both, runId: 'r', url: 'u' }))
      await tenant.erase('abrowser-2')
      const [event] = await tenant.events()
      expect(event).toMatchObject({ userId: 'ada', runId: 'r', url: 'u' })
      await send(started({ ...both, runId: 'later' }))
      expect((await tenant.events())[1]).toMatchObject({ userId: 'ada', anonymousId: null })
      expect(await store.traces(['browser-2'])).toEqual([])
    })

    test('has their anonymous id removed from a run that used it before and beside a user’s', async () => {
      await send(
        started({ anonymousId: 'browser-3', runId: 'shared' }),
        started({ userId: 'ada', anonymousId: 'browser-3', runId: 'shared' }),
      )
      await tenant.erase('abrowser-3')
      expect(await store.traces(['browser-3'])).toEqual([])
      expect(await runKeys()).toEqual(['rshared'])
      expect(await rebuilt(store)).toBe(0)
    })

    test('takes along the id of a browser that was only ever named beside theirs', async () => {
      const items = [{ key: 'one', title: 'One' }]
      await tenant.publish(definitionOf({ ...tour, key: 'list', checklist: { items } }))
      const listed = { flowKey: 'list', userId: 'ada-7', anonymousId: 'browser-7' }
      await send(
        started({ ...listed, runId: 'r' }),
        started({ ...listed, kind: 'item_completed', itemKey: 'one' }),
      )
      expect((await tenant.progress('list', visitor('browser-7'))).ticked).toHaveProperty('one')
      await tenant.erase('uada-7')
      expect(await store.traces(['ada-7', 'browser-7'])).toEqual([])
      expect(await rebuilt(store)).toBe(0)
    })

    describe('where the retention has deleted events', () => {
      /** Deletes what was received before now. */
      const deleteAll = async () => {
        store.clock.advance(91 * day)
        await store.retain(90)
      }

      test('and none of theirs are left, has runs under another name, which a rebuild keeps', async () => {
        await send(
          started({ userId: 'ada-lovelace', runId: 'her-run', sessionId: 'her-session' }),
          started({ userId: 'ada-lovelace', sessionId: 'her-session' }),
          started({ userId: 'ada-lovelace', kind: 'flow_completed' }),
        )
        await deleteAll()
        expect(await tenant.events()).toEqual([])
        const receipt = await tenant.erase('uada-lovelace')
        expect(receipt.erased).toMatchObject({ events: 0, runs: 2 })
        expect(await store.traces(['ada-lovelace', 'her-run', 'her-session'])).toEqual([])
        expect(new Set((await runs()).map(({ person }) => person)).size).toBe(1)
        expect(await rebuilt(store)).toBe(0)
      })

      test('of somebody else in the same run, leaves the run to them', async () => {
        await send(started({ userId: 'ada-4', anonymousId: 'browser-4', runId: 'shared-4' }))
        await deleteAll()
        await send(started({ anonymousId: 'browser-4', runId: 'shared-4', kind: 'flow_dismissed' }))
        const before = await runs()
        expect(before).toEqual([{ key: 'rshared-4', person: 'uada-4' }])
        await tenant.erase('abrowser-4')
        expect(await runs()).toEqual(before)
        expect(await rebuilt(store)).toBe(0)
        expect(await store.traces(['browser-4'])).toEqual([])
        await send(started({ userId: 'ada-4', runId: 'shared-4' }))
        expect(await runs()).toEqual(before)
        await tenant.erase('uada-4')
        expect(await store.traces(['shared-4', 'ada-4'])).toEqual([])
        expect(await rebuilt(store)).toBe(0)
      })

      test('of theirs alone, leaves the id of a run that others’ events still name', async () => {
        await send(started({ userId: 'ada-5', runId: 'shared' }))
        await deleteAll()
        await send(started({ anonymousId: 'browser-5', runId: 'shared' }))
        await tenant.erase('uada-5')
        expect(await runs()).toEqual([
          { key: 'rshared', person: expect.stringMatching(/^uerased-/) },
        ])
        expect(await rebuilt(store)).toBe(0)
        expect(await store.traces(['ada-5'])).toEqual([])
      })
    })

    test('is accepted again once allowed, and not before; both are in the audit log without a name', async () => {
      const ada = 'uada-lovelace'
      await send(started({ userId: 'ada-lovelace' }))
      expect(await tenant.allow(ada)).toBe(false)
      const receipt = await tenant.erase(ada)
      expect(await send(started({ userId: 'ada-lovelace' }))).toMatchObject({ erased: [0] })
      expect(await tenant.allow(ada)).toBe(true)
      expect(await tenant.allow(ada)).toBe(false)
      expect(await send(started({ userId: 'ada-lovelace' }))).toMatchObject({ erased: [] })
      const lines = await store.management.access.audit(tenant.ref, { most: 2 })
      expect(lines.map(({ action, subject }) => [action, subject])).toEqual([
        ['person.allow', receipt.id],
        ['person.erase', receipt.id],
      ])
      expect(JSON.stringify(lines)).not.toContain('lovelace')
    })

    test('has everything that was stored of them exported before the erasure, and nothing after it', async () => {
      const step = tenant.stepRef('tour', 'hello')
      await send(started({ userId: 'ada-6', runId: 'r' }), started({ userId: 'bob', runId: 's' }))
      await store.stores.steps.recordHealth({
        ...{ orgRef: tenant.ref, stepRef: step, version: 1, person: 'uada-6', outcome: 'found' },
        ...{ at: 1, url: null, selector: null, matchCount: 1, waitMs: null, snippetVersion: null },
        message: 'a message of hers',
      })
      const stored = await tenant.stored('uada-6')
      expect(stored.events).toMatchObject([{ userId: 'ada-6', flowId: tenant.flowId('tour') }])
      expect(JSON.stringify(stored)).toContain('a message of hers')
      expect(JSON.stringify(stored)).not.toContain('bob')
      const receipt = await tenant.erase('uada-6')
      expect(receipt.erased).toMatchObject({ events: 1, runs: 1, stepReports: 1 })
      expect(Object.values(await tenant.stored('uada-6')).flat()).toEqual([])
      expect(await store.traces(['ada-6', 'a message of hers'])).toEqual([])
    })

    test('has a receipt even if nothing is stored of them', async () => {
      const receipt = await tenant.erase('unobody')
      const kinds = ['events', 'runs', 'completions', 'ticks', 'progress', 'looseFacts']
      const all = [...kinds, 'stepReports', 'deadLetters'].map(kind => [kind, 0])
      expect(receipt.erased).toEqual(Object.fromEntries(all))
    })

    test('is found where only their reports about a step name them, and changes no count', async () => {
      const step = tenant.stepRef('tour', 'hello')
      for (const person of ['uada-8', 'ubob-8']) {
        await store.stores.steps.recordHealth({
          ...{ orgRef: tenant.ref, stepRef: step, version: 1, person, outcome: 'found', at: 1 },
          ...{ url: null, selector: null, matchCount: 1, waitMs: null, snippetVersion: null },
          message: `a message of ${person}`,
        })
      }
      const counts = () => store.stores.steps.healthCounts(tenant.ref, step, 1, 0)
      const before = await counts()
      const receipt = await tenant.erase('uada-8')
      expect(receipt.erased).toMatchObject({ events: 0, runs: 0, stepReports: 1 })
      expect(await counts()).toEqual(before)
      expect(await store.traces(['ada-8'])).toEqual([])
      expect(await store.traces(['bob-8'])).not.toEqual([])
    })
  })

  describe('no response shows who was erased', () => {
    const who = fc.constantFrom(person('someone'), visitor('a-browser'), {
      userId: 'someone',
      anonymousId: 'a-browser',
    })
    const runId = fc.option(fc.constantFrom('one', 'two'), { nil: undefined })
    const reports = fc.oneof(
      fc.record({
        type: fc.constant('events' as const),
        events: fc.array(
          fc.record({
            who,
            runId,
            kind: fc.constantFrom('flow_started', 'flow_completed', 'flow_dismissed'),
            id: fc.constantFrom('e1', 'e2', 'e3', 'e4'),
          }),
          { minLength: 1, maxLength: 4 },
        ),
      }),
      fc.record({ type: fc.constant('complete' as const), who, runId }),
      fc.record({
        type: fc.constant('tick' as const),
        who,
        item: fc.constantFrom('one', 'two'),
        completed: fc.boolean(),
      }),
      fc.record({
        type: fc.constant('health' as const),
        who,
        outcome: fc.constantFrom('found', 'not_found'),
      }),
    )
    type Report = typeof reports extends fc.Arbitrary<infer A> ? A : never

    const list = definitionOf({
      ...tour,
      checklist: { items: ['one', 'two'].map(key => ({ key, title: key })) },
    })

    test('a report is answered as if the person were new, and is not kept', async () => {
      const store = await open()
      store.alone?.()
      const send = async (tenant: Tenant, report: Report): Promise<unknown> => {
        const { ref, store } = tenant
        switch (report.type) {
          case 'events': {
            const events = report.events.map(({ id, kind, runId, who }) => ({
              ...tenant.event(id, { kind, flowKey: 'tour', ...(runId && { runId }) } as EventOf),
              ...who,
            }))
            const { erased, ...answer } = await tenant.append(events)
            return answer
          }
          case 'complete':
            return tenant.complete('tour', report.who, { runId: report.runId ?? null })
          case 'tick':
            return tenant.tick('tour', report.who, { [report.item]: report.completed })
          case 'health':
            return store.stores.steps.recordHealth({
              ...{ orgRef: ref, stepRef: tenant.stepRef('tour', 'hello'), version: 1 },
              outcome: report.outcome,
              person: personOf(report.who.userId, report.who.anonymousId),
              ...{ at: store.clock.now(), url: null, selector: null, matchCount: null },
              ...{ waitMs: null, snippetVersion: null, message: null },
            } as Parameters<Store['stores']['steps']['recordHealth']>[0])
        }
      }
      await fc.assert(
        fc.asyncProperty(reports, async report => {
          const [erased, never] = [await Tenant.of(store), await Tenant.of(store)]
          for (const tenant of [erased, never]) await tenant.publish(list)
          for (const name of ['usomeone', 'aa-browser']) await erased.erase(name)
          const [answer, expected] = [await send(erased, report), await send(never, report)]
          expect(answer).toEqual(expected)
          expect(await erased.events()).toEqual([])
          for (const who of [person('someone'), visitor('a-browser')]) {
            expect(await erased.progress('tour', who)).toMatchObject({ ticked: {} })
            expect(await erased.histories(who)).toEqual(
              await (await Tenant.of(store)).histories(who),
            )
          }
          const stepRef = erased.stepRef('tour', 'hello')
          const counts = await store.stores.steps.healthCounts(erased.ref, stepRef, 1, 0)
          expect(Object.values(counts)).toEqual(Object.values(counts).map(() => 0))
          const range = { from: '2026-01-01', to: '2026-12-31' }
          expect((await erased.analytics('tour', range)).totals.starts).toBe(0)
          const pages = store.stores.analytics.events(erased.ref, erased.flowRef('tour'), always)
          expect(await Array.fromAsync(pages)).toEqual([])
        }),
        { numRuns: rounds(25) },
      )
      await store.close()
    }, 300_000)
  })
}
