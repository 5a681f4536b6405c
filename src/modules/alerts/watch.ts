import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time/durations.ts'
import type {
  Alert,
  AlertSettings,
  AlertStore,
  Delivery,
  RuleName,
} from '../../storage/interfaces/alerts.ts'
import { ruleNames } from '../../storage/interfaces/alerts.ts'
import type { AnalyticsStores } from '../../storage/interfaces/analytics.ts'
import type { InstallationStores } from '../../storage/interfaces/installation.ts'
import type { OperationsStore } from '../../storage/interfaces/operations.ts'
import type { StepEvidenceStore, StepStores } from '../../storage/interfaces/steps.ts'
import { analyticsService } from '../analytics/service.ts'
import { isInstalled } from '../installation/findings.ts'
import { seenIn } from '../installation/service.ts'
import { checkSteps } from '../steps/check.ts'
import { alertNews, namesIn } from './alert-mail.ts'
import {
  alertMessage,
  deliveriesKeptMs,
  deliveriesTo,
  maxDeliveries,
  newDelivery,
} from './messages.ts'
import {
  flowsInWeeks,
  type ReportDeps,
  reportWeeks,
  scoresOfWeek,
  weeksToCompare,
  zoneOf,
} from './report.ts'
import {
  brokenSteps,
  fallenCompletion,
  lowScores,
  type Observation,
  type OpenAlerts,
  rejectedEvents,
  rules,
  silentInstall,
} from './rules.ts'
import { reportToSend } from './service.ts'

export interface WatchDeps extends Omit<ReportDeps, 'analytics'> {
  store: AlertStore
  stores: ReportDeps['stores'] & StepStores & InstallationStores & AnalyticsStores
  evidence: StepEvidenceStore
  operations: Pick<OperationsStore, 'deadLetters'>
  onError(error: unknown): void
}

/** How often to check for problems, in milliseconds. */
export const checkEveryMs = 5 * minuteMs

/** The completion of a week changes slowly and is expensive to compute, so it is computed this often. */
const completionEveryMs = hourMs

/** How long resolved alerts are stored. */
const alertsKeptMs = 90 * dayMs
const maxForgotten = 1_000

const maxOpen = 200

/** Alerts that a check opens and resolves. */
export function compareAlerts(
  open: readonly Alert[],
  observed: readonly Observation[],
  now: number,
) {
  const isSame = (a: Observation, b: Observation) => a.rule === b.rule && a.subject === b.subject
  const opened = observed
    .filter(observation => !open.some(alert => isSame(alert, observation)))
    .slice(0, Math.max(0, maxOpen - open.length))
    .map(
      (observation): Alert => ({
        id: newId('alert'),
        ...observation,
        openedAt: now,
        resolvedAt: null,
      }),
    )
  const resolved = open
    .filter(alert => !observed.some(observation => isSame(alert, observation)))
    .map(alert => ({ ...alert, resolvedAt: now }))
  return { opened, resolved }
}

/** Checks each organisation that has switched on a rule or the weekly report, one after the other. */
export class AlertWatch {
  private readonly watchedSince: number
  private readonly analytics: ReturnType<typeof analyticsService>
  /** The two weeks of each organisation, and when they were computed. */
  private readonly completion = new Map<
    string,
    { at: number; weeks: Awaited<ReturnType<AlertWatch['weeksOf']>> }
  >()

  constructor(private readonly deps: WatchDeps) {
    this.watchedSince = deps.clock.now()
    this.analytics = analyticsService(deps)
  }

  /** Checks all organisations. An error with one does not stop the others. */
  async check(signal = new AbortController().signal): Promise<void> {
    const { store, stores, clock, onError } = this.deps
    await store.forget(clock.now() - deliveriesKeptMs, clock.now() - alertsKeptMs, maxForgotten)
    for (const id of await store.watched()) {
      if (signal.aborted) return
      try {
        const organisation = stores.catalogue().organisationByName(id)
        if (organisation) await this.checkOne(organisation, signal)
      } catch (error) {
        if (!signal.aborted) onError(error)
      }
    }
  }

  private async checkOne(organisation: Organisation, signal: AbortSignal): Promise<void> {
    const { store, clock, outside } = this.deps
    const { ref, slug } = organisation
    const { settings, reportedFor } = await store.settings(ref)
    if (settings === null) return
    const isOn = (rule: RuleName) => settings.rules[rules[rule].setting]?.on === true
    const open = await store.alerts(ref, Number.POSITIVE_INFINITY)
    const observed = await this.observed(organisation, ruleNames.filter(isOn), open, signal)
    const now = clock.now()
    const { opened, resolved } = compareAlerts(open, observed, now)
    if (opened.length + resolved.length > 0) {
      const webhooks = await store.webhooks(ref)
      const context = { slug, publicUrl: outside().publicUrl, now }
      // Switching a rule off resolves its alerts without a message.
      const news = [...opened, ...resolved.filter(({ rule }) => isOn(rule))]
      const deliveries = [
        ...news.flatMap(alert => deliveriesTo(webhooks, alertMessage(alert, context), now)),
        ...this.mailsAbout(news, organisation, settings, now),
      ]
      await store.record(ref, { opened, resolved, deliveries }, maxDeliveries)
    }
    const { monday } = reportWeeks(now, zoneOf(organisation))
    if (settings.report.on && (reportedFor ?? '') < monday) {
      const deps = { ...this.deps, analytics: this.analytics }
      const { changes } = await reportToSend(deps, organisation, settings, signal)
      await store.record(ref, changes, maxDeliveries)
    }
  }

  /** One mail about all alerts of a check to each confirmed address. */
  private mailsAbout(
    alerts: readonly Alert[],
    organisation: Organisation,
    { report: { alerts: isMailed = false, recipients } }: AlertSettings,
    now: number,
  ): Delivery[] {
    const { stores, outside } = this.deps
    const readers = recipients.filter(({ state }) => state === 'confirmed')
    if (!isMailed || alerts.length === 0 || readers.length === 0) return []
    const named = namesIn(stores.catalogue(), organisation)
    const { publicUrl } = outside()
    const message = alertNews(alerts, organisation, { named, publicUrl, now })
    return readers.map(({ mail }) => newDelivery({ mail }, message, now))
  }

  private async observed(
    organisation: Organisation,
    watched: readonly RuleName[],
    alerts: readonly Alert[],
    signal: AbortSignal,
  ): Promise<Observation[]> {
    const { stores, operations, clock } = this.deps
    const { ref } = organisation
    const now = clock.now()
    const openOf = (rule: RuleName): OpenAlerts =>
      new Map(alerts.filter(alert => alert.rule === rule).map(alert => [alert.subject, alert]))
    const found: (Observation | null)[] = []
    if (watched.includes('step.broken')) {
      const { steps } = await checkSteps(organisation, {}, now, this.deps)
      found.push(...brokenSteps(steps, openOf('step.broken'), now))
    }
    if (watched.includes('install.stale')) {
      const presence = await stores.presence.read(ref, now)
      const lastSeenAt = isInstalled(presence) ? seenIn(presence).lastSeenAt : null
      const seen = { lastSeenAt, watchedSince: this.watchedSince }
      found.push(silentInstall(seen, openOf('install.stale'), now))
    }
    if (watched.includes('dead_letters.found')) {
      const { count } = await operations.deadLetters(ref, 1)
      found.push(rejectedEvents(count, now))
    }
    if (watched.includes('score.low')) {
      const { scores, since } = await this.weekOf(organisation, signal)
      found.push(...lowScores(scores, openOf('score.low'), since))
    }
    if (watched.includes('completion.fell')) {
      const { flows, since } = await this.weekOf(organisation, signal)
      const open = openOf('completion.fell')
      found.push(...flows.map(flow => fallenCompletion(flow, open, since)))
    }
    return found.filter(observation => observation !== null)
  }

  private async weekOf(organisation: Organisation, signal: AbortSignal) {
    const now = this.deps.clock.now()
    const last = this.completion.get(organisation.id)
    if (last && now - last.at < completionEveryMs) return last.weeks
    const weeks = await this.weeksOf(organisation, signal)
    this.completion.set(organisation.id, { at: now, weeks })
    return weeks
  }

  /** The scores of the last week, and the runs of each published flow in the two weeks that are compared. */
  private async weeksOf(organisation: Organisation, signal: AbortSignal) {
    const weeks = weeksToCompare(this.deps.clock.now(), zoneOf(organisation))
    const deps = { ...this.deps, analytics: this.analytics }
    const { flows, startMs } = await flowsInWeeks(deps, organisation, weeks, signal)
    return {
      since: startMs,
      scores: await scoresOfWeek(deps, organisation, signal),
      flows: flows
        // Runs of a flow that takes people days have had no time to end.
        .filter(({ timeToComplete }) => (timeToComplete.p90Seconds ?? 0) * 1_000 <= dayMs)
        .map(({ flowKey, totals, totalsBefore }) => ({
          flow: flowKey,
          now: { hits: totals.completions, trials: totals.starts },
          before: { hits: totalsBefore.completions, trials: totalsBefore.starts },
        })),
    }
  }
}
