import { describe, expect, test } from 'bun:test'
import { differenceInterval } from '../../../src/core/number/interval.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/core/time/durations.ts'
import { afterLook } from '../../../src/modules/alerts/lifecycle.ts'
import { reportWeeks, weeksToCompare } from '../../../src/modules/alerts/report.ts'
import {
  brokenSteps,
  deadLettersFound,
  defaultSettings,
  fallenCompletion,
  type Observation,
  ruleNames,
  settingOf,
  staleInstall,
} from '../../../src/modules/alerts/rules.ts'
import { afterAttempt, signedHeaders } from '../../../src/modules/alerts/standard-webhooks.ts'
import type { Alert } from '../../../src/storage/interfaces/alerts.ts'

const { rules } = defaultSettings
const none = new Map()
const now = Date.UTC(2026, 10, 20, 9, 30)

test('everything is off until somebody switches it on', () => {
  expect(ruleNames.map(rule => rules[settingOf[rule]].on)).toEqual([false, false, false, false])
  expect(defaultSettings.report).toEqual({ on: false, mails: [] })
})

test("the interval of a difference is Newcombe's", () => {
  // The example in his paper: 56 of 70 and 48 of 80.
  const { low, high } = differenceInterval({ hits: 56, trials: 70 }, { hits: 48, trials: 80 })!
  expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.0524', '0.3339'])
  expect(differenceInterval({ hits: 0, trials: 0 }, { hits: 1, trials: 2 })).toBeNull()
})

describe('a broken step', () => {
  const step = {
    ...{ flow: 'welcome', step: 'create', version: 2, selector: '#new', okRate: 0.1 },
    ...{ missesSince: '2026-11-20T08:00:00.000Z', suggestion: null },
  }
  const seen = (state: string, open = none, rule = rules.stepBroken) =>
    brokenSteps(rule, [{ ...step, state }], open, now).map(({ subject }) => subject)
  const open = new Map([['welcome/create', { facts: { version: 2 }, since: 0, openedAt: 1 }]])

  test('is noticed from the chosen state on', () => {
    expect(seen('broken')).toEqual(['welcome/create'])
    expect(['healthy', 'drifting', 'flaky', 'unknown'].flatMap(state => seen(state))).toEqual([])
    expect(seen('flaky', none, { on: true, from: 'flaky' })).toEqual(['welcome/create'])
    expect(brokenSteps(rules.stepBroken, [{ ...step, state: 'broken' }], none, now)).toMatchObject([
      { since: Date.UTC(2026, 10, 20, 8), facts: { flow: 'welcome', step: 'create', okRate: 0.1 } },
    ])
  })

  test('stays so while it is flaky or nobody meets it, until another version is published', () => {
    expect([seen('flaky', open), seen('unknown', open)].flat()).toHaveLength(2)
    expect([seen('healthy', open), seen('drifting', open)].flat()).toEqual([])
    const older = new Map([['welcome/create', { facts: { version: 1 }, since: 0, openedAt: 1 }]])
    expect(seen('unknown', older)).toEqual([])
  })
})

describe('completion falls', () => {
  const rule = { on: true, points: 5, fewestRuns: 50 }
  const fell = (hits: number, trials: number, open = none) =>
    fallenCompletion(
      rule,
      { flow: 'welcome', now: { hits, trials }, before: { hits: 120, trials: 200 } },
      open,
      0,
    )

  test('beyond chance, by enough, with enough runs', () => {
    expect(fell(80, 200)?.facts).toMatchObject({ rate: 0.4, rateBefore: 0.6, starts: 200 })
    // A fall within chance; a large fall, but with few runs; a rise.
    expect([fell(110, 200), fell(4, 40), fell(180, 200)]).toEqual([null, null, null])
    const many = { hits: 5_700, trials: 10_000 }
    const before = { hits: 6_000, trials: 10_000 }
    // Beyond chance, but too small to matter.
    expect(fallenCompletion(rule, { flow: 'welcome', now: many, before }, none, 0)).toBeNull()
  })

  test('by exactly the points that are set, which floating point would miss', () => {
    const weeks = { now: { hits: 4_500, trials: 10_000 }, before: { hits: 5_000, trials: 10_000 } }
    expect(fallenCompletion(rule, { flow: 'welcome', ...weeks }, none, 0)).not.toBeNull()
  })

  test('and is over once chance alone could explain it', () => {
    const open = new Map([['welcome', { facts: {}, since: 0, openedAt: 1 }]])
    expect(fell(95, 200, open)).not.toBeNull()
    expect(fell(110, 200, open)).toBeNull()
  })
})

test('an install that was fresh goes stale, counting only the time this server has watched', () => {
  const rule = { on: true, hours: 24 }
  const stale = (lastSeenAt: number | null, watchedSince = 0, open = none) =>
    staleInstall(rule, { lastSeenAt, watchedSince }, open, now) !== null
  expect(stale(null)).toBe(false)
  expect(stale(now - 23 * hourMs)).toBe(false)
  expect(stale(now - 24 * hourMs)).toBe(true)
  expect(stale(now - 48 * hourMs, now - hourMs)).toBe(false)
  const open = new Map([['snippet', { facts: {}, since: 0, openedAt: now - hourMs }]])
  expect(stale(now - 48 * hourMs, now, open)).toBe(true)
  expect(stale(now - minuteMs, 0, open)).toBe(false)
})

test('dead letters are noticed from the set number on, until there are none', () => {
  const rule = { on: true, fewest: 3 }
  const open = new Map([['events', { facts: {}, since: 0, openedAt: 1 }]])
  const found = (count: number, known = none) => deadLettersFound(rule, count, known, now) !== null
  expect([found(2), found(3), found(1, open), found(0, open)]).toEqual([false, true, true, false])
})

describe('an alert', () => {
  const watched = new Set(ruleNames)
  const broken: Observation = { rule: 'step.broken', subject: 'a/b', facts: {}, since: 0 }

  /** Looks every five minutes; an `x` in `there` is a look at which the problem is seen. */
  function life(there: string) {
    let alerts: Alert[] = []
    let made = 0
    const said: string[] = []
    for (const [i, sign] of [...there].entries()) {
      const at = now + i * 5 * minuteMs
      const observed = sign === 'x' ? [broken] : []
      const after = afterLook(alerts, observed, watched, at, () => `alert ${++made}`)
      const changed = new Map(after.changed.map(alert => [alert.id, alert]))
      alerts = [
        ...alerts.map(alert => changed.get(alert.id) ?? alert),
        ...after.changed.filter(({ id }) => !alerts.some(alert => alert.id === id)),
      ].filter(({ state, openedAt }) => state !== 'resolved' || openedAt !== null)
      said.push(...after.opened.map(() => `${i} opened`))
      said.push(...after.resolved.map(() => `${i} over`))
    }
    return said
  }

  test('opens at the second look in a row, once, and is over at the sixth without it', () => {
    expect(life('x.x.x.')).toEqual([])
    expect(life('xxxxxx')).toEqual(['1 opened'])
    expect(life('xx.....x......')).toEqual(['1 opened', '13 over'])
  })

  test('that comes and goes takes longer each time until it is over', () => {
    expect(life(`xx${'.'.repeat(6)}xx${'.'.repeat(12)}xx${'.'.repeat(24)}`)).toEqual([
      ...['1 opened', '7 over', '9 opened', '21 over', '23 opened', '47 over'],
    ])
    // A day of flapping every half an hour or so sends few messages.
    expect(life('xx......'.repeat(36)).length).toBeLessThan(10)
  })

  test('of a rule that is switched off ends without a message', () => {
    const open: Alert = {
      ...{ id: 'a', rule: 'step.broken', subject: 'a/b', state: 'open', streak: 0, facts: {} },
      ...{ since: 0, openedAt: now, resolvedAt: null },
    }
    const after = afterLook([open], [], new Set(), now, () => 'b')
    expect([after.changed[0]?.state, after.resolved]).toEqual(['resolved', []])
  })

  test('is one of at most two hundred', () => {
    const many = Array.from({ length: 300 }, (_, i) => ({ ...broken, subject: `a/${i}` }))
    expect(afterLook([], many, watched, now, () => 'a').changed).toHaveLength(200)
  })
})

describe('a message that does not arrive', () => {
  const target = { failingSince: null }
  const webhook = (attempts: number, failingSince: number | null = null) =>
    afterAttempt({ attempts, type: 'step.broken' }, { failingSince }, { status: 500 }, now, 0.5)

  test('is sent again by the schedule of the standard, with jitter, and then given up', () => {
    const pauses = Array.from({ length: 10 }, (_, attempts) => {
      const { dueAt } = webhook(attempts, now - hourMs).attempted
      return dueAt === null ? null : Math.round((dueAt - now) / 1.1 / 1_000)
    })
    const hour = 3_600
    expect(pauses).toEqual([
      ...[5, 300, 1_800, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour, null],
    ])
    expect(webhook(9, now).attempted.state).toBe('failed')
  })

  test('says since when nothing arrives, and after five days switches the webhook off', () => {
    expect(webhook(0).change).toEqual({ failingSince: now })
    expect(webhook(3, now - 4 * dayMs).change).toEqual({ failingSince: now - 4 * dayMs })
    const last = webhook(0, now - 5 * dayMs)
    expect(last.change).toMatchObject({ disabledAt: now, disabledWhy: 'failing' })
    expect(last.attempted).toMatchObject({ state: 'failed', dueAt: null })
    const well = afterAttempt(
      { attempts: 2, type: 'x' },
      { failingSince: 1 },
      { status: 204 },
      now,
      0,
    )
    expect([well.change, well.attempted.state]).toEqual([{ failingSince: null }, 'delivered'])
  })

  test('is the last where the receiver says 410', () => {
    const gone = afterAttempt({ attempts: 0, type: 'step.broken' }, target, { status: 410 }, now, 0)
    expect(gone.change).toMatchObject({ disabledAt: now, disabledWhy: 'gone' })
    expect(gone.attempted.state).toBe('failed')
  })

  test('and is only a test, is not sent again', () => {
    const tried = afterAttempt(
      { attempts: 0, type: 'webhook.test' },
      target,
      { fault: 'x' },
      now,
      0,
    )
    expect([tried.attempted.state, tried.change]).toEqual(['failed', null])
  })
})

test('signatures are those of the standard', () => {
  // Made with the reference implementation's own example.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
  const target = { secret, oldSecret: null, oldSecretUntil: null }
  expect(signedHeaders(message, target, 1_614_265_330_000)).toEqual({
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
  const rotated = { ...target, oldSecret: secret, oldSecretUntil: now }
  const at = (time: number) =>
    signedHeaders(message, rotated, time)['webhook-signature']!.split(' ')
  expect([at(now - 1).length, at(now).length]).toEqual([2, 1])
})

describe('weeks', () => {
  test('a report is due on Monday at eight by the clock of the zone', () => {
    const monday = (time: number, zone: string) => reportWeeks(time, zone).monday
    const eight = Date.UTC(2026, 10, 23, 7)
    expect(monday(eight, 'Europe/Berlin')).toBe('2026-11-23')
    expect(monday(eight - 1, 'Europe/Berlin')).toBe('2026-11-16')
    expect(monday(eight, 'UTC')).toBe('2026-11-16')
    expect(reportWeeks(eight, 'Europe/Berlin')).toMatchObject({
      week: { from: '2026-11-16', to: '2026-11-22' },
      before: { from: '2026-11-09', to: '2026-11-15' },
    })
  })

  test('that are compared leave the last runs a day to end', () => {
    expect(weeksToCompare(now, 'UTC')).toEqual({
      week: { from: '2026-11-12', to: '2026-11-18' },
      before: { from: '2026-11-05', to: '2026-11-11' },
    })
  })
})
