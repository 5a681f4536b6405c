import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { EventKind } from '../../../src/core/event/event.ts'
import type { TimeRange } from '../../../src/core/time/time-range.ts'
import type { LoggedEvent } from '../../../src/storage/interfaces/events.ts'
import type { RequestedRuns, RunRow } from '../../../src/storage/interfaces/runs.ts'
import type { OpenStore, Rounds, Store } from './store.ts'
import { always, definitionOf, requestedRuns, Tenant } from './tenant.ts'

const day = 86_400_000

const flowOf = (key: string) =>
  definitionOf({ key, steps: [{ key: 'a', title: 'A', kind: 'modal' }] })

export function ledgerConforms(open: OpenStore, rounds: Rounds): void {
  let store: Store
  let tenant: Tenant
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  beforeEach(async () => {
    tenant = await Tenant.of(store)
    await tenant.publish(flowOf('first'), flowOf('second'))
  })

  const custom = (id: string, flowKey?: string, at?: number, userId = 'u') =>
    tenant.event(id, {
      kind: 'custom',
      name: 'x',
      userId,
      ...(flowKey !== undefined && { flowKey }),
      ...(at !== undefined && { at }),
    })
  const append = (...events: Parameters<Tenant['append']>[0]) => tenant.append(events)
  const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id)

  async function exported(flow: string, range: Pick<TimeRange, 'startMs' | 'endMs'> = always) {
    const { analytics } = store.stores
    const pages = await Array.fromAsync(
      analytics.events(tenant.ref, tenant.flowRef(flow), range as TimeRange),
    )
    for (const page of pages) expect(page.length).toBeGreaterThan(0)
    return ids(pages.flat())
  }

  describe('events', () => {
    test('are stored with all their fields', async () => {
      const said = { userId: 'u', anonymousId: 'b', runId: 'r', sessionId: 's', reason: 'because' }
      const about = {
        url: 'https://app.example/',
        properties: '{"plan":"\\u0000pro"}',
      }
      const event = tenant.event('whole', {
        ...{ kind: 'step_viewed', flowKey: 'first', stepKey: 'a', flowVersion: 1, at: 5 },
        ...said,
        ...about,
        traits: { plan: 'pro' },
      })
      await append(event)
      const [flow, step] = [await tenant.flow('first'), tenant.stepRef('first', 'a')]
      expect(await tenant.events()).toEqual([
        {
          ...{ cursor: expect.any(String), id: 'whole', kind: 'step_viewed', source: 'events' },
          ...{
            ...said,
            ...about,
            traits: { plan: 'pro' },
            properties: { plan: '\u0000pro' },
            name: null,
            flowVersion: 1,
          },
          ...{ occurredAt: 5, reportedAt: 5, receivedAt: store.clock.now() },
          ...{ flowId: tenant.flowId('first'), flowKey: 'first' },
          ...{ stepId: flow.steps.get(step)!.id, stepKey: 'a', itemId: null, itemKey: null },
        },
      ])
      const pages = store.stores.analytics.events(tenant.ref, tenant.flowRef('first'), always)
      expect((await Array.fromAsync(pages)).flat()).toEqual([
        { ...event, receivedAt: store.clock.now(), source: 'events' },
      ])
    })

    test('can be read as soon as they are acknowledged, and so can what follows from them', async () => {
      store.stores.ledger.requireRoom()
      await append(
        tenant.event('a', { kind: 'flow_started', flowKey: 'first', userId: 'v', runId: 'r' }),
      )
      expect(ids(await tenant.events())).toEqual(['a'])
      expect(await tenant.runs('first')).toMatchObject([{ key: 'rr', person: 'uv' }])
    })

    test('make runs that are listed page by page, latest start first, for their organisation alone', async () => {
      const start = (runId: string, at: number) =>
        tenant.event(runId, { kind: 'flow_started', flowKey: 'first', userId: 'u', runId, at })
      await append(start('a', 10), start('b', 30), start('c', 20))
      const { runs } = store.management
      const page = async (after: string | null) =>
        (await runs.runs(tenant.ref, 'first', requestedRuns({ after, max: 2 })))!.runs
      const first = await page(null)
      expect(first.map(({ key }) => key)).toEqual(['rb', 'rc'])
      expect((await page(first[1]!.cursor)).map(({ key }) => key)).toEqual(['ra'])
      expect(await runs.runs(tenant.ref, 'none', requestedRuns())).toBeNull()
      expect(await runs.runs((await Tenant.of(store)).ref, 'first', requestedRuns())).toBeNull()
    })

    test('make runs that are listed once each, also where several start at one moment', async () => {
      const ids = ['a', 'b', 'c', 'd', 'e']
      const start = (runId: string) =>
        tenant.event(runId, { kind: 'flow_started', flowKey: 'first', userId: 'u', runId, at: 10 })
      await append(...['c', 'a', 'e', 'b', 'd'].map(start))
      const found: string[] = []
      for (let after: string | null = null; found.length < ids.length; ) {
        const page = await store.management.runs.runs(
          tenant.ref,
          'first',
          requestedRuns({ after, max: 2 }),
        )
        found.push(...page!.runs.map(({ key }) => key))
        after = page!.runs.at(-1)!.cursor
        expect(after).toMatch(/^-?[0-9a-z]{1,10}\.[0-9a-z]{1,10}$/)
      }
      expect(found).toEqual(ids.map(id => `r${id}`).toReversed())
    })

    test('make runs that can be listed by what a filter says and by time of start', async () => {
      const of = (runId: string, kind: EventKind, at: number) =>
        tenant.event(`${runId}${kind}`, { kind, flowKey: 'first', userId: 'u', runId, at })
      await append(...['a', 'b', 'c', 'd'].map((id, i) => of(id, 'flow_started', 10 * i + 10)))
      await append(of('a', 'flow_completed', 15), of('b', 'flow_dismissed', 25))
      await append(of('d', 'flow_dismissed', 45), of('d', 'flow_completed', 46))
      const found = async (requested: Partial<RequestedRuns>) => {
        const page = await store.management.runs.runs(tenant.ref, 'first', requestedRuns(requested))
        return page!.runs.map(({ key }) => key)
      }
      const completed = () => (run: RunRow) => run.completedAt !== null
      expect(await found({ filter: completed })).toEqual(['rd', 'ra'])
      expect(await found({ filter: completed, max: 1 })).toEqual(['rd'])
      expect(await found({ answered: true })).toEqual([])
      expect(await found({ started: { startMs: 20, endMs: 40 } })).toEqual(['rc', 'rb'])
      const both = { filter: completed, started: { startMs: 10, endMs: 40 } }
      expect(await found(both)).toEqual(['ra'])
    })

    test('make runs, of which one page looks at no more than the allowed number', async () => {
      const start = (runId: string, at: number) =>
        tenant.event(runId, { kind: 'flow_started', flowKey: 'first', userId: 'u', runId, at })
      await append(start('a', 10), start('b', 30), start('c', 20))
      const { runs } = store.management
      const requested = requestedRuns({ filter: () => () => false, maxScanned: 2 })
      const first = (await runs.runs(tenant.ref, 'first', requested))!
      expect(first.runs).toEqual([])
      expect(first.rest).not.toBeNull()
      const next = await runs.runs(tenant.ref, 'first', { ...requested, after: first.rest })
      expect(next).toMatchObject({ runs: [], rest: null })
    })

    test('of a flow come in order of arrival, without those of other flows in the same batch', async () => {
      await append(custom('a', 'first', 30), custom('b', 'second', 20), custom('c', 'first', 10))
      await append(custom('d', undefined, 5), custom('e', 'first', 1))
      expect(await exported('first')).toEqual(['a', 'c', 'e'])
      expect(await exported('second')).toEqual(['b'])
    })

    test('of a range are those that occurred from its start until before its end', async () => {
      await append(custom('a', 'first', 10), custom('b', 'first', 20), custom('c', 'first', 30))
      await append(custom('d', 'first', 20), custom('e', 'first', 9))
      await append(custom('f', 'first', 40))
      expect(await exported('first', { startMs: 10, endMs: 30 })).toEqual(['a', 'b', 'd'])
      expect(await exported('first', { startMs: 30, endMs: 41 })).toEqual(['c', 'f'])
      expect(await exported('first', { startMs: 31, endMs: 40 })).toEqual([])
    })

    test('are all there even if they fill more batches than a page has', async () => {
      const all = Array.from({ length: 300 }, (_, i) => `e${i}`)
      for (const [i, id] of all.entries()) await append(custom(id, i % 3 ? 'first' : 'second', i))
      expect(await exported('first')).toEqual(all.filter((_, i) => i % 3))
      expect(await exported('second')).toEqual(all.filter((_, i) => i % 3 === 0))
    })

    test('sent at the same moment are stored, or reported as duplicates, as if sent one by one', async () => {
      const sent = [append(custom('a')), append(custom('a'), custom('a'), custom('b'))]
      store.clock.advance(5)
      sent.push(append(custom('c'), custom('b')))
      const outcomes = await Promise.all(sent)
      expect(outcomes.map(({ duplicates }) => duplicates)).toEqual([[], [0, 1], [1]])
      const now = store.clock.now()
      // Each keeps its time of receipt.
      expect((await tenant.events()).map(({ id, receivedAt }) => [id, receivedAt - now])).toEqual([
        ['a', -5],
        ['b', -5],
        ['c', 0],
      ])
    })

    test('that are left out as duplicates do not affect those beside them', async () => {
      await append(custom('a', 'first', 1, 'mine'))
      const outcome = await append(
        custom('a', 'first', 1, 'mine'),
        custom('b', 'first', 2, 'mine'),
        custom('b', 'second', 3, 'other'),
        custom('c', 'first', 4, 'mine'),
      )
      expect(outcome.duplicates).toEqual([0, 2])
      expect(await exported('first')).toEqual(['a', 'b', 'c'])
      expect(await exported('second')).toEqual([])
      const again = await append(custom('c', 'first', 9), custom('b', 'first', 9))
      expect(again.duplicates).toEqual([0, 1])
    })

    test('are taken at once even if they are more than twice as many as an API batch may hold', async () => {
      const all = Array.from({ length: 130 }, (_, i) => `e${i}`)
      const events = all.map((id, i) => custom(id, 'first', i))
      expect((await append(...events, custom('e7', 'first', 1))).duplicates).toEqual([130])
      expect(await exported('first')).toEqual(all)
      expect((await append(...events)).duplicates).toHaveLength(130)
    })

    test('are stored once per id, whatever is sent and however often the store is reopened', async () => {
      const sending = fc.array(
        fc.record({
          by: fc.nat(1),
          ids: fc.array(fc.nat(60), { minLength: 1, maxLength: 12 }),
          isAwaited: fc.boolean(),
          reopens: fc.integer({ min: 0, max: 11 }).map(n => n === 0),
        }),
        { minLength: 5, maxLength: 30 },
      )
      const own = await open()
      await fc.assert(
        fc.asyncProperty(sending, async batches => {
          const tenants = [await Tenant.of(own), await Tenant.of(own)]
          const known = tenants.map(() => new Map<string, string>())
          let pending: Promise<unknown>[] = []
          for (const [n, { by, ids, isAwaited, reopens }] of batches.entries()) {
            const expected: number[] = []
            const events = ids.map((id, i) => {
              const [text, name] = [`id-${id}`, `body ${n} ${i}`]
              if (known[by]!.has(text)) expected.push(i)
              else known[by]!.set(text, name)
              return tenants[by]!.event(text, { kind: 'custom', name, userId: 'u' })
            })
            const outcome = tenants[by]!.append(events)
            pending.push(outcome.then(({ duplicates }) => expect(duplicates).toEqual(expected)))
            if (!isAwaited && !reopens) continue
            await Promise.all(pending)
            pending = []
            if (reopens) await own.reopen()
          }
          await Promise.all(pending)
          for (const [i, tenant] of tenants.entries()) {
            // The first body is kept.
            const stored = (await tenant.events()).map(({ id, name }) => [id, name!] as const)
            expect(stored).toEqual([...known[i]!])
          }
        }),
        { numRuns: rounds(12) },
      )
      await own.close()
    }, 300_000)
  })

  describe('completions', () => {
    test('keep the earliest time that is reported, and each is an event', async () => {
      const ann = { userId: 'ann', anonymousId: null }
      const complete = (at: number) => tenant.complete('first', ann, { at })
      expect(await complete(20)).toEqual({ completedAt: 20, alreadyCompleted: false })
      expect(await complete(30)).toEqual({ completedAt: 20, alreadyCompleted: true })
      expect(await complete(10)).toEqual({ completedAt: 10, alreadyCompleted: true })
      expect((await tenant.progress('first', ann)).completedAt).toBe(10)
      const events = await tenant.events()
      expect(events[0]).toMatchObject({
        ...{ kind: 'flow_completed', source: 'complete', userId: 'ann', occurredAt: 20 },
        flowKey: 'first',
      })
    })

    test('and ticks change the progress version of their person, and of nobody else', async () => {
      const [ann, bob] = ['ann', 'bob'].map(userId => ({ userId, anonymousId: null })) as [
        { userId: string; anonymousId: null },
        { userId: string; anonymousId: null },
      ]
      await tenant.publish(
        definitionOf({ ...flowOf('list'), checklist: { items: [{ key: 'one', title: 'One' }] } }),
      )
      const version = async (person: typeof ann) =>
        store.stores.checklists.version(tenant.ref, person)
      const seen = [await version(ann)]
      await tenant.complete('first', ann)
      seen.push(await version(ann))
      await tenant.tick('list', ann, { one: true })
      seen.push(await version(ann))
      expect(new Set(seen).size).toBe(3)
      expect(await version(ann)).toBe(seen[2]!)
      const before = await version(ann)
      await tenant.complete('first', bob)
      expect(await version(ann)).toBe(before)
    })
  })

  describe('the ledger', () => {
    const action = fc.oneof(
      fc.record({ send: fc.integer({ min: 1, max: 50 }), by: fc.constantFrom('us', 'them') }),
      fc.record({ read: fc.integer({ min: 1, max: 90 }) }),
    )

    test('is read after a cursor in order of arrival, without gap or repeat, whatever arrives meanwhile', async () => {
      let sent = 0
      await fc.assert(
        fc.asyncProperty(fc.array(action, { maxLength: 30 }), async actions => {
          const [us, them] = [await Tenant.of(store), await Tenant.of(store)]
          const batch = (of: Tenant, size: number) =>
            of.append(
              Array.from({ length: size }, () =>
                of.event(`e${sent++}`, { kind: 'custom', name: 'x', userId: 'u' }),
              ),
            )
          const told: string[] = []
          let after: string | null = null
          for (const next of actions) {
            if ('send' in next) {
              const half = Math.ceil(next.send / 2)
              const by = next.by === 'us' ? us : them
              await Promise.all([batch(by, half), batch(by, half)])
              continue
            }
            const page: LoggedEvent[] = (await us.eventsAfter(after, next.read))!
            expect(await us.eventsAfter(after, next.read)).toEqual(page)
            expect(page.length).toBeLessThanOrEqual(next.read)
            told.push(...ids(page))
            after = page.at(-1)?.cursor ?? after
          }
          told.push(...ids((await us.eventsAfter(after))!))
          expect(told).toEqual(ids(await us.events()))
        }),
        { numRuns: rounds(25) },
      )
    })

    test('has nothing new if only others send events, and knows no cursor that it has not given', async () => {
      expect(await tenant.eventsAfter(null)).toEqual([])
      await append(custom('last'))
      const { cursor } = (await tenant.events())[0]!
      const them = await Tenant.of(store)
      for (let i = 0; i < 3; i++) {
        await them.append([them.event(`of others ${i}`, { kind: 'custom', userId: 'u' })])
        expect(await tenant.eventsAfter(cursor)).toEqual([])
      }
      await append(custom('newer'))
      expect(ids((await tenant.eventsAfter(cursor))!)).toEqual(['newer'])
      expect(await tenant.eventsAfter('zzzzzzzz')).toBeNull()
    })

    test('keeps its cursors when people are erased', async () => {
      await append(custom('a', 'first', 1, 'ann'), custom('b', 'first', 2), custom('c', 'first', 3))
      const before = await tenant.events()
      await tenant.erase('uann')
      const after = await tenant.events()
      expect(after.map(({ cursor }) => cursor)).toEqual(before.map(({ cursor }) => cursor))
      expect(after.slice(1)).toEqual(before.slice(1))
      expect(after[0]!.anonymousId ?? after[0]!.userId).toBeString()
    })

    test('skips what the retention has deleted, and cursors still work if nothing is left at a start', async () => {
      const own = await open()
      const tenant = await Tenant.of(own)
      const send = (id: string) =>
        tenant.append([tenant.event(id, { kind: 'custom', name: 'x', userId: 'u' })])
      for (const id of ['a', 'b', 'c']) await send(id)
      const [first, , last] = await tenant.events()
      own.clock.advance(4 * day)
      await send('d')
      own.clock.advance(2 * day)
      await own.retain(5)
      expect(ids((await tenant.eventsAfter(first!.cursor))!)).toEqual(['d'])
      own.clock.advance(20 * day)
      await own.retain(5)
      expect(await tenant.eventsAfter(last!.cursor)).toEqual([])
      await own.reopen()
      expect(await tenant.eventsAfter(last!.cursor)).toEqual([])
      await send('e')
      expect(ids((await tenant.eventsAfter(last!.cursor))!)).toEqual(['e'])
      await own.close()
    })
  })

  describe('the retention', () => {
    const send = (of: Tenant, id: string) =>
      of.append([of.event(id, { kind: 'custom', name: 'x', userId: 'u' })])

    let own: Store
    let one: Tenant
    let other: Tenant
    beforeEach(async () => {
      own = await open()
      one = await Tenant.of(own)
      other = await Tenant.of(own)
    })
    const kept = async () => [ids(await one.events()), ids(await other.events())]

    test('keeps events to the last millisecond of the period since receipt, and no longer than allowed', async () => {
      await send(one, 'a')
      own.clock.advance(1)
      await send(one, 'b')
      own.clock.advance(90 * day - 1)
      await own.retain(90)
      expect((await kept())[0]).toEqual(['a', 'b'])
      own.clock.advance(1)
      await own.retain(90)
      expect((await kept())[0]).toEqual(['b'])
      // An id is kept as long as its event.
      expect((await send(one, 'a')).duplicates).toEqual([])
      own.clock.advance(1)
      await own.retain(90)
      expect((await kept())[0]).toEqual(['a'])
      await own.close()
    })

    test('uses an organisation’s own period once it is set, shorter or longer than the server’s', async () => {
      for (const id of ['a', 'b', 'c']) {
        await send(one, id)
        await send(other, id)
        own.clock.advance(60 * day)
      }
      await other.change({ settings: { retentionDays: 200 } })
      await own.retain(90)
      expect(await kept()).toEqual([['c'], ['a', 'b', 'c']])
      own.clock.advance(60 * day)
      await own.retain(90)
      expect(await kept()).toEqual([[], ['b', 'c']])
      await other.change({ settings: { retentionDays: 7 } })
      await own.retain(90)
      expect(await kept()).toEqual([[], []])
      await own.close()
    })

    test('also deletes step reports and dead letters of that time, and keeps baselines', async () => {
      await one.publish(flowOf('first'))
      const stepRef = one.stepRef('first', 'a')
      const about = { orgRef: one.ref, stepRef, version: 1, url: null, snippetVersion: null }
      const fingerprint = { selector: '#a', matchCount: 1, tag: 'a', id: 'a', classes: [] }
      await own.stores.steps.recordFingerprint({
        ...{ ...about, isCurrent: true, target: '{}', candidates: [], locale: null },
        fingerprint: fingerprint as never,
        at: own.clock.now(),
      })
      await own.stores.steps.recordHealth({
        ...{ ...about, person: 'uu', outcome: 'found', at: own.clock.now(), selector: null },
        ...{ matchCount: 1, waitMs: null, message: null },
      })
      const release = await own.refuse('poison')
      await send(one, 'poison')
      await release()
      const counts = async () => [
        (await own.stores.steps.healthCounts(one.ref, stepRef, 1, 0)).found,
        (await own.management.operations.deadLetters(one.ref, 9)).count,
        Object.values(await one.stored('uu')).flat().length,
      ]
      const [found, letters, stored] = await counts()
      expect([found, letters]).toEqual([1, 1])
      expect(stored).toBeGreaterThan(0)
      own.clock.advance(91 * day)
      await own.retain(90)
      expect(await counts()).toEqual([0, 0, 0])
      expect(await own.management.evidence.baseline(one.ref, stepRef)).not.toBeNull()
      await own.close()
    })
  })
}
