import { describe, expect, test } from 'bun:test'
import { differenceInterval } from '../../../src/core/number/interval.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/core/time/durations.ts'
import { alertMessage, deliveriesTo } from '../../../src/modules/alerts/messages.ts'
import { reportWeeks, weeksToCompare } from '../../../src/modules/alerts/report.ts'
import {
  brokenSteps,
  defaultSettings,
  fallenCompletion,
  lowScores,
  silentInstall,
} from '../../../src/modules/alerts/rules.ts'
import { afterAttempt, signedHeaders } from '../../../src/modules/alerts/standard-webhooks.ts'
import { compareAlerts } from '../../../src/modules/alerts/watch.ts'
import type { Webhook } from '../../../src/storage/interfaces/alerts.ts'

const none = new Map()
const openAlert = (subject: string, facts = {}, openedAt = 1) =>
  new Map([[subject, { facts, openedAt }]])
const now = Date.UTC(2026, 10, 20, 9, 30)

test('everything is off by default', () => {
  expect(Object.values(defaultSettings.rules).map(({ on }) => on)).toEqual([
    ...[false, false, false, false, false],
  ])
  expect(defaultSettings.report).toEqual({ on: false, alerts: false, recipients: [] })
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
    ...{ missesSince: Date.UTC(2026, 10, 20, 8), suggestion: null },
  }
  const found = (state: string, open = none) =>
    brokenSteps([{ ...step, state }], open, now).map(({ subject }) => subject)

  test('is found', () => {
    expect(found('broken')).toEqual(['welcome/create'])
    expect(['healthy', 'drifting', 'flaky', 'unknown'].flatMap(state => found(state))).toEqual([])
    expect(brokenSteps([{ ...step, state: 'broken' }], none, now)).toMatchObject([
      { since: Date.UTC(2026, 10, 20, 8), facts: { flow: 'welcome', step: 'create', okRate: 0.1 } },
    ])
  })

  test('stays open while it is flaky or nobody reaches it, until another version is published', () => {
    const open = openAlert('welcome/create', { version: 2 })
    expect([found('flaky', open), found('unknown', open)].flat()).toHaveLength(2)
    expect([found('healthy', open), found('drifting', open)].flat()).toEqual([])
    expect(found('unknown', openAlert('welcome/create', { version: 1 }))).toEqual([])
  })
})

describe('a low score', () => {
  const found = (score: number, answers: number, open = none) =>
    lowScores([{ flow: 'nps', step: 'score', score, answers }], open, now)

  test('is found below zero, from twenty answers on', () => {
    expect(found(-0.1, 20)).toMatchObject([
      { rule: 'score.low', subject: 'nps/score', facts: { score: -0.1, answers: 20 } },
    ])
    expect([...found(-80, 19), ...found(0, 20)]).toEqual([])
  })

  test('stays open until it is clearly above zero', () => {
    const open = openAlert('nps/score')
    expect([...found(9.9, 20, open), ...found(50, 3, open)]).toHaveLength(2)
    expect(found(10, 20, open)).toEqual([])
  })
})

describe('a message to Slack', () => {
  const alert = {
    ...{ id: 'alert_1', subject: 'nps/score', since: now, openedAt: now },
    rule: 'score.low' as const,
    facts: { flow: 'nps', step: 'score', score: -5, answers: 40 },
    resolvedAt: null,
  }
  const context = { slug: 'harbor', publicUrl: 'https://cairn.example.com', now }
  const bodyFor = (url: string) => {
    const webhook = { id: 'webhook_1', url, types: [], disabledAt: null } as unknown as Webhook
    const [delivery] = deliveriesTo([webhook], alertMessage(alert, context), now)
    return JSON.parse(delivery!.body)
  }

  test('is one text with a link; others get all of it', () => {
    expect(bodyFor('https://hooks.slack.com/services/T/B/x')).toEqual({
      text: expect.stringMatching(/NPS .* is -5, from 40 answers[\s\S]*\nhttps:.*\/flows\/nps$/),
    })
    expect(bodyFor('https://example.com/?hooks.slack.com')).toMatchObject({ type: 'score.low' })
  })
})

describe('completion falls', () => {
  const fell = (hits: number, trials: number, open = none) =>
    fallenCompletion(
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
    expect(fallenCompletion({ flow: 'welcome', now: many, before }, none, 0)).toBeNull()
  })

  test('by exactly 5 points, which floating point would miss', () => {
    const weeks = { now: { hits: 4_500, trials: 10_000 }, before: { hits: 5_000, trials: 10_000 } }
    expect(fallenCompletion({ flow: 'welcome', ...weeks }, none, 0)).not.toBeNull()
  })

  test('until chance alone could explain it', () => {
    const open = openAlert('welcome')
    expect(fell(95, 200, open)).not.toBeNull()
    expect(fell(110, 200, open)).toBeNull()
  })
})

test('a snippet is silent after 24 hours, counting only time in which this server ran', () => {
  const silent = (lastSeenAt: number | null, watchedSince = 0, open = none) =>
    silentInstall({ lastSeenAt, watchedSince }, open, now) !== null
  expect(silent(null)).toBe(false)
  expect(silent(now - 23 * hourMs)).toBe(false)
  expect(silent(now - 24 * hourMs)).toBe(true)
  expect(silent(now - 48 * hourMs, now - hourMs)).toBe(false)
  const open = openAlert('snippet', {}, now - hourMs)
  expect(silent(now - 48 * hourMs, now, open)).toBe(true)
  expect(silent(now - minuteMs, 0, open)).toBe(false)
})

test('an alert opens and is resolved once, and at most 200 are open', () => {
  const problem = (subject: string) =>
    ({ rule: 'step.broken', subject, facts: {}, since: 0 }) as const
  const first = compareAlerts([], [problem('a/b')], now)
  expect(first.opened).toMatchObject([{ ...problem('a/b'), openedAt: now, resolvedAt: null }])
  expect(compareAlerts(first.opened, [problem('a/b')], now)).toEqual({ opened: [], resolved: [] })
  expect(compareAlerts(first.opened, [problem('c/d')], now + 1)).toMatchObject({
    opened: [{ subject: 'c/d' }],
    resolved: [{ subject: 'a/b', resolvedAt: now + 1 }],
  })
  const many = Array.from({ length: 300 }, (_, i) => problem(`a/${i}`))
  expect(compareAlerts([], many, now).opened).toHaveLength(200)
})

describe('a message that does not arrive', () => {
  const target = { failingSince: null }
  const webhook = (attempts: number, failingSince: number | null = null) =>
    afterAttempt({ attempts, type: 'step.broken' }, { failingSince }, { status: 500 }, now, 0.5)

  test('is sent again by the schedule of the standard, with jitter, and then given up', () => {
    const pauses = Array.from({ length: 10 }, (_, attempts) => {
      const { nextAt } = webhook(attempts, now - hourMs).attempted
      return nextAt === null ? null : Math.round((nextAt - now) / 1.1 / 1_000)
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
    expect(last.attempted).toMatchObject({ state: 'failed', nextAt: null })
    const well = afterAttempt(
      { attempts: 2, type: 'step.broken' },
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
