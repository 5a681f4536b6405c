import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Fingerprint } from '../../../src/core/step/fingerprint.ts'
import { allowedFingerprint } from '../../../src/core/step/fingerprint.ts'
import type { OpenStore, Store } from './store.ts'
import { definitionOf, rebuilt, Tenant } from './tenant.ts'

const hour = 3_600_000

const tour = definitionOf({
  key: 'welcome',
  steps: [
    { key: 'hello', title: 'Hello' },
    { key: 'search', title: 'Search', target: { selector: '#search' } },
  ],
})

type HealthReport = Parameters<Store['stores']['steps']['recordHealth']>[0]
type FingerprintReport = Parameters<Store['stores']['steps']['recordFingerprint']>[0]

export function stepsConform(open: OpenStore): void {
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

  const stepRef = () => tenant.stepRef('welcome', 'search')
  const about = (version = 1) => ({
    ...{ orgRef: tenant.ref, stepRef: stepRef(), version, at: store.clock.now() },
    ...{ url: null, snippetVersion: null },
  })
  const evidence = (version = 1, of = tenant) =>
    store.management.evidence.evidence(of.ref, stepRef(), version, store.clock.now())

  let people = 0
  const report = (outcome: HealthReport['outcome'], more: Partial<HealthReport> = {}) =>
    store.stores.steps.recordHealth({
      ...{ ...about(), person: `up${++people}`, outcome, message: null },
      ...{ selector: null, matchCount: null, waitMs: null, ...more },
    })

  const print = (more: object = {}): Fingerprint =>
    allowedFingerprint({
      ...{ selector: '#search', matchCount: 1, tag: 'input', id: 'search', name: 'Search' },
      ...{ attributes: { type: 'search' }, ...more },
    } as never)
  const look = (
    fingerprint: Fingerprint | null,
    candidates: Fingerprint[] = [],
    more: Partial<FingerprintReport> = {},
  ) =>
    store.stores.steps.recordFingerprint({
      ...{ ...about(), isCurrent: true, target: '{"selector":"#search"}', locale: 'en' },
      ...{ fingerprint, candidates, ...more },
    })

  test('without a report, every field of the evidence is empty', async () => {
    expect(await evidence()).toMatchObject({
      ...{ lastFindAt: null, lastMissAt: null, missesSince: null, fallbackSince: null },
      ...{ pages: [], messages: [], alternate: null, suggestion: null },
      fingerprints: {
        ...{ baselineAt: null, match: 0, drift: 0, gone: 0, latest: null },
      },
    })
    expect(await store.management.evidence.baseline(tenant.ref, stepRef())).toBeNull()
  })

  describe('health reports', () => {
    test('count each report, and each person once by the latest; without a person, only as a report', async () => {
      await report('not_found', { person: 'uann' })
      await report('found', { person: 'uann' })
      await report('hidden', { person: null })
      const { people, reports } = await evidence()
      expect(people).toMatchObject({ found: 1, not_found: 0, hidden: 0 })
      expect(reports).toMatchObject({ found: 1, not_found: 1, hidden: 1 })
      const counts = (sinceMs: number) =>
        store.stores.steps.healthCounts(tenant.ref, stepRef(), 1, sinceMs)
      expect(await counts(0)).toEqual(people)
      expect((await counts(store.clock.now() + 1)).found).toBe(0)
    })

    test('name pages without query and fragment, those with the most misses first', async () => {
      await report('not_found', { url: 'https://app.example/a?token=1#x' })
      await report('not_found', { url: 'https://app.example/a#y?z' })
      await report('changed', { url: 'https://app.example/b' })
      await report('found', { url: 'https://app.example/b' })
      await report('found', { url: 'https://app.example/b' })
      await report('error')
      expect((await evidence()).pages).toEqual([
        { page: 'https://app.example/a', reports: 2, misses: 2, fallback: 0 },
        { page: null, reports: 1, misses: 1, fallback: 0 },
        { page: 'https://app.example/b', reports: 3, misses: 0, fallback: 1 },
      ])
    })

    test('name the alternate selector that found it most often, and up to three messages, latest first', async () => {
      await report('found_by_alternate', { selector: '#a' })
      for (let i = 0; i < 2; i++) await report('found_by_alternate', { selector: '#b' })
      for (let i = 0; i < 3; i++) await report('found', { selector: '#search' })
      await report('found_by_alternate')
      expect((await evidence()).alternate).toEqual({ selector: '#b', reports: 2 })
      for (const message of ['one', 'two', 'three', 'one', 'four']) {
        await report('error', { message })
        store.clock.advance(1_000)
      }
      const { messages } = await evidence()
      expect(messages.map(({ message, reports }) => [message, reports])).toEqual([
        ['four', 1],
        ['one', 2],
        ['three', 1],
      ])
    })

    test('say since when they are bad: the first miss after the finds', async () => {
      for (let i = 0; i < 20; i++) await report('found')
      store.clock.advance(2 * hour)
      const brokeAt = store.clock.now()
      for (let i = 0; i < 20; i++) await report(i === 7 ? 'found' : 'not_found')
      store.clock.advance(hour)
      await report('not_found')
      expect(await evidence()).toMatchObject({
        ...{ missesSince: brokeAt, fallbackSince: null },
        ...{ lastFindAt: brokeAt, lastMissAt: brokeAt + hour },
      })
    })

    test('count for a day, but the moment since when they are bad is found further back', async () => {
      const brokeAt = store.clock.now()
      for (let i = 0; i < 6; i++) await report('not_found', { person: `uold${i}` })
      store.clock.advance(30 * hour)
      for (let i = 0; i < 6; i++) await report('not_found', { person: `unew${i}` })
      expect(await evidence()).toMatchObject({ people: { not_found: 6 }, missesSince: brokeAt })
    })

    test('belong to one version and one organisation', async () => {
      await report('not_found')
      await report('found', { version: 2 })
      expect((await evidence(1)).people).toMatchObject({ not_found: 1, found: 0 })
      expect((await evidence(2)).people).toMatchObject({ not_found: 0, found: 1 })
      const another = await Tenant.of(store)
      expect((await evidence(2, another)).people).toMatchObject({ not_found: 0, found: 0 })
      const counts = await store.stores.steps.healthCounts(another.ref, stepRef(), 1, 0)
      expect(counts).toMatchObject({ not_found: 0, found: 0 })
    })

    describe('of a time range', () => {
      const between = (startMs: number, endMs: number, of = tenant) =>
        store.management.evidence.between(of.ref, stepRef(), startMs, endMs)

      test('count people by their latest in it, of any version; those without a person do not count', async () => {
        const from = store.clock.now()
        await report('found', { person: 'uann' })
        await report('not_found', { person: null })
        store.clock.advance(hour)
        const until = store.clock.now()
        // Of two at the same moment, the one that arrives later is the latest.
        await report('found', { person: 'uann' })
        await report('not_found', { person: 'uann', version: 2 })
        await report('hidden', { person: 'uben' })
        store.clock.advance(hour)
        expect(await between(from, until)).toMatchObject({
          people: { found: 1, not_found: 0, hidden: 0 },
          versions: [1],
        })
        expect(await between(until, store.clock.now())).toMatchObject({
          people: { found: 0, not_found: 1, hidden: 1 },
          versions: [1, 2],
        })
        const nobody = await between(0, from)
        expect([Object.values(nobody.people).every(count => count === 0), nobody.versions]).toEqual(
          [true, []],
        )
        const another = await Tenant.of(store)
        expect((await between(from, until + 2 * hour, another)).versions).toEqual([])
      })

      test('give the same counts after a rebuild, and after an erasure', async () => {
        const from = store.clock.now()
        await report('found', { person: 'uann' })
        await report('not_found', { person: 'uben' })
        store.clock.advance(1)
        const told = await between(from, store.clock.now())
        expect(await rebuilt(store)).toBe(0)
        expect(await between(from, store.clock.now())).toEqual(told)
        await tenant.erase('uben')
        expect(await between(from, store.clock.now())).toEqual(told)
      })

      test('are gone after their retention period', async () => {
        const from = store.clock.now()
        await report('found')
        store.clock.advance(3 * 24 * hour)
        const later = store.clock.now()
        await report('hidden')
        await store.retain(2)
        expect((await between(from, later)).versions).toEqual([])
        expect((await between(later, later + 1)).people.hidden).toBe(1)
      })
    })

    test('still count each person’s latest after a rebuild', async () => {
      await report('found', { person: 'uann' })
      store.clock.advance(1)
      await report('not_found', { person: 'uann' })
      const before = await evidence()
      expect(await rebuilt(store)).toBe(0)
      expect(await evidence()).toEqual(before)
    })
  })

  describe('fingerprints', () => {
    test('are compared with the first that was surely the element, replaced when the target changes', async () => {
      // None of these can be the element: another version, a step that is gone, or two elements.
      expect(await look(print(), [], { isCurrent: false })).toMatchObject({ status: 'gone' })
      expect(await look(print(), [], { target: null })).toMatchObject({ status: 'gone' })
      expect(await look(print({ matchCount: 2 }))).toMatchObject({ status: 'gone' })
      expect(await look(null)).toMatchObject({ status: 'gone', baselineAt: null })
      const at = store.clock.now()
      const first = { status: 'baseline', score: 1, baselineAt: at, suggestedSelector: null }
      expect(await look(print())).toMatchObject(first)
      store.clock.advance(1_000)
      expect(await look(print())).toMatchObject({ status: 'match', baselineAt: at })
      const { baseline } = store.management.evidence
      expect(await baseline(tenant.ref, stepRef())).toEqual({
        ...{ target: { selector: '#search' }, at, locale: 'en', print: print() },
      })
      const other = { target: '{"selector":"#other"}' }
      expect(await look(print({ id: 'other' }), [], other)).toMatchObject({ status: 'baseline' })
      expect((await baseline(tenant.ref, stepRef()))?.at).toBe(at + 1_000)
    })

    test('that are the first at the same moment have one baseline', async () => {
      const verdicts = await Promise.all([look(print()), look(print()), look(print())])
      expect(verdicts.map(({ status }) => status)).toEqual(['baseline', 'match', 'match'])
    })

    test('are counted by verdict, and the latest is reported with its score', async () => {
      await look(print())
      const baselineAt = store.clock.now()
      store.clock.advance(1_000)
      await look(print())
      await look(null)
      await look(print({ id: 'q' }))
      const { fingerprints } = await evidence()
      expect(fingerprints).toMatchObject({ baselineAt, match: 1, drift: 1, gone: 1 })
      expect(fingerprints.latest).toMatchObject({ status: 'drift', at: store.clock.now() })
      const requested = { flowKey: 'welcome', stepKey: 'search', version: 1 }
      const looks = (of: Tenant) => store.management.looks.looks(of.ref, requested, 0)
      expect(await looks(tenant)).toMatchObject({ baseline: { at: baselineAt }, alike: 1, of: 3 })
      expect(await looks(await Tenant.of(store))).toEqual({ baseline: null, alike: 0, of: 0 })
    })

    test('name the selector that was suggested most often, and how often', async () => {
      await look(print())
      await look(null, [print({ selector: '#a' })])
      await look(null, [print({ selector: '#b' })])
      await look(null, [print({ selector: '#b' })])
      await look(null)
      // A match, which needs no suggestion.
      await look(print())
      const { suggestion } = await evidence()
      expect(suggestion).toEqual({ selector: '#b', times: 2, of: 4 })
      await report('found_by_alternate', { selector: '#c' })
      const requested = { flowKey: 'welcome', stepKey: 'search', version: 1 }
      const suggested = (of: Tenant) => store.management.looks.suggested(of.ref, requested, 0)
      expect(await suggested(tenant)).toEqual({ byFingerprints: '#b', byReports: '#c' })
      const nothing = { byFingerprints: null, byReports: null }
      expect(await suggested(await Tenant.of(store))).toEqual(nothing)
    })

    test('suggest a selector if the element is found, but the step’s selector matches others too', async () => {
      await look(print())
      await look(print({ matchCount: 2 }), [print({ selector: 'form #search' })])
      expect(await evidence()).toMatchObject({
        fingerprints: { match: 1 },
        suggestion: { selector: 'form #search', times: 1, of: 1 },
      })
    })
  })
}
