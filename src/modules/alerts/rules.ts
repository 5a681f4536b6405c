import { differenceInterval, type Share } from '../../core/number/interval.ts'
import { fourDecimals, rate } from '../../core/number/statistics.ts'
import { hourMs } from '../../core/time/durations.ts'
import type { Alert, AlertRules, AlertSettings, Facts } from '../../storage/interfaces/alerts.ts'

/** What the rules watch, named by the message type that reports it, in the order in which they are listed. */
export const ruleNames = [
  'step.broken',
  'completion.fell',
  'install.stale',
  'dead_letters.found',
] as const
export type RuleName = (typeof ruleNames)[number]

/** The message that is sent when the problem is over. */
export const overOf = {
  'step.broken': 'step.recovered',
  'completion.fell': 'completion.recovered',
  'install.stale': 'install.recovered',
  'dead_letters.found': 'dead_letters.cleared',
} as const satisfies Record<RuleName, string>

/** All message types that a webhook can subscribe to. */
export const messageTypes = [...ruleNames, ...Object.values(overOf), 'report.weekly'] as const
/** Asks the reader of an address whether they want reports. */
export const confirmationType = 'report.confirm'
export type MessageType = (typeof messageTypes)[number] | 'webhook.test' | typeof confirmationType

/** The setting of each rule. */
export const settingOf = {
  'step.broken': 'stepBroken',
  'completion.fell': 'completionFell',
  'install.stale': 'installStale',
  'dead_letters.found': 'deadLetters',
} as const satisfies Record<RuleName, keyof AlertRules>

/** Nothing is watched, and nobody is notified, until somebody switches it on. */
export const defaultSettings: AlertSettings = {
  rules: {
    stepBroken: { on: false, from: 'broken' },
    completionFell: { on: false, points: 5, fewestRuns: 50 },
    installStale: { on: false, hours: 24 },
    deadLetters: { on: false, fewest: 1 },
  },
  report: { on: false, mails: [] },
}

/** A problem, as a rule sees it now. */
export interface Observation {
  rule: RuleName
  subject: string
  facts: Facts
  since: number
}

/** The open alerts of a rule by subject. An open alert stays open until it is clearly over. */
export type OpenAlerts = ReadonlyMap<string, Pick<Alert, 'facts' | 'since' | 'openedAt'>>

/** What the rule needs to know about a step, taken from its check. */
export interface StepSeen {
  flow: string
  step: string
  version: number
  selector: string
  state: string
  okRate: number | null
  missesSince: string | null
  suggestion: { selector: string } | null
}

/**
 * Steps that have lost their element. A step that was broken stays so until it is neither broken nor flaky.
 * If nobody meets it any more, it stays so until another version is published.
 */
export function brokenSteps(
  rule: AlertRules['stepBroken'],
  steps: readonly StepSeen[],
  open: OpenAlerts,
  now: number,
): Observation[] {
  return steps.flatMap(({ flow, step, version, selector, state, okRate, ...seen }) => {
    const subject = `${flow}/${step}`
    const before = open.get(subject)
    const isUnmet = state === 'unknown' && before?.facts.version === version
    const isBad =
      state === 'broken' || (state === 'flaky' && (rule.from === 'flaky' || before)) || isUnmet
    if (!isBad) return []
    const suggestion = seen.suggestion?.selector ?? null
    const facts = { flow, step, version, state, okRate, selector, suggestion }
    const since = seen.missesSince === null ? now : Date.parse(seen.missesSince)
    return [{ rule: 'step.broken' as const, subject, facts, since }]
  })
}

/** Runs of a flow in two consecutive weeks. */
export interface TwoWeeks {
  flow: string
  now: Share
  before: Share
}

/**
 * Whether completion has fallen week on week: by at least so many points, and beyond chance, that is,
 * Newcombe's 95 % interval of the difference lies wholly below zero. It is over once the interval contains
 * zero again.
 */
export function fallenCompletion(
  rule: AlertRules['completionFell'],
  { flow, now, before }: TwoWeeks,
  open: OpenAlerts,
  since: number,
): Observation | null {
  const interval = differenceInterval(now, before)
  if (interval === null || interval.high >= 0) return null
  // In whole numbers, because 0.45 - 0.5 is slightly less than 5 points in floating point.
  const fell = 100 * (before.hits * now.trials - now.hits * before.trials)
  const isEnough =
    Math.min(now.trials, before.trials) >= rule.fewestRuns &&
    fell >= rule.points * now.trials * before.trials
  if (!isEnough && !open.has(flow)) return null
  const facts = {
    flow,
    rate: rate(now.hits, now.trials),
    rateBefore: rate(before.hits, before.trials),
    starts: now.trials,
    startsBefore: before.trials,
    low: fourDecimals(interval.low),
    high: fourDecimals(interval.high),
  }
  return { rule: 'completion.fell', subject: flow, facts, since }
}

/**
 * Whether no page with the snippet has been seen for so long, if one was seen before. Time in which this
 * server was down does not count. A stale install stays stale until a page is seen again.
 */
export function staleInstall(
  rule: AlertRules['installStale'],
  { lastSeenAt, watchedSince }: { lastSeenAt: number | null; watchedSince: number },
  open: OpenAlerts,
  now: number,
): Observation | null {
  if (lastSeenAt === null) return null
  const before = open.get('snippet')
  const isStale = before
    ? lastSeenAt <= (before.openedAt ?? before.since)
    : now - Math.max(lastSeenAt, watchedSince) >= rule.hours * hourMs
  if (!isStale) return null
  const hours = Math.floor((now - lastSeenAt) / hourMs)
  return { rule: 'install.stale', subject: 'snippet', facts: { hours }, since: lastSeenAt }
}

/** Whether there are events that the database has refused. It is over once none are left. */
export function deadLettersFound(
  rule: AlertRules['deadLetters'],
  count: number,
  open: OpenAlerts,
  now: number,
): Observation | null {
  const isThere = count >= rule.fewest || (count > 0 && open.has('events'))
  if (!isThere) return null
  return { rule: 'dead_letters.found', subject: 'events', facts: { count }, since: now }
}
