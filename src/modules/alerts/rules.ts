import { differenceInterval, type Share } from '../../core/number/interval.ts'
import { fourDecimals, rate } from '../../core/number/statistics.ts'
import { hourMs } from '../../core/time/durations.ts'
import type {
  Alert,
  AlertSettings,
  Facts,
  MessageType,
  RuleName,
} from '../../storage/interfaces/alerts.ts'

/** By how many percentage points completion must fall, with how many runs in each week. */
const minFallPoints = 5
const minRuns = 50
/** How many answers a score needs, and the score that opens an alert and the one that resolves it. */
const minAnswers = 20
const lowScore = { opens: 0, resolves: 10 }
/** How long no page must have been seen. */
const silentMs = 24 * hourMs

export const defaultSettings: AlertSettings = {
  rules: {
    stepBroken: { on: false },
    completionFell: { on: false },
    scoreLow: { on: false },
    installStale: { on: false },
    deadLetters: { on: false },
  },
  report: { on: false, alerts: false, recipients: [] },
}

interface Rule {
  /** The name of its setting. */
  setting: keyof AlertSettings['rules']
  /** The type of the message that is sent when its alert is resolved. */
  resolvedType: MessageType
  /** What is wrong, in one sentence. */
  message(facts: Facts): string
  /** How to fix it. */
  fix(facts: Facts): string
  /** The dashboard page that shows it, below the organisation's address. */
  page(facts: Facts): string
}

/** A rate has four decimals, so its percentage is exact with two. */
const percent = (share: unknown) => `${Math.round(Number(share) * 10_000) / 100} %`
const flowPage = ({ flow }: Facts) => `flows/${encodeURIComponent(String(flow))}`

export const rules: Readonly<Record<RuleName, Rule>> = {
  'step.broken': {
    setting: 'stepBroken',
    resolvedType: 'step.recovered',
    message: ({ flow, step, okRate }) =>
      `Step "${step}" of flow "${flow}" is broken: ${okRate === null ? 'nobody' : percent(okRate)} of people find its element.`,
    fix: ({ suggestion }) =>
      suggestion === null
        ? 'Open the page that the step points at and choose another element.'
        : 'Use the suggested selector in the draft and publish it.',
    page: facts => `${flowPage(facts)}/health`,
  },
  'completion.fell': {
    setting: 'completionFell',
    resolvedType: 'completion.recovered',
    message: facts =>
      `Completion of flow "${facts.flow}" fell from ${percent(facts.rateBefore)} to ${percent(facts.rate)} week over week (${facts.startsBefore} and ${facts.starts} runs).`,
    fix: () => 'Compare the two weeks by step, and check what was published or released between.',
    page: flowPage,
  },
  'score.low': {
    setting: 'scoreLow',
    resolvedType: 'score.recovered',
    message: ({ flow, step, score, answers }) =>
      `The NPS of question "${step}" of flow "${flow}" is ${score}, from ${answers} answers in the last 7 days.`,
    fix: () => 'Read what detractors wrote, and compare the score by trait.',
    page: flowPage,
  },
  'install.stale': {
    setting: 'installStale',
    resolvedType: 'install.recovered',
    message: ({ hours }) => `No page has loaded the snippet for ${hours} hours.`,
    fix: () => 'Open a page with the snippet and check the network log for failed requests.',
    page: () => 'install',
  },
  'dead_letters.found': {
    setting: 'deadLetters',
    resolvedType: 'dead_letters.cleared',
    message: ({ count }) => `The database rejected ${count} events.`,
    fix: () => 'Ask the operator to run "cairn dead-letters list". A retry can still store them.',
    page: () => '',
  },
}

/** A problem that a rule finds now. */
export type Observation = Pick<Alert, 'rule' | 'subject' | 'facts' | 'since'>

/** Open alerts of a rule by subject. They stay open until their problem is clearly over. */
export type OpenAlerts = ReadonlyMap<string, Pick<Alert, 'facts' | 'openedAt'>>

/** What the rule needs from the check of a step. */
export interface ObservedStep {
  flow: string
  step: string
  version: number
  selector: string
  state: string
  okRate: number | null
  missesSince: number | null
  suggestion: { selector: string } | null
}

/**
 * Steps that are broken. An alert stays open while its step is flaky. If nobody reaches the step, it stays
 * open until another version is published.
 */
export function brokenSteps(
  steps: readonly ObservedStep[],
  open: OpenAlerts,
  now: number,
): Observation[] {
  return steps.flatMap(({ flow, step, version, selector, state, okRate, ...observed }) => {
    const subject = `${flow}/${step}`
    const alert = open.get(subject)
    const staysOpen =
      alert && (state === 'flaky' || (state === 'unknown' && alert.facts.version === version))
    if (state !== 'broken' && !staysOpen) return []
    const suggestion = observed.suggestion?.selector ?? null
    const facts = { flow, step, version, state, okRate, selector, suggestion }
    const since = observed.missesSince ?? now
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
 * Whether completion fell week over week by enough, and by more than chance explains: Newcombe's 95 %
 * interval of the difference is entirely below zero. The alert stays open until the interval contains zero.
 */
export function fallenCompletion(
  { flow, now, before }: TwoWeeks,
  open: OpenAlerts,
  since: number,
): Observation | null {
  const interval = differenceInterval(now, before)
  if (interval === null || interval.high >= 0) return null
  // In whole numbers, because 0.45 - 0.5 is slightly less than 5 points in floating point.
  const fall = 100 * (before.hits * now.trials - now.hits * before.trials)
  const isEnough =
    Math.min(now.trials, before.trials) >= minRuns &&
    fall >= minFallPoints * now.trials * before.trials
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

/** The answers to an NPS question in the last seven days. */
export interface WeekScore {
  flow: string
  step: string
  score: number
  answers: number
}

/**
 * Whether more people are detractors than promoters. The alert stays open until the score is clearly
 * above zero again, also while there are too few answers for a score.
 */
export function lowScores(
  scores: readonly WeekScore[],
  open: OpenAlerts,
  since: number,
): Observation[] {
  return scores.flatMap(facts => {
    const subject = `${facts.flow}/${facts.step}`
    const isOpen = open.has(subject)
    if (
      facts.answers < minAnswers ? !isOpen : facts.score >= lowScore[isOpen ? 'resolves' : 'opens']
    )
      return []
    return [{ rule: 'score.low' as const, subject, facts: { ...facts }, since }]
  })
}

/**
 * Whether an installed snippet has been silent for too long. Time in which this server was down does not
 * count. The alert stays open until a page loads the snippet again.
 */
export function silentInstall(
  { lastSeenAt, watchedSince }: { lastSeenAt: number | null; watchedSince: number },
  open: OpenAlerts,
  now: number,
): Observation | null {
  if (lastSeenAt === null) return null
  const alert = open.get('snippet')
  const isSilent = alert
    ? lastSeenAt <= alert.openedAt
    : now - Math.max(lastSeenAt, watchedSince) >= silentMs
  if (!isSilent) return null
  const hours = Math.floor((now - lastSeenAt) / hourMs)
  return { rule: 'install.stale', subject: 'snippet', facts: { hours }, since: lastSeenAt }
}

/** Whether there are events that the database rejected. */
export const rejectedEvents = (count: number, now: number): Observation | null =>
  count > 0 ? { rule: 'dead_letters.found', subject: 'events', facts: { count }, since: now } : null
