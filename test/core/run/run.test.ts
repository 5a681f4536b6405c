import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type EventKind, eventKinds } from '../../../src/core/event/event.ts'
import {
  addEvent,
  isUnattributed,
  mergeRuns,
  personOfRun,
  type RunEvent,
  runKeyOf,
  runOfEvent,
  versionAt,
} from '../../../src/core/run/run.ts'

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const name = fc.constantFrom('a', 'b', 'Z', '～', '😀')

const eventArbitrary: fc.Arbitrary<RunEvent> = fc.record({
  kind: fc.constantFrom(...(eventKinds as unknown as EventKind[])),
  userId: optional(name),
  anonymousId: name,
  flowVersion: optional(fc.integer({ min: 1, max: 4 })),
  stepId: optional(fc.integer({ min: 1, max: 4 })),
  runId: optional(name),
  sessionId: optional(name),
  occurredAt: fc.integer({ min: 0, max: 20 }),
  traits: optional(fc.constantFrom('{"plan":"pro"}', '{"plan":"free"}')),
  answer: optional(fc.constantFrom('9', '10', '""')),
})

const stateArbitrary = fc
  .array(eventArbitrary, { minLength: 1, maxLength: 8 })
  .map(events => events.map(runOfEvent).reduce(mergeRuns))

describe('the join of run states', () => {
  test('does not depend on the order', () => {
    fc.assert(
      fc.property(stateArbitrary, stateArbitrary, (a, b) => {
        expect(mergeRuns(a, b)).toEqual(mergeRuns(b, a))
      }),
    )
  })

  test('does not depend on the grouping', () => {
    fc.assert(
      fc.property(stateArbitrary, stateArbitrary, stateArbitrary, (a, b, c) => {
        expect(mergeRuns(mergeRuns(a, b), c)).toEqual(mergeRuns(a, mergeRuns(b, c)))
      }),
    )
  })

  test('is the same when events are added one by one', () => {
    fc.assert(
      fc.property(stateArbitrary, eventArbitrary, (state, event) => {
        const joined = mergeRuns(state, runOfEvent(event))
        addEvent(state, event)
        expect(state).toEqual(joined)
      }),
    )
  })

  test('does not depend on repetition', () => {
    fc.assert(
      fc.property(stateArbitrary, a => {
        expect(mergeRuns(a, a)).toEqual(a)
      }),
    )
  })
})

const event = (rest: Partial<RunEvent>): RunEvent => ({
  kind: 'flow_started',
  traits: null,
  answer: null,
  userId: null,
  anonymousId: 'x',
  flowVersion: null,
  stepId: null,
  runId: null,
  sessionId: null,
  occurredAt: 0,
  ...rest,
})

describe('which run an event belongs to', () => {
  test.each([
    ['a run id before anything else', { runId: 'r', sessionId: 's', userId: 'u' }, 'rr'],
    ['then person and session', { sessionId: 's', userId: 'u' }, 's["uu","s"]'],
    ['else the person alone', { userId: 'u' }, 'puu'],
    ['an anonymous person has runs of their own', { anonymousId: 'u' }, 'pau'],
  ])('%s', (_, given, key) => {
    expect(runKeyOf(event(given))).toBe(key)
  })

  test('no two pairs of person and session share a key', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (u1, s1, u2, s2) => {
        fc.pre(u1 !== u2 || s1 !== s2)
        const key = (userId: string, sessionId: string) => runKeyOf(event({ userId, sessionId }))
        expect(key(u1, s1)).not.toBe(key(u2, s2))
      }),
    )
  })

  test('completions and ticks without run and session are unattributed, others never', () => {
    expect(isUnattributed(event({ kind: 'flow_completed' }))).toBe(true)
    expect(isUnattributed(event({ kind: 'item_completed' }))).toBe(true)
    expect(isUnattributed(event({ kind: 'flow_completed', sessionId: 's' }))).toBe(false)
    expect(isUnattributed(event({ kind: 'flow_completed', runId: 'r' }))).toBe(false)
    expect(isUnattributed(event({ kind: 'flow_dismissed' }))).toBe(false)
  })

  test('a user id names the person as soon as one event has one', () => {
    const anonymous = runOfEvent(event({ anonymousId: 'a', runId: 'r' }))
    const known = runOfEvent(event({ anonymousId: 'b', userId: 'z', runId: 'r' }))
    expect(personOfRun(anonymous)).toBe('aa')
    expect(personOfRun(mergeRuns(anonymous, known))).toBe('uz')
  })
})

test.each([
  [0, 1],
  [99, 1],
  [100, 1],
  [199, 1],
  [200, 2],
  [1_000, 3],
])('at %d the version in force is %d', (at, version) => {
  const versions = [
    { version: 1, publishedAt: 100 },
    { version: 2, publishedAt: 200 },
    { version: 3, publishedAt: 300 },
  ]
  expect(versionAt(versions, at)).toBe(version)
})
