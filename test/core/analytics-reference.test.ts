import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  daysBetween,
  passesOf,
  percentileSeconds,
  type RefEvent,
  type RefFlow,
  type RefQuery,
  type RefRun,
  rate,
  referenceAnalytics,
  rounded,
  runsOf,
  ticksOf,
} from '../support/analytics-reference.ts'
import { autumnAnchor, historyArbitrary, historyZones, springAnchor } from '../support/histories.ts'

// The reference is what the product is checked against, so it has to be checked against something
// that needs no code at all: small histories whose numbers can be counted by hand.

const t0 = Date.UTC(2026, 5, 10, 12)

/** A flow `f`; each version is [publishedAt, step keys, item keys or [key, event]]. */
function flowOf(...versions: [number, string[], (string | [string, string])[]?][]): RefFlow {
  return {
    key: 'f',
    versions: versions.map(([publishedAt, steps, items = []], n) => ({
      version: n + 1,
      publishedAt,
      steps: steps.map(key => ({ key })),
      items: items.map(item =>
        typeof item === 'string'
          ? { key: item, completeOn: null }
          : { key: item[0], completeOn: item[1] },
      ),
    })),
  }
}

/** An event of flow `f`, `seconds` after noon on 10 June; by user `u` unless `more` names somebody. */
function at(seconds: number, kind: RefEvent['kind'], more: Partial<RefEvent> = {}): RefEvent {
  const person = more.userId ?? more.anonymousId ?? null
  const flow = kind === 'custom' ? {} : { flowKey: 'f' }
  return {
    kind,
    ...flow,
    ...(person === null ? { userId: 'u' } : {}),
    ...more,
    at: t0 + seconds * 1000,
  }
}

const june: RefQuery = {
  flowKey: 'f',
  from: '2026-06-01',
  to: '2026-06-30',
  timezone: 'UTC',
  now: Date.UTC(2026, 6, 20),
}
const plain = flowOf([0, ['a', 'b', 'c']])

/** Runs in a form that is easy to compare: key, person, start in seconds after noon, outcome. */
function outline(runs: RefRun[]): Record<string, [string, number, string]> {
  return Object.fromEntries(
    runs.map(run => [run.key, [run.person, (run.start - t0) / 1000, run.outcome]]),
  )
}

function stepsOf(flow: RefFlow, events: RefEvent[], query: RefQuery = june) {
  return Object.fromEntries(
    referenceAnalytics([flow], events, query).steps.map(step => [step.key, step]),
  )
}

describe('runs', () => {
  test('are distinguished by run id, else by person and session, else by person', () => {
    const runs = runsOf(plain, [
      at(0, 'flow_started', { runId: 'x', sessionId: 's' }),
      at(1, 'step_viewed', { stepKey: 'a', runId: 'x', sessionId: 'other' }),
      at(2, 'flow_started', { sessionId: 's' }),
      at(3, 'flow_started', { sessionId: 's', userId: 'v' }),
      at(4, 'flow_started', { sessionId: 's', anonymousId: 'u' }),
      at(5, 'flow_started'),
      at(6, 'flow_dismissed'),
      at(7, 'flow_started', { runId: 'x', flowKey: 'another' }),
    ])
    expect(outline(runs)).toEqual({
      rx: ['uu', 0, 'in_progress'],
      's["uu","s"]': ['uu', 2, 'in_progress'],
      's["uv","s"]': ['uv', 3, 'in_progress'],
      's["au","s"]': ['au', 4, 'in_progress'],
      puu: ['uu', 5, 'dismissed'],
    })
  })

  test('belong to the lowest user id they name, else to the lowest anonymous id', () => {
    const runs = runsOf(plain, [
      at(0, 'flow_started', { runId: 'x', anonymousId: 'A' }),
      at(1, 'step_viewed', { stepKey: 'a', runId: 'x', userId: 'b', anonymousId: 'A' }),
      at(2, 'step_viewed', { stepKey: 'b', runId: 'x', userId: 'Z' }),
      at(0, 'flow_started', { runId: 'y', anonymousId: 'b' }),
      at(1, 'flow_started', { runId: 'y', anonymousId: 'a' }),
    ])
    expect(outline(runs)).toEqual({
      rx: ['uZ', 0, 'in_progress'],
      ry: ['aa', 0, 'in_progress'],
    })
  })

  test('have one outcome, and a completion outweighs a dismissal', () => {
    const { totals } = referenceAnalytics(
      [plain],
      [
        at(0, 'flow_completed', { runId: '1' }),
        at(9, 'flow_dismissed', { runId: '1' }),
        at(0, 'flow_started', { runId: '2' }),
        at(5, 'flow_dismissed', { runId: '2' }),
        at(6, 'flow_dismissed', { runId: '2' }),
        at(0, 'checklist_opened', { runId: '3', userId: 'v' }),
      ],
      june,
    )
    expect(totals).toEqual({
      starts: 3,
      uniqueUsers: 2,
      completions: 1,
      uniqueCompleters: 1,
      dismissals: 1,
      inProgress: 1,
      stalled: 1,
      completionRate: 0.3333,
    })
  })
})

describe('a completion without run or session', () => {
  test('belongs to the latest run that started before it', () => {
    const started = [
      at(0, 'flow_started', { runId: '1' }),
      at(10, 'flow_started', { runId: '2' }),
      at(10, 'flow_started', { sessionId: 'same moment, greater key' }),
      at(20, 'flow_started', { runId: '3' }),
      at(15, 'flow_started', { runId: 'not theirs', userId: 'v' }),
    ]
    const outcomes = (seconds: number) =>
      runsOf(plain, [at(seconds, 'flow_completed'), ...started])
        .filter(run => run.outcome === 'completed')
        .map(run => run.key)
    expect(outcomes(9)).toEqual(['r1'])
    expect(outcomes(10)).toEqual(['s["uu","same moment, greater key"]'])
    expect(outcomes(19)).toEqual(['s["uu","same moment, greater key"]'])
    expect(outcomes(20)).toEqual(['r3'])
  })

  test('makes a run only for a person without one, and later completions join that run', () => {
    const runs = runsOf(plain, [
      at(5, 'flow_completed'),
      at(-5, 'item_completed', { itemKey: 'i' }),
      at(9, 'flow_started', { runId: '1' }),
    ])
    expect(outline(runs)).toEqual({
      puu: ['uu', -5, 'completed'],
      r1: ['uu', 9, 'in_progress'],
    })
  })

  test("moves the start of the person's own run back", () => {
    const runs = runsOf(plain, [
      at(9, 'step_viewed', { stepKey: 'a', flowVersion: 1 }),
      at(3, 'flow_completed'),
      at(4, 'flow_started', { runId: '1', userId: 'v' }),
    ])
    expect(outline(runs)).toEqual({
      puu: ['uu', 3, 'completed'],
      r1: ['uv', 4, 'in_progress'],
    })
  })

  test('goes by the person of the run, who may differ from the person on its event', () => {
    const runs = runsOf(plain, [
      at(0, 'flow_started', { runId: '1', userId: 'b' }),
      at(1, 'step_viewed', { stepKey: 'a', runId: '1', userId: 'a' }),
      at(2, 'flow_completed', { userId: 'b' }),
    ])
    expect(outline(runs)).toEqual({
      r1: ['ua', 0, 'in_progress'],
      pub: ['ub', 2, 'completed'],
    })
  })
})

describe('versions', () => {
  const flow = flowOf([t0, ['a']], [t0 + 10_000, ['a']], [t0 + 20_000, ['a']])

  test('a run has the lowest version it names, else the one published when it started', () => {
    const runs = runsOf(flow, [
      at(30, 'flow_started', { runId: 'named', flowVersion: 3 }),
      at(31, 'step_viewed', { runId: 'named', stepKey: 'a', flowVersion: 2 }),
      at(-1, 'flow_started', { runId: 'too early' }),
      at(10, 'flow_started', { runId: 'that moment' }),
      at(19, 'flow_started', { runId: 'before' }),
      at(20, 'step_viewed', { runId: 'before', stepKey: 'a' }),
      at(15, 'flow_completed', { userId: 'loose', flowVersion: 1 }),
      at(16, 'flow_started', { userId: 'mixed', runId: 'mixed' }),
      at(17, 'flow_completed', { userId: 'mixed', flowVersion: 3 }),
    ])
    expect(Object.fromEntries(runs.map(run => [run.key, run.version]))).toEqual({
      rnamed: 2,
      'rtoo early': 1,
      'rthat moment': 2,
      rbefore: 2,
      puloose: 1,
      rmixed: 3,
    })
  })

  test('a filter leaves out the other runs everywhere except in the list of versions', () => {
    const events = [
      at(0, 'flow_started', { runId: '1', flowVersion: 1 }),
      at(1, 'flow_completed', { runId: '1' }),
      at(0, 'step_viewed', { runId: '2', stepKey: 'a', flowVersion: 3 }),
    ]
    const answer = referenceAnalytics([flow], events, { ...june, version: 3 })
    expect(answer.totals).toMatchObject({ starts: 1, completions: 0, completionRate: 0 })
    expect(answer.steps).toMatchObject([{ key: 'a', reached: 1 }])
    expect(answer.daily[9]).toMatchObject({ date: '2026-06-10', starts: 1, completions: 0 })
    expect(answer.versions).toEqual([
      {
        version: 1,
        publishedAt: '2026-06-10T12:00:00.000Z',
        starts: 1,
        completions: 1,
        completionRate: 1,
      },
      {
        version: 2,
        publishedAt: '2026-06-10T12:00:10.000Z',
        starts: 0,
        completions: 0,
        completionRate: null,
      },
      {
        version: 3,
        publishedAt: '2026-06-10T12:00:20.000Z',
        starts: 1,
        completions: 0,
        completionRate: 0,
      },
    ])
  })
})

test('rates have four decimals, and halves go away from zero', () => {
  expect([rate(0, 0), rate(0, 3), rate(1, 3), rate(2, 3), rate(3, 3)]).toEqual([
    null,
    0,
    0.3333,
    0.6667,
    1,
  ])
  // 1/32 is .03125 and 3/160 is .01875; neither may come down to an even digit.
  expect([rate(1, 32), rate(3, 160)]).toEqual([0.0313, 0.0188])
  // 29/20000 is .00145, which has no exact binary form: scaled, it is 14.49999…, which rounds down.
  expect(rate(29, 20_000)).toBe(0.0015)
  expect([rounded(-100, 16, 1), rounded(201, 200, 2)]).toEqual([-6.3, 1.01])
})

test('median and p90 are by nearest rank', () => {
  expect(percentileSeconds([], 50)).toBeNull()
  expect(percentileSeconds([1500], 90)).toBe(1.5)
  expect(percentileSeconds([4000, 1000, 3000, 2000], 50)).toBe(2)
  const ten = [10, 1, 9, 2, 8, 3, 7, 4, 6, 5].map(seconds => seconds * 1000)
  expect([percentileSeconds(ten, 50), percentileSeconds(ten, 90)]).toEqual([5, 9])
  expect(percentileSeconds([...ten, 11_000], 90)).toBe(10)
})

test('time to complete runs from the start to the earliest completion', () => {
  const { timeToComplete } = referenceAnalytics(
    [plain],
    [
      at(0, 'flow_started', { runId: '1' }),
      at(7, 'flow_completed', { runId: '1' }),
      at(4, 'flow_completed'),
      at(0, 'flow_started', { runId: '2', userId: 'v' }),
      at(2.5, 'flow_completed', { runId: '2', userId: 'v' }),
      at(0, 'flow_started', { runId: '3', userId: 'w' }),
    ],
    june,
  )
  expect(timeToComplete).toMatchObject({ count: 2, medianSeconds: 2.5, p90Seconds: 4 })
})

describe('steps', () => {
  test('count runs, and drop-off counts those not completed at their furthest step', () => {
    const view = (runId: string, stepKey: string, seconds: number, userId = 'u') =>
      at(seconds, 'step_viewed', { runId, stepKey, userId })
    const steps = stepsOf(plain, [
      view('1', 'c', 0),
      view('1', 'a', 1),
      view('1', 'a', 2),
      view('2', 'a', 0),
      view('2', 'b', 1),
      at(2, 'flow_dismissed', { runId: '2' }),
      view('3', 'a', 0, 'v'),
      at(1, 'flow_completed', { runId: '3', userId: 'v' }),
      // Neither of these was viewed, and both count all the same.
      at(1, 'step_skipped', { runId: '3', stepKey: 'b', userId: 'v' }),
      at(1, 'target_missing', { runId: '3', stepKey: 'c', userId: 'v' }),
      at(1, 'step_completed', { runId: '1', stepKey: 'a' }),
      at(3, 'step_completed', { runId: '1', stepKey: 'a' }),
    ])
    const counted = { completed: 0, skipped: 0, targetMissing: 0 }
    expect(steps.a).toMatchObject({
      ...counted,
      position: 0,
      reached: 3,
      uniqueUsers: 2,
      completed: 1,
      droppedHere: 0,
      dropOffRate: 0,
    })
    expect(steps.b).toMatchObject({ ...counted, reached: 1, skipped: 1, droppedHere: 1 })
    expect(steps.c).toMatchObject({ ...counted, reached: 1, targetMissing: 1, dropOffRate: 1 })
  })

  test('take until the first completion or skip, else until a later step is viewed', () => {
    const seconds = (...events: [number, RefEvent['kind'], string][]) => {
      const run = events.map(([s, kind, stepKey]) => at(s, kind, { stepKey, runId: '1' }))
      return stepsOf(plain, run).a!.medianSeconds
    }
    expect(seconds([0, 'step_viewed', 'a'])).toBeNull()
    expect(seconds([0, 'step_completed', 'a'])).toBeNull()
    expect(
      seconds([1, 'step_viewed', 'a'], [9, 'step_completed', 'a'], [6, 'step_skipped', 'a']),
    ).toBe(5)
    expect(seconds([5, 'step_viewed', 'a'], [1, 'step_completed', 'a'])).toBe(0)
    // A reported end takes precedence over a later step that was viewed sooner.
    expect(
      seconds([0, 'step_viewed', 'a'], [2, 'step_viewed', 'b'], [8, 'step_completed', 'a']),
    ).toBe(8)
    expect(seconds([0, 'step_viewed', 'a'], [4, 'step_viewed', 'c'], [3, 'step_viewed', 'b'])).toBe(
      3,
    )
    // Only the first view of the later step counts, and it came before the view of this one.
    expect(seconds([2, 'step_viewed', 'a'], [1, 'step_viewed', 'b'], [6, 'step_viewed', 'b'])).toBe(
      null,
    )
    const backwards = [
      at(0, 'step_viewed', { stepKey: 'c' }),
      at(3, 'step_viewed', { stepKey: 'b' }),
    ]
    expect(stepsOf(plain, backwards).c!.medianSeconds).toBeNull()
  })

  test('of older versions follow the current ones, when a run in the answer saw them', () => {
    const flow = flowOf([0, ['old', 'gone', 'a']], [1, ['b', 'a', 'mid']], [2, ['a', 'b']])
    const events = [
      at(0, 'step_viewed', { stepKey: 'gone', runId: '1', flowVersion: 1 }),
      at(0, 'target_missing', { stepKey: 'old', runId: '1' }),
      at(0, 'step_skipped', { stepKey: 'mid', runId: '2', flowVersion: 2 }),
    ]
    const listed = (query: RefQuery) =>
      referenceAnalytics([flow], events, query).steps.map(step => [step.key, step.position])
    expect(listed(june)).toEqual([
      ['a', 0],
      ['b', 1],
      ['mid', 2],
      ['old', 0],
      ['gone', 1],
    ])
    expect(listed({ ...june, version: 2 })).toEqual([
      ['a', 0],
      ['b', 1],
      ['mid', 2],
    ])
    expect(listed({ ...june, from: '2026-06-11' })).toEqual([
      ['a', 0],
      ['b', 1],
    ])
  })

  test("are ordered by the run's own version, and a tie goes to a step of that version", () => {
    const flow = flowOf([0, ['a', 'b']], [1, ['b', 'a', 'x']], [2, ['z', 'y', 'b', 'a']])
    const events = (...keys: string[]) =>
      keys.map((stepKey, n) => at(n, 'step_viewed', { stepKey, runId: '1', flowVersion: 1 }))
    const droppedAt = (keys: string[], rank?: (key: string) => number) =>
      referenceAnalytics([flow], events(...keys), june, rank)
        .steps.filter(step => step.droppedHere > 0)
        .map(step => step.key)
    // In version 1 `b` is last, whatever later versions made of it.
    expect(droppedAt(['b', 'a'])).toEqual(['b'])
    // `y` is at 1 too, by the newest version that has it, but the run's version does not have it.
    expect(droppedAt(['y', 'b', 'a'])).toEqual(['b'])
    // `x` is at 2 in the newest version that has it.
    expect(droppedAt(['x', 'b'])).toEqual(['x'])
    // Two steps that are not in the run's version, at one position: by rank, else by key.
    const two = flowOf([0, ['a']], [1, ['a', 'p']], [2, ['a', 'q']])
    const foreign = ['p', 'q'].map(stepKey =>
      at(0, 'step_viewed', { stepKey, runId: '1', flowVersion: 1 }),
    )
    const dropped = (rank?: (key: string) => number) =>
      referenceAnalytics([two], foreign, june, rank).steps.find(step => step.droppedHere)!.key
    expect(dropped()).toBe('q')
    expect(dropped(key => (key === 'p' ? 1 : 0))).toBe('p')
  })
})

describe('checklists', () => {
  const flow = flowOf([0, ['a'], ['i', ['j', 'saved']]])
  const tick = (seconds: number, itemKey: string, more: Partial<RefEvent> = {}) =>
    at(seconds, 'item_completed', { itemKey, ...more })

  test('are ticked by reports and by custom events, which make no run', () => {
    const events = [
      at(0, 'custom', { name: 'saved', flowKey: 'f', runId: 'none' }),
      at(1, 'custom', { name: 'saved', userId: 'never started' }),
      at(2, 'custom', { name: 'other' }),
    ]
    expect(runsOf(flow, events)).toEqual([])
    expect(referenceAnalytics([flow], events, june).checklist).toEqual({
      items: [
        { key: 'i', completions: 0 },
        { key: 'j', completions: 0 },
      ],
      completedAll: 0,
    })
    // With a run in the range, the tick counts whenever it was made.
    const answer = referenceAnalytics([flow], [...events, at(-9, 'flow_started')], june)
    expect(answer.checklist!.items).toEqual([
      { key: 'i', completions: 0 },
      { key: 'j', completions: 1 },
    ])
    expect(referenceAnalytics([plain], events, june).checklist).toBeNull()
  })

  test('the last tick completes the run that it names, else the latest that started before it', () => {
    const events = [
      at(0, 'flow_started', { runId: '1' }),
      at(5, 'flow_started', { runId: '2' }),
      at(8, 'flow_started', { runId: '3' }),
      tick(7, 'i', { runId: '1' }),
      at(2, 'custom', { name: 'saved' }),
      tick(9, 'i', { runId: '3' }),
    ]
    const runs = runsOf(flow, events)
    expect(outline(runs)).toEqual({
      r1: ['uu', 0, 'completed'],
      r2: ['uu', 5, 'in_progress'],
      r3: ['uu', 8, 'in_progress'],
    })
    expect(runs[0]!.completions).toEqual([t0 + 7000])
    const withCustom = [...events.slice(0, 4), at(8, 'custom', { name: 'saved' })]
    expect(outline(runsOf(flow, withCustom))).toMatchObject({ r3: ['uu', 8, 'completed'] })
    expect(referenceAnalytics([flow], events, june).checklist!.completedAll).toBe(1)
  })

  test('ticks of all people named by one run count together', () => {
    const events = [
      tick(0, 'i', { runId: '1', userId: 'b' }),
      at(1, 'custom', { name: 'saved', userId: 'b' }),
      at(2, 'flow_started', { runId: '1', userId: 'a' }),
    ]
    expect(outline(runsOf(flow, events))).toEqual({ r1: ['ua', 0, 'completed'] })
    expect(referenceAnalytics([flow], events, june).checklist).toEqual({
      items: [
        { key: 'i', completions: 1 },
        { key: 'j', completions: 1 },
      ],
      completedAll: 1,
    })
  })

  test('each pass counts, and reopening an item or adding one begins another pass', () => {
    const reopened = at(10, 'item_reopened', { itemKey: 'i' })
    const events = [
      tick(1, 'i', { runId: '1' }),
      tick(2, 'j', { runId: '1' }),
      reopened,
      tick(12, 'i', { runId: '2' }),
    ]
    expect(outline(runsOf(flow, events))).toEqual({
      r1: ['uu', 1, 'completed'],
      r2: ['uu', 12, 'completed'],
    })
  })

  test('completing one makes no run, and without a run it counts nowhere', () => {
    const events = [
      at(0, 'flow_started', { runId: '1', userId: 'a' }),
      at(1, 'custom', { name: 'saved', userId: 'b' }),
    ]
    expect(outline(runsOf(flow, events))).toEqual({ r1: ['ua', 0, 'in_progress'] })
    const answer = referenceAnalytics([flow], events, june)
    expect(answer.checklist).toEqual({
      items: [
        { key: 'i', completions: 0 },
        { key: 'j', completions: 0 },
      ],
      completedAll: 0,
    })
  })

  test('are judged complete by the version that was published at the time of the tick', () => {
    const changing = flowOf(
      [t0, ['a'], ['i', 'j', 'k']],
      [t0 + 10_000, ['a'], ['i', 'j']],
      [t0 + 20_000, ['a']],
    )
    const wholeAt = (...ticks: RefEvent[]) => {
      const [found] = passesOf(changing, ticks, 'uu')
      return found === undefined ? null : (found.at - t0) / 1000
    }
    // Publishing a shorter list completes nothing by itself, and neither does a repeated tick.
    expect(wholeAt(tick(1, 'i'), tick(2, 'j'))).toBeNull()
    expect(wholeAt(tick(1, 'i'), tick(2, 'j'), tick(12, 'j'))).toBeNull()
    expect(wholeAt(tick(1, 'i'), tick(10, 'j'))).toBe(10)
    expect(wholeAt(tick(-3, 'i'), tick(-2, 'j'), tick(-1, 'k'))).toBe(-1)
    expect(wholeAt(tick(5, 'i'), tick(5, 'j'), tick(5, 'k'))).toBe(5)
    // A version without items completes nothing, and another person's tick does not count.
    expect(wholeAt(tick(1, 'i'), tick(21, 'j'))).toBeNull()
    expect(wholeAt(tick(11, 'i'), tick(12, 'j', { userId: 'v' }))).toBeNull()
  })
})

describe('days', () => {
  test('a run counts on the day of its start, with everything that happened later', () => {
    const events = [
      at(0, 'flow_started', { runId: '1' }),
      at(86_400, 'flow_completed', { runId: '1' }),
      at(86_400, 'flow_started', { runId: '2' }),
    ]
    const on = (from: string, to: string) =>
      referenceAnalytics([plain], events, { ...june, from, to })
    const days = on('2026-06-09', '2026-06-11').daily
    expect(days.map(day => [day.date, day.starts, day.uniqueUsers, day.completions])).toEqual([
      ['2026-06-09', 0, 0, 0],
      ['2026-06-10', 1, 1, 1],
      ['2026-06-11', 1, 1, 0],
    ])
    expect(on('2026-06-09', '2026-06-11').totals.uniqueUsers).toBe(1)
    expect(on('2026-06-11', '2026-06-11').totals).toMatchObject({ starts: 1, completions: 0 })
  })

  test.each([
    [
      'in Asia/Kathmandu begin at 18:15 UTC',
      'Asia/Kathmandu',
      ['2026-06-09T18:14:59.999Z', '2026-06-09T18:15Z', '2026-06-10T18:14:59.999Z'],
      ['2026-06-10', 2],
    ],
    [
      // Summer time (UTC+11) ends at 02:00 on that day; after it, the offset is UTC+10:30.
      'in Australia/Lord_Howe change in length by half an hour',
      'Australia/Lord_Howe',
      ['2026-04-04T12:59:59.999Z', '2026-04-04T13:00Z', '2026-04-05T13:29:59.999Z'],
      ['2026-04-05', 2],
    ],
    [
      'in Europe/Berlin have twenty-five hours once a year',
      'Europe/Berlin',
      ['2026-10-24T21:59:59.999Z', '2026-10-24T22:00Z', '2026-10-25T22:59:59.999Z'],
      ['2026-10-25', 2],
    ],
  ] as const)('%s', (_, timezone, starts, [day, count]) => {
    const events = starts.map((start, n): RefEvent => {
      const run = { userId: 'u', runId: `${n}`, at: Date.parse(start) }
      return { kind: 'flow_started', flowKey: 'f', ...run }
    })
    const query = { ...june, from: day, to: day, timezone }
    const { daily, totals } = referenceAnalytics([plain], events, query)
    expect(daily.map(({ date, starts }) => [date, starts])).toEqual([[day, count]])
    expect(totals.starts).toBe(count)
  })

  test('are listed by the calendar', () => {
    expect(daysBetween('2028-02-28', '2028-03-01')).toEqual([
      '2028-02-28',
      '2028-02-29',
      '2028-03-01',
    ])
    expect(daysBetween('2026-12-31', '2027-01-01')).toEqual(['2026-12-31', '2027-01-01'])
    expect(daysBetween('2025-06-01', '2026-07-05')).toHaveLength(400)
    expect(daysBetween('2026-06-02', '2026-06-01')).toEqual([])
  })
})

describe('random histories', () => {
  const anchor = fc.constantFrom(springAnchor, autumnAnchor)
  const history = anchor.chain(at => historyArbitrary({ anchor: at }))
  const everything = { from: '2026-01-01', to: '2026-12-31' }

  test('give the same numbers in any order, and numbers that add up', () => {
    const property = fc.property(
      history,
      fc.constantFrom(...historyZones),
      fc.infiniteStream(fc.nat()),
      ({ flows, events }, timezone, random) => {
        const query = { flowKey: flows[0]!.key, ...everything, timezone, now: springAnchor }
        const answer = referenceAnalytics(flows, events, query)
        const shuffled = events
          .map(event => ({ event, order: random.next().value! }))
          .sort((a, b) => a.order - b.order)
          .map(({ event }) => event)
        expect(referenceAnalytics(flows, shuffled, query)).toEqual(answer)
        expect(referenceAnalytics(flows, [...events, ...shuffled], query)).toEqual(answer)

        const { totals, steps, daily, versions, timeToComplete } = answer
        expect(totals.starts).toBe(totals.completions + totals.dismissals + totals.inProgress)
        expect(timeToComplete.count + timeToComplete.untimed).toBe(totals.completions)
        for (const list of [daily, versions]) {
          expect(list.reduce((sum, row) => sum + row.starts, 0)).toBe(totals.starts)
          expect(list.reduce((sum, row) => sum + row.completions, 0)).toBe(totals.completions)
        }
        const dropped = steps.reduce((sum, step) => sum + step.droppedHere, 0)
        expect(dropped).toBeLessThanOrEqual(totals.dismissals + totals.inProgress)
        for (const { stillHere, droppedHere, reached } of steps) {
          expect(stillHere).toBeLessThanOrEqual(droppedHere)
          expect(droppedHere).toBeLessThanOrEqual(reached)
        }
      },
    )
    fc.assert(property, { numRuns: 60, seed: 1 })
  })

  test('often contain each case that a definition covers', () => {
    const counts = new Map<string, number>()
    for (const { flows, events } of fc.sample(history, { numRuns: 200, seed: 7 })) {
      const flow = flows[0]!
      const runs = runsOf(flow, events)
      const ticks = ticksOf(flow, events)
      const query = { flowKey: flow.key, ...everything, timezone: 'UTC', now: springAnchor }
      const { checklist, steps, totals } = referenceAnalytics(flows, events, query)
      const names = (run: RefRun) =>
        new Set(run.events.map(({ userId, anonymousId }) => JSON.stringify([userId, anonymousId])))
      const startsWith = (run: RefRun) => (other: RefRun) =>
        other !== run && other.person === run.person && other.start === run.start
      const reported = (run: RefRun, time: number) =>
        run.events.some(({ kind, at }) => kind === 'flow_completed' && at === time)
      const had = (person: string, until = Number.POSITIVE_INFINITY) =>
        runs.some(run => run.person === person && run.start <= until)
      const passes = ticks.flatMap(({ person }) =>
        passesOf(flow, events, person)
          .slice(0, 1)
          .map(({ at }) => ({ person, at })),
      )
      const isSeen = {
        'a run of several people': runs.some(run => names(run).size > 1),
        'a run made of unattributed events': runs.some(run => run.events.length === 0),
        'a run moved back': runs.some(
          run => run.events.length > 0 && run.events.every(({ at }) => at > run.start),
        ),
        'runs of one person that start together': runs.some(run => runs.some(startsWith(run))),
        'an assigned completion': runs.some(run =>
          run.completions.some(time => !reported(run, time)),
        ),
        'a complete checklist': passes.length > 0,
        'a complete checklist in the answer': (checklist?.completedAll ?? 0) > 0,
        'a tick without a run': ticks.some(({ person }) => !had(person)),
        'a complete checklist before any run': passes.some(({ person, at }) => !had(person, at)),
        'a step of an older version': steps.length > flow.versions.at(-1)!.steps.length,
        'a drop': steps.some(({ droppedHere }) => droppedHere > 0),
        'a step that took time': steps.some(({ medianSeconds }) => (medianSeconds ?? 0) > 0),
        'runs of two versions': new Set(runs.map(({ version }) => version)).size > 1,
        'a dismissed run': totals.dismissals > 0,
      }
      for (const [name, isIn] of Object.entries(isSeen)) {
        counts.set(name, (counts.get(name) ?? 0) + Number(isIn))
      }
    }
    expect([...counts].filter(([, count]) => count < 10)).toEqual([])
  })
})
