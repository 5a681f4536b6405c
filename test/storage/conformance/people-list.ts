import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { personOf } from '../../../src/core/event/event.ts'
import type { ListedPerson, PeopleOrder } from '../../../src/storage/interfaces/people.ts'
import { historyArbitrary, springAnchor } from '../../support/histories.ts'
import type { OpenStore, Rounds } from './store.ts'
import { definitionOf, rebuilt, Tenant } from './tenant.ts'

const day = 86_400_000
const byId: PeopleOrder = { by: 'id', isDescending: false }

const tour = definitionOf({ key: 'tour', steps: [{ key: 'hello', title: 'Hello', kind: 'modal' }] })

async function listed(tenant: Tenant, order = byId, after: ListedPerson | null = null) {
  const pages = tenant.store.management.peopleList.people(tenant.ref, order, after)
  return (await Array.fromAsync(pages)).flat()
}

const everybody = { search: null, rules: [], flows: [] }
const stillThere = new AbortController().signal

const count = ({ store, ref }: Tenant) =>
  store.management.peopleList.count(ref, everybody, stillThere)

/** The order of names in storage, which differs from that of code units. */
const byUtf8 = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** What a list says, in plain values. */
const plain = ({ person, firstAt, lastAt, traits, pages }: ListedPerson) => ({
  ...{ person, firstAt, lastAt, pages },
  traits: Object.fromEntries([...traits].map(([name, { value }]) => [name, value])),
})

export function peopleListConforms(open: OpenStore, rounds: Rounds): void {
  describe('a list of people', () => {
    test('says what all their events say, in any batches, repeated, settled or rebuilt', async () => {
      const store = await open()
      await fc.assert(
        fc.asyncProperty(
          historyArbitrary({ anchor: springAnchor }),
          fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 5 }),
          fc.constantFrom('nothing', 'settle', 'rebuild'),
          async (history, sizes, next) => {
            const tenant = await Tenant.withFlows(store, history.flows)
            const events = history.events.map((event, i) => tenant.event(`e${i}`, event))
            let from = 0
            for (const size of [...sizes, events.length]) {
              const some = events.slice(from, from + size)
              for (const again of [some, some.slice(0, 3)]) {
                if (again.length > 0) await tenant.append(again)
              }
              from += size
            }
            if (next === 'settle') await store.settle()
            if (next === 'rebuild') await rebuilt(store)
            const own = Map.groupBy(events, ({ userId, anonymousId }) =>
              personOf(userId, anonymousId),
            )
            const expected = [...own].map(([person, theirs]) => {
              const times = theirs.map(({ occurredAt }) => occurredAt)
              const traits: Record<string, string> = {}
              for (const event of theirs.toSorted((a, b) => a.occurredAt - b.occurredAt)) {
                Object.assign(traits, JSON.parse(event.traits ?? '{}'))
              }
              return {
                person,
                ...{ firstAt: Math.min(...times), lastAt: Math.max(...times) },
                traits: Object.keys(traits).sort(),
              }
            })
            const people = await listed(tenant)
            expect(
              people.map(plain).map(({ pages: _, ...person }) => ({
                ...person,
                traits: Object.keys(person.traits).sort(),
              })),
            ).toEqual(expected.sort((a, b) => byUtf8(a.person, b.person)))
            expect(await count(tenant)).toBe(people.length)
          },
        ),
        { numRuns: rounds(25) },
      )
      await store.close()
    }, 300_000)

    test('has the latest traits and pages, in every order and from any place', async () => {
      const store = await open()
      const tenant = await Tenant.of(store)
      const other = await Tenant.of(store)
      await tenant.publish(tour)
      await other.publish(tour)
      const at = store.clock.now() - day
      const custom = { kind: 'custom', name: 'seen' } as const
      const start = { kind: 'flow_started', flowKey: 'tour' } as const
      await other.append([other.event('theirs', { ...custom, userId: 'ann' })])
      await tenant.append([
        tenant.event('1', { ...start, userId: 'ann', at: at + 5, traits: { plan: 'pro' } }),
        tenant.event('2', { ...start, userId: 'ann', at, traits: { plan: 'free', role: 'admin' } }),
        tenant.event('3', {
          ...custom,
          userId: 'ann',
          at: at + 3,
          url: 'https://a.example/x?y=1#z',
        }),
        tenant.event('4', { ...custom, userId: 'ann', at: at + 1, url: 'https://a.example/x' }),
        tenant.event('5', { ...custom, userId: 'ann', at: at + 2, url: 'https://a.example/w' }),
        tenant.event('6', { ...custom, anonymousId: 'ann', at: at + 9 }),
        tenant.event('7', { ...custom, userId: 'bob', at: at - 9 }),
        tenant.event('8', { ...custom, userId: 'carl', at: at + 9 }),
      ])
      const ann = await store.management.peopleList.person(tenant.ref, 'uann')
      expect(ann && plain(ann)).toEqual({
        ...{ person: 'uann', firstAt: at, lastAt: at + 5 },
        traits: { plan: 'pro', role: 'admin' },
        pages: [
          { url: 'https://a.example/x', at: at + 3 },
          { url: 'https://a.example/w', at: at + 2 },
        ],
      })
      expect(await store.management.peopleList.person(tenant.ref, 'unobody')).toBeNull()
      const met = await store.management.peopleList.metFlows(tenant.ref, ['uann', 'ubob'])
      expect([met.get('uann')!.length, met.get('ubob')!.length]).toEqual([1, 0])

      const { peopleList } = store.management
      const byPlan = { by: { trait: 'plan' }, isDescending: false, max: 2 }
      const begun = await peopleList.first(
        tenant.ref,
        { ...byPlan, after: null },
        everybody,
        stillThere,
      )
      const after = begun.at(-1)!
      const rest = await peopleList.first(tenant.ref, { ...byPlan, after }, everybody, stillThere)
      // Those without the trait come last, by name.
      const found = [...begun, ...rest].map(({ person, value }) => [person, value])
      expect(found).toEqual([
        ['uann', 'pro'],
        ['aann', null],
        ['ubob', null],
        ['ucarl', null],
      ])

      const orders = {
        id: ['aann', 'uann', 'ubob', 'ucarl'],
        firstSeen: ['ubob', 'uann', 'aann', 'ucarl'],
        lastSeen: ['ubob', 'uann', 'aann', 'ucarl'],
      }
      for (const [by, expected] of Object.entries(orders)) {
        for (const isDescending of [false, true]) {
          const order = { by: by as PeopleOrder['by'], isDescending }
          const all = await listed(tenant, order)
          const names = isDescending ? expected.toReversed() : expected
          expect(all.map(({ person }) => person)).toEqual(names)
          for (const [i, place] of all.entries()) {
            const rest = await listed(tenant, order, place)
            expect(rest.map(({ person }) => person)).toEqual(names.slice(i + 1))
          }
        }
      }
      await store.close()
    })

    test('forgets with the events: people, traits and pages, also after a rebuild', async () => {
      const store = await open()
      const tenant = await Tenant.of(store)
      await tenant.publish(tour)
      const start = { kind: 'flow_started', flowKey: 'tour', url: 'https://a.example/old' } as const
      await tenant.append([
        tenant.event('1', { ...start, userId: 'gone', traits: { plan: 'pro' } }),
        tenant.event('2', { ...start, userId: 'stays', traits: { plan: 'pro' } }),
      ])
      const firstAt = store.clock.now()
      store.clock.advance(20 * day)
      await tenant.append([tenant.event('3', { kind: 'custom', name: 'seen', userId: 'stays' })])
      const lastAt = store.clock.now()
      await store.retain(10)
      const left = [{ person: 'ustays', firstAt, lastAt, traits: {}, pages: [] }]
      expect((await listed(tenant)).map(plain)).toEqual(left)
      await rebuilt(store)
      expect((await listed(tenant)).map(plain)).toEqual(left)
      await store.close()
    })

    test('has nobody who was erased, under any name, also after a rebuild', async () => {
      const store = await open()
      const tenant = await Tenant.of(store)
      await tenant.publish(tour)
      const start = { kind: 'flow_started', flowKey: 'tour' } as const
      await tenant.append([
        tenant.event('1', { ...start, userId: 'gone', traits: { plan: 'pro' } }),
        tenant.event('2', { ...start, userId: 'stays' }),
      ])
      await tenant.erase('ugone')
      for (const _ of ['erased', 'rebuilt']) {
        expect((await listed(tenant)).map(({ person }) => person)).toEqual(['ustays'])
        await rebuilt(store)
      }
      await store.close()
    })
  })
}
