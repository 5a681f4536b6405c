import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type CausedAt, mergeCaused } from '../../../src/core/event/caused.ts'
import { type Candidate, firstDue, noHistory } from '../../../src/core/flow/decision.ts'
import { decide } from '../../../src/core/flow/explanation.ts'
import {
  changesInMs,
  judgeOf,
  type Moment,
  newcomer,
  rolloutOf,
} from '../../../src/core/flow/moment.ts'
import { spanMs, spanOf } from '../../../src/core/flow/schedule.ts'
import { rounds } from '../../support/rounds.ts'

/** When a flow begins, and for whom, apart from its address and audience. */

const now = Date.UTC(2026, 10, 20, 12)
const dayMs = 86_400_000

type Timed = Pick<Candidate['flow'], 'schedule' | 'when' | 'rollout'>

const flow = (timed: Timed = {}, key = 'welcome'): Candidate['flow'] => ({
  ...{ key, kind: 'tour', priority: 0, frequency: 'always', checklist: null, steps: [] },
  targeting: { urls: [], audience: { match: 'all', rules: [] } },
  ...timed,
})
const candidate = (timed: Timed = {}, key = 'welcome'): Candidate => ({
  ...{ flow: flow(timed, key), status: 'published', history: noHistory },
})
const place = { url: new URL('https://app.example.com/'), traits: {} }
const failed = (timed: Timed, moment: Partial<Moment> = {}) =>
  decide(candidate(timed), { ...newcomer(now), ...place, ...moment }, []).rules.flatMap(
    ({ rule, holds, why }) => (holds === true ? [] : [`${rule} ${holds}: ${why}`]),
  )

describe('a schedule', () => {
  const from = '2026-11-20T13:00'
  test.each([
    [{ from, timezone: 'UTC' }, 'schedule false: it starts on 2026-11-20 13:00 UTC'],
    [{ from, timezone: 'Europe/Berlin' }, undefined],
    [{ from, timezone: 'America/New_York' }, 'schedule false: it starts on 2026-11-20 18:00 UTC'],
    [{ to: '2026-11-20', timezone: 'UTC' }, undefined],
    [
      { to: '2026-11-19', timezone: 'UTC' },
      'schedule false: it ended on 2026-11-20 00:00 UTC; only runs already started continue',
    ],
    [
      { to: '2026-11-20T12:00', timezone: 'UTC' },
      'schedule false: it ended on 2026-11-20 12:00 UTC; only runs already started continue',
    ],
  ])('%p', (schedule, why) => {
    expect(failed({ schedule })[0]).toBe(why as string)
  })

  test('a run that has begun goes on after the schedule ends', () => {
    const schedule = { to: '2026-11-19', timezone: 'UTC' }
    const begun = {
      ...candidate({ schedule }),
      history: { ...noHistory, runs: 1, inProgress: true },
    }
    expect(decide(begun, { ...newcomer(now), ...place }, []).shown).toBe(true)
  })

  test('local times of a zone are read as Temporal reads them', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Apia', 'Asia/Kolkata']
    const odd = ['Australia/Lord_Howe', 'America/Sao_Paulo', 'Africa/Casablanca', 'Asia/Tehran']
    const minute = fc.integer({ min: 0, max: 40 * 365 * 24 * 60 })
    fc.assert(
      fc.property(fc.constantFrom(...zones, ...odd), minute, (timezone, minutes) => {
        const local = new Date(Date.UTC(2000, 0) + minutes * 60_000).toISOString().slice(0, 16)
        const is = Temporal.PlainDateTime.from(local).toZonedDateTime(timezone).epochMilliseconds
        expect(spanOf({ from: local, timezone }).from).toBe(is)
      }),
      { numRuns: rounds(2_000) },
    )
  })

  test.each([
    ['Europe/Berlin', '2026-03-29T02:30'],
    ['Europe/Berlin', '2026-10-25T02:30'],
    ['America/Sao_Paulo', '2018-11-04'],
  ])('also when the clocks change, %s %s', (timezone, local) => {
    const is = Temporal.PlainDateTime.from(local).toZonedDateTime(timezone).epochMilliseconds
    expect(spanOf({ from: local, timezone }).from).toBe(is)
  })
})

describe('a rollout', () => {
  const people = Array.from({ length: 20_000 }, (_, i) => `uperson-${i}`)
  const share = (key: string, percent: number, holdOut?: number) =>
    people.map(person =>
      rolloutOf({ key, rollout: { percent, ...(holdOut && { holdOut }) } }, person),
    )
  const count = (of: string[], what: string) => of.filter(one => one === what).length / of.length

  test('takes in the given percentage, in any flow', () => {
    for (const key of ['a', 'b', 'welcome', 'spring-release']) {
      for (const percent of [1, 10, 50, 90]) {
        const part = 1 - count(share(key, percent), 'out')
        // Four standard deviations for this number of people.
        const reach = 4 * Math.sqrt(((percent / 100) * (1 - percent / 100)) / people.length)
        expect(Math.abs(part - percent / 100)).toBeLessThan(reach)
      }
      expect(count(share(key, 100), 'in')).toBe(1)
      expect(count(share(key, 0), 'out')).toBe(1)
    }
  })

  test('people who are in or held out stay so when the percentage grows', () => {
    const percent = fc.integer({ min: 0, max: 100 })
    const holdOut = fc.integer({ min: 1, max: 90 })
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        percent,
        percent,
        holdOut,
        (key, person, a, b, held) => {
          const [less, more] = [Math.min(a, b), Math.max(a, b)]
          const of = (percent: number) =>
            rolloutOf({ key, rollout: { percent, holdOut: held } }, person)
          if (of(less) !== 'out') expect(of(more)).toBe(of(less))
        },
      ),
    )
  })

  test('is independent of any other flow, and the hold-out is independent of the rollout', () => {
    const [a, b] = [share('a', 50, 50), share('b', 50, 50)]
    const both = people.filter((_, i) => a[i] !== 'out' && b[i] !== 'out').length / people.length
    expect(Math.abs(both - 0.25)).toBeLessThan(0.02)
    expect(Math.abs(count(a, 'held_out') - 0.25)).toBeLessThan(0.02)
  })

  test('is undecided while the person is unknown', () => {
    expect(failed({ rollout: { percent: 50 } })[0]).toStartWith(
      'rollout null: 50 % of people see it',
    )
    expect(failed({ rollout: { percent: 0 } })[0]).toStartWith('rollout false')
  })
})

describe('what has to have happened', () => {
  test.each([
    [
      { after: 'first' },
      {},
      'after false: first was not completed by this person, or is not published',
    ],
    [{ after: 'first' }, { completed: new Set(['first']) }, undefined],
    [{ event: 'e' }, { events: { e: [1] } }, undefined],
    [
      { event: 'e', within: '24h' },
      { events: { e: [now - dayMs] } },
      'event false: e was tracked 0 times in the last 24h, 1 time needed; as far as the server knows',
    ],
    [{ event: 'e', within: '24h' }, { events: { e: [now - dayMs + 1] } }, undefined],
    [
      { event: 'e', count: 2 },
      { events: { e: [now] } },
      'event false: e was tracked 1 time, 2 times needed; as far as the server knows',
    ],
    [{ delayMs: 5 }, {}, 'delay null: on the page for 0.005 s, which only the browser knows'],
    [
      { element: '#a' },
      {},
      'element null: only the browser knows whether #a is visible on the page',
    ],
    [
      { trigger: { on: 'click', element: '#a' } },
      {},
      'trigger null: waits for a click on #a, which only the browser knows',
    ],
    [
      { trigger: { on: 'event', event: 'e' } },
      { onPage: { viewedMs: 0, sees: () => true, isTriggered: () => false } },
      'trigger false: waits for the event e',
    ],
    [
      { trigger: { on: 'event', event: 'e' } },
      { onPage: { viewedMs: 0, sees: () => true, isTriggered: () => true } },
      undefined,
    ],
  ] as [Timed['when'], Partial<Moment>, string | undefined][])('%p', (when, moment, why) => {
    expect(failed({ when: when! }, moment)[0]).toBe(why as string)
  })

  test('an interruption counts for a day', () => {
    const throttle = { most: 1, begun: [now - dayMs + 1] }
    expect(failed({}, { throttle })).toEqual([
      'throttle false: 1 of at most 1 interruptions in the last 24 hours',
    ])
    expect(failed({}, { throttle: { most: 1, begun: [now - dayMs] } })).toEqual([])
    expect(changesInMs(flow(), { ...newcomer(now), throttle })).toBe(1)
  })
})

test('a flow that waits for a trigger comes before no other, as far as the server knows', () => {
  const visit = { ...newcomer(now), ...place }
  const waits = candidate({ when: { trigger: { on: 'event', event: 'e' } } }, 'a')
  expect(decide(candidate({}, 'b'), visit, [waits])).toMatchObject({ shown: true, winner: 'b' })
  const begun = { ...waits, history: { ...noHistory, runs: 1, inProgress: true } }
  expect(decide(candidate({}, 'b'), visit, [begun])).toMatchObject({ shown: false, winner: 'a' })
})

test('pages and explain reach the same decision', () => {
  const local = fc.constantFrom('2026-11-19', '2026-11-20', '2026-11-20T11:00', '2026-11-20T13:00')
  const timed: fc.Arbitrary<Timed> = fc.record(
    {
      schedule: fc
        .record({ from: local, to: local }, { requiredKeys: [] })
        .map(span => ({ ...span, timezone: 'UTC' })),
      when: fc.record(
        {
          delayMs: fc.constantFrom(0, 5_000),
          after: fc.constantFrom('a', 'b', 'none'),
          event: fc.constantFrom('did', 'done'),
          count: fc.integer({ min: 1, max: 3 }),
          within: fc.constantFrom('30m', '7d'),
          element: fc.constantFrom('#seen', '#unseen'),
          trigger: fc.constantFrom('#pressed', '#other').map(element => ({ on: 'click', element })),
        },
        { requiredKeys: [] },
      ),
      rollout: fc.record({ percent: fc.constantFrom(0, 50, 100), holdOut: fc.constantFrom(1, 50) }),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Timed>
  const past = fc.array(fc.constantFrom(now, now - 3_600_000, now - 8 * dayMs), { maxLength: 4 })
  const moment = fc.record({
    now: fc.constant(now),
    person: fc.string().map(name => `u${name}`),
    completed: fc.uniqueArray(fc.constantFrom('a', 'b')).map(keys => new Set(keys)),
    events: fc.record({ did: past, done: past }, { requiredKeys: [] }),
    throttle: fc.option(fc.record({ most: fc.integer({ min: 1, max: 3 }), begun: past })),
    onPage: fc.record({ viewedMs: fc.constantFrom(0, 6_000) }).map(({ viewedMs }) => ({
      viewedMs,
      sees: (selector: string) => selector === '#seen',
      isTriggered: ({ when }: Timed) => when?.trigger?.element === '#pressed',
    })),
  }) as fc.Arbitrary<Moment>
  const isGoingOn = fc.boolean()
  const some = fc.array(fc.tuple(timed, isGoingOn), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(some, moment, (flows, moment) => {
      const all = flows.map(
        ([one, inProgress], i): Candidate => ({
          ...candidate(one, `flow-${i}`),
          history: { ...noHistory, runs: Number(inProgress), inProgress },
        }),
      )
      const held: string[] = []
      const shown = firstDue(all, place, judgeOf(moment), ({ flow }) => held.push(flow.key))
      for (const one of all) {
        const others = all.filter(other => other !== one)
        const decision = decide(one, { ...moment, ...place }, others)
        expect(decision.shown).toBe(one === shown)
        expect(decision.winner).toBe(shown?.flow.key ?? null)
        // This moment includes the page, so no rule is left for a browser to decide.
        if (!decision.shown) expect(decision.rules.some(({ holds }) => holds === false)).toBe(true)
      }
      expect(held).not.toContain(shown?.flow.key as string)
    }),
    { numRuns: rounds(2_000) },
  )
})

test('caused events can be joined in any order and repeatedly, and each counts once', () => {
  const time = fc.tuple(
    fc.nat(50),
    fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  ) as fc.Arbitrary<CausedAt>
  const list = fc.array(time, { maxLength: 12 })
  fc.assert(
    fc.property(list, list, list, fc.integer({ min: 1, max: 5 }), (a, b, c, most) => {
      const join = (...all: (readonly CausedAt[])[]) =>
        all.reduce((known, more) => mergeCaused(known, more, 50), []).slice(0, most)
      expect(join(b, c, a, a)).toEqual(join(a, b, c))
      const marks = join(a, b, c).map(([, mark]) => mark)
      expect(new Set(marks).size).toBe(marks.length)
    }),
  )
})

test('lengths of time', () => {
  expect(['30m', '24h', '7d'].map(spanMs)).toEqual([1_800_000, dayMs, 7 * dayMs])
})
