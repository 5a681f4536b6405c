import type { Flow } from '../../core/flow/flow.ts'
import type { FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { dayMs, hourMs } from '../../core/time/durations.ts'
import { resolveRange, type TimeRange } from '../../core/time/time-range.ts'
import type { Alert, AlertSettings, AlertStore, Noted } from '../../storage/interfaces/alerts.ts'
import type { AnalyticsStores } from '../../storage/interfaces/analytics.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { InstallationStores } from '../../storage/interfaces/installation.ts'
import type { OperationsStore } from '../../storage/interfaces/operations.ts'
import type { StepEvidenceStore, StepStores } from '../../storage/interfaces/steps.ts'
import { analyticsService } from '../analytics/service.ts'
import { isInstalled } from '../installation/findings.ts'
import { seenIn } from '../installation/service.ts'
import { checkSteps } from '../steps/check.ts'
import { confirmedMails } from './consent.ts'
import { afterLook } from './lifecycle.ts'
import { alertsKeptMs, deliveriesOf, keptMs, maxDeliveries } from './messages.ts'
import {
  fewestForRate,
  maxReported,
  type Report,
  type ReportedFlow,
  reportWeeks,
  weeksToCompare,
  zoneOf,
} from './report.ts'
import {
  brokenSteps,
  deadLettersFound,
  fallenCompletion,
  type Observation,
  type OpenAlerts,
  type RuleName,
  ruleNames,
  settingOf,
  staleInstall,
} from './rules.ts'
import { addressOf, alertMessage, bodyOf, messageOf, pageOf } from './wording.ts'

export interface WatchDeps {
  store: AlertStore
  stores: StepStores & InstallationStores & AnalyticsStores & Pick<GateStores, 'catalogue'>
  evidence: StepEvidenceStore
  operations: Pick<OperationsStore, 'deadLetters'>
  clock: Clock
  /** Where browsers reach this server, as far as is known by now. */
  publicUrl(): string | null
  onFault(error: unknown): void
}

/** The completion of a week changes slowly and is expensive to compute, so it is computed this often. */
const completionEveryMs = hourMs
const maxForgotten = 1_000

/** Looks for problems in each organisation that wants to know, one after the other. */
export class AlertWatch {
  private readonly watchedSince: number
  private readonly analytics: ReturnType<typeof analyticsService>
  /** The numbers of the two weeks by organisation, and the settings that they were computed for. */
  private readonly completion = new Map<
    string,
    { at: number; key: string; weeks: Awaited<ReturnType<AlertWatch['weeksOf']>> }
  >()

  constructor(private readonly deps: WatchDeps) {
    this.watchedSince = deps.clock.now()
    this.analytics = analyticsService(deps)
  }

  /** One look at all organisations. A fault with one does not stop the others. */
  async look(signal = new AbortController().signal): Promise<void> {
    const { store, stores, clock, onFault } = this.deps
    await store.forget(clock.now() - keptMs, clock.now() - alertsKeptMs, maxForgotten)
    for (const id of await store.watched()) {
      if (signal.aborted) return
      try {
        const organisation = stores.catalogue().organisationByName(id)
        if (organisation) await this.lookAt(organisation, signal)
      } catch (error) {
        if (!signal.aborted) onFault(error)
      }
    }
  }

  private async lookAt(organisation: Organisation, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.deps
    const { ref } = organisation
    const { settings, reportedFor } = await store.settings(ref)
    if (settings === null) return
    const now = clock.now()
    const known = await store.alerts(ref, now - dayMs)
    const watched = new Set(ruleNames.filter(rule => settings.rules[settingOf[rule]].on))
    const observed = await this.observed(organisation, settings, watched, known, signal)
    const { changed, opened, resolved } = afterLook(known, observed, watched, now, () =>
      newId('alert'),
    )
    const webhooks = await store.webhooks(ref)
    const told = { slug: organisation.slug, publicUrl: this.deps.publicUrl(), now }
    const deliveries = [...opened, ...resolved].flatMap(alert =>
      deliveriesOf(alertMessage(alert, told), webhooks, [], now),
    )
    if (changed.length > 0) {
      await store.note(ref, { alerts: changed, deliveries }, maxDeliveries)
    }
    const { monday } = reportWeeks(now, zoneOf(organisation))
    if (settings.report.on && (reportedFor ?? '') < monday) {
      const { noted } = await this.reportToSend(organisation, settings, signal)
      await store.note(ref, noted, maxDeliveries)
    }
  }

  /** The newest weekly report, and what to store so that everyone who gets it is sent it. */
  async reportToSend(
    organisation: Organisation,
    settings: AlertSettings,
    signal: AbortSignal,
  ): Promise<{ report: Report; noted: Noted }> {
    const { store, clock } = this.deps
    const report = await this.report(organisation, signal)
    const now = clock.now()
    const message = { type: 'report.weekly' as const, body: bodyOf('report.weekly', now, report) }
    const webhooks = await store.webhooks(organisation.ref)
    const deliveries = deliveriesOf(message, webhooks, confirmedMails(settings.report), now)
    const reportedFor = reportWeeks(now, zoneOf(organisation)).monday
    return { report, noted: { alerts: [], deliveries, reportedFor } }
  }

  private async observed(
    organisation: Organisation,
    { rules }: AlertSettings,
    watched: ReadonlySet<RuleName>,
    known: readonly Alert[],
    signal: AbortSignal,
  ): Promise<Observation[]> {
    const { stores, operations, clock } = this.deps
    const { ref } = organisation
    const now = clock.now()
    const openOf = (rule: RuleName): OpenAlerts =>
      new Map(
        known
          .filter(alert => alert.state === 'open' && alert.rule === rule)
          .map(alert => [alert.subject, alert]),
      )
    const found: (Observation | null)[] = []
    if (watched.has('step.broken')) {
      const { steps } = await checkSteps(organisation, {}, now, this.deps)
      found.push(...brokenSteps(rules.stepBroken, steps, openOf('step.broken'), now))
    }
    if (watched.has('install.stale')) {
      const presence = await stores.presence.read(ref, now)
      const lastSeenAt = isInstalled(presence) ? seenIn(presence).lastSeenAt : null
      const seen = { lastSeenAt, watchedSince: this.watchedSince }
      found.push(staleInstall(rules.installStale, seen, openOf('install.stale'), now))
    }
    if (watched.has('dead_letters.found')) {
      const { count } = await operations.deadLetters(ref, 1)
      const open = openOf('dead_letters.found')
      found.push(deadLettersFound(rules.deadLetters, count, open, now))
    }
    if (watched.has('completion.fell')) {
      const { flows, since } = await this.completionOf(organisation, signal)
      const open = openOf('completion.fell')
      found.push(...flows.map(flow => fallenCompletion(rules.completionFell, flow, open, since)))
    }
    return found.filter(observation => observation !== null)
  }

  private async completionOf(organisation: Organisation, signal: AbortSignal) {
    const now = this.deps.clock.now()
    const key = `${zoneOf(organisation)} ${this.deps.stores.catalogue().publishedFlows(organisation).version}`
    const known = this.completion.get(organisation.id)
    if (known && known.key === key && now - known.at < completionEveryMs) return known.weeks
    const weeks = await this.weeksOf(organisation, signal)
    this.completion.set(organisation.id, { at: now, key, weeks })
    return weeks
  }

  /** Starts and completions of each published flow in the two weeks that are compared. */
  private async weeksOf(organisation: Organisation, signal: AbortSignal) {
    const now = this.deps.clock.now()
    const timezone = zoneOf(organisation)
    const { week, before } = weeksToCompare(now, timezone)
    const published = await this.publishedFlows(organisation)
    const [ranges, rangesBefore] = [rangeOf(week, timezone, now), rangeOf(before, timezone, now)]
    const later = await this.analytics.summary(published, ranges, signal)
    const earlier = await this.analytics.summary(published, rangesBefore, signal)
    const flows = later.flows
      .map(({ flowKey, totals, timeToComplete }, i) => ({
        flow: flowKey,
        now: { hits: totals.completions, trials: totals.starts },
        before: {
          hits: earlier.flows[i]!.totals.completions,
          trials: earlier.flows[i]!.totals.starts,
        },
        // Runs of a flow that takes people days have had no time to end.
        isSlow: (timeToComplete.p90Seconds ?? 0) * 1_000 > dayMs,
      }))
      .filter(({ isSlow }) => !isSlow)
    return { flows, since: ranges.startMs }
  }

  private async publishedFlows(organisation: Organisation): Promise<FlowEntry[]> {
    const catalogue = this.deps.stores.catalogue()
    const { text } = catalogue.publishedFlows(organisation)
    const { flows } = JSON.parse(text) as { flows: Flow[] }
    const entries = flows.map(({ id }) => catalogue.flow(id))
    return entries.filter(entry => entry !== null)
  }

  /** The newest weekly report that is due. */
  async report(organisation: Organisation, signal: AbortSignal): Promise<Report> {
    const { store, clock, publicUrl } = this.deps
    const { slug, name, ref } = organisation
    const timezone = zoneOf(organisation)
    const now = clock.now()
    const { week, before } = reportWeeks(now, timezone)
    const range = rangeOf(week, timezone, now)
    const entries = await this.publishedFlows(organisation)
    const later = await this.analytics.summary(entries, range, signal)
    const earlier = await this.analytics.summary(entries, rangeOf(before, timezone, now), signal)
    const at = (page: string) => addressOf(publicUrl(), slug, page)
    const query = new URLSearchParams({ ...week, timezone }).toString()
    const flows = later.flows
      .map(({ flowKey, totals }, i): ReportedFlow => {
        const past = earlier.flows[i]!.totals
        const rated = ({ starts, completionRate }: typeof totals) =>
          starts < fewestForRate ? null : completionRate
        return {
          key: flowKey,
          name: entries[i]!.name,
          starts: totals.starts,
          startsBefore: past.starts,
          completions: totals.completions,
          completionsBefore: past.completions,
          completionRate: rated(totals),
          completionRateBefore: rated(past),
          csv: at(`flows/${encodeURIComponent(flowKey)}/export.csv?${query}`),
        }
      })
      .sort((a, b) => b.starts - a.starts)
    const { steps } = await checkSteps(organisation, {}, now, this.deps)
    const alerts = await store.alerts(ref, range.startMs)
    return {
      organisation: { slug, name },
      week: { ...week, timezone },
      flows: flows.slice(0, maxReported),
      flowsLeftOut: Math.max(0, flows.length - maxReported),
      alerts: alerts
        .filter(({ state }) => state !== 'pending')
        .slice(0, maxReported)
        .map(alert => ({
          message: messageOf(alert),
          since: isoTime(alert.since),
          resolvedAt: isoTimeOrNull(alert.resolvedAt),
          url: at(pageOf(alert)),
        })),
      brokenSteps: steps
        .filter(
          ({ state, flow, step }) =>
            (state === 'broken' || state === 'flaky') &&
            !alerts.some(alert => alert.state === 'open' && alert.subject === `${flow}/${step}`),
        )
        .slice(0, maxReported)
        .map(({ flow, step, state }) => ({
          ...{ flow, step, state },
          url: at(`flows/${encodeURIComponent(flow)}/health`),
        })),
      url: at(''),
    }
  }
}

function rangeOf(days: { from: string; to: string }, timezone: string, now: number): TimeRange {
  const resolved = resolveRange({ ...days, timezone }, now)
  if ('problems' in resolved) throw new Error(resolved.problems[0]!.message)
  return resolved.range
}
