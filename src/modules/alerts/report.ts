import type { Flow } from '../../core/flow/flow.ts'
import { quotient } from '../../core/number/statistics.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { resolveRange, type TimeRange } from '../../core/time/time-range.ts'
import type { AlertStore } from '../../storage/interfaces/alerts.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { parseQuery } from '../analytics/query.ts'
import type { analyticsService } from '../analytics/service.ts'
import { dashboardUrl } from './messages.ts'
import { rules, type WeekScore } from './rules.ts'

/** The hour of Monday at which the previous week is reported. */
const reportHour = 8

interface Days {
  from: string
  to: string
}

/** The time zone in which weeks begin and reports are made. */
export const zoneOf = ({ timezone }: Pick<Organisation, 'timezone'>) => timezone ?? 'UTC'

const localTime = (now: number, timezone: string) =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(timezone)

/**
 * The newest weekly report that is due at a time: the Monday on which it is made, at 08:00, the week that
 * ended the day before, and the week before that.
 */
export function reportWeeks(now: number, timezone: string) {
  // Before that hour, Monday still belongs to the report of the Monday before.
  const shifted = localTime(now, timezone).subtract({ hours: reportHour }).toPlainDate()
  const monday = shifted.subtract({ days: shifted.dayOfWeek - 1 })
  return { monday: monday.toString(), ...twoWeeksBefore(monday) }
}

/** The seven days before yesterday, so that their runs have had a day to end, and the seven before those. */
export function weeksToCompare(now: number, timezone: string) {
  return twoWeeksBefore(localTime(now, timezone).toPlainDate().subtract({ days: 1 }))
}

/** The seven days before a day, and the seven before those. */
function twoWeeksBefore(end: Temporal.PlainDate) {
  const day = (back: number) => end.subtract({ days: back }).toString()
  return { week: { from: day(7), to: day(1) }, before: { from: day(14), to: day(8) } }
}

function rangeOf(days: Days, timezone: string, now: number): TimeRange {
  const resolved = resolveRange({ ...days, timezone }, now)
  if ('problems' in resolved) throw new Error(resolved.problems[0]!.message)
  return resolved.range
}

interface FlowDeps {
  stores: Pick<GateStores, 'catalogue'>
  analytics: Pick<ReturnType<typeof analyticsService>, 'analytics' | 'summary'>
  clock: Clock
}

/** The runs of each published flow in two weeks. */
export async function flowsInWeeks(
  { stores, analytics, clock }: FlowDeps,
  organisation: Organisation,
  { week, before }: { week: Days; before: Days },
  signal: AbortSignal,
) {
  const catalogue = stores.catalogue()
  const timezone = zoneOf(organisation)
  const now = clock.now()
  const { text } = catalogue.publishedFlows(organisation)
  const { flows: published } = JSON.parse(text) as { flows: Flow[] }
  const entries = published.map(({ id }) => catalogue.flow(id)).filter(entry => entry !== null)
  const range = rangeOf(week, timezone, now)
  const later = await analytics.summary(entries, range, signal)
  const earlier = await analytics.summary(entries, rangeOf(before, timezone, now), signal)
  const flows = later.flows.map((flow, i) => ({
    ...flow,
    name: entries[i]!.name,
    totalsBefore: earlier.flows[i]!.totals,
  }))
  return { flows, startMs: range.startMs }
}

/** The NPS questions of published flows that were answered in the seven days until now. */
export async function scoresOfWeek(
  { stores, analytics, clock }: FlowDeps,
  organisation: Organisation,
  signal: AbortSignal,
): Promise<WeekScore[]> {
  const catalogue = stores.catalogue()
  const timezone = zoneOf(organisation)
  const now = clock.now()
  const to = localTime(now, timezone).toPlainDate()
  const days = { from: to.subtract({ days: 6 }).toString(), to: to.toString(), timezone }
  const { text } = catalogue.publishedFlows(organisation)
  const scores: WeekScore[] = []
  for (const { id, key, steps } of (JSON.parse(text) as { flows: Flow[] }).flows) {
    if (!steps.some(({ question }) => question?.type === 'rating')) continue
    const flow = catalogue.flow(id)
    if (!flow) continue
    const { steps: counted } = await analytics.analytics(parseQuery(flow, days, now), signal)
    for (const { key: step, question } of counted) {
      const score = question?.nps?.score
      if (score != null) scores.push({ flow: key, step, score, answers: question!.answers })
    }
  }
  return scores
}

interface ReportedFlow {
  key: string
  name: string
  starts: number
  startsBefore: number
  completions: number
  completionsBefore: number
  /** Null below five runs, because a percentage of so few says nothing. */
  completionRate: number | null
  completionRateBefore: number | null
}

/** The summary of a week, as webhooks get it. */
export interface Report {
  organisation: { slug: string; name: string }
  week: Days & { timezone: string }
  /** Most starts first. */
  flows: ReportedFlow[]
  flowsLeftOut: number
  /** Alerts of that week and open ones. */
  alerts: { message: string; since: string; resolvedAt: string | null; url: string | null }[]
  url: string | null
}

const minRunsForRate = 5
const maxFlows = 50
const maxAlerts = 20

export interface ReportDeps extends FlowDeps {
  store: Pick<AlertStore, 'alerts'>
  /** Where browsers reach this server, if that is configured. */
  outside(): { publicUrl: string | null }
}

/** The newest weekly report that is due. */
export async function weeklyReport(
  deps: ReportDeps,
  organisation: Organisation,
  signal: AbortSignal,
): Promise<Report> {
  const { slug, name, ref } = organisation
  const timezone = zoneOf(organisation)
  const weeks = reportWeeks(deps.clock.now(), timezone)
  const found = await flowsInWeeks(deps, organisation, weeks, signal)
  const rateOf = (totals: { starts: number; completionRate: number | null }) =>
    totals.starts < minRunsForRate ? null : totals.completionRate
  const flows = found.flows
    .map(
      ({ flowKey, name, totals, totalsBefore }): ReportedFlow => ({
        key: flowKey,
        name,
        starts: totals.starts,
        startsBefore: totalsBefore.starts,
        completions: totals.completions,
        completionsBefore: totalsBefore.completions,
        completionRate: rateOf(totals),
        completionRateBefore: rateOf(totalsBefore),
      }),
    )
    .sort((a, b) => b.starts - a.starts)
  const urlOf = (page: string) => dashboardUrl(deps.outside().publicUrl, slug, page)
  const alerts = await deps.store.alerts(ref, found.startMs)
  return {
    organisation: { slug, name },
    week: { ...weeks.week, timezone },
    flows: flows.slice(0, maxFlows),
    flowsLeftOut: Math.max(0, flows.length - maxFlows),
    alerts: alerts.slice(0, maxAlerts).map(({ rule, facts, since, resolvedAt }) => ({
      message: rules[rule].message(facts),
      since: isoTime(since),
      resolvedAt: isoTimeOrNull(resolvedAt),
      url: urlOf(rules[rule].page(facts)),
    })),
    url: urlOf(''),
  }
}

/** Computed from counts, because a rate of four decimals would be rounded twice. */
const percent = (rate: number | null, completions: number, starts: number) =>
  rate === null ? '–' : `${quotient(100 * completions, starts, 1)!.toFixed(1)} %`

/** The days of a week, written as 9–15 November 2026. */
function daysOf({ from, to }: Days): string {
  // Not a module constant: it takes five milliseconds to make, which would delay a starting thread.
  const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  return days.formatRange(Date.parse(from), Date.parse(to))
}

export const reportSubject = ({ organisation, week }: Report) =>
  `${organisation.name} on Cairn, ${daysOf(week)}`.replace(/[\r\n]+/g, ' ')

const maxNameLength = 40
const shortened = (name: string) =>
  name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1)}…` : name

/** Aligns columns: the first to the left, the others to the right. */
function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column]!) : text.padStart(widths[column]!)
  return rows.map(row => row.map(cell).join('  ').trimEnd())
}

/**
 * The report as plain text.
 *
 * @param unsubscribe the link, in a mail
 */
export function reportText(report: Report, unsubscribe?: string): string {
  const { organisation, week, flows, flowsLeftOut, alerts, url } = report
  const table = [
    ['Flow', 'Starts', 'Week before', 'Completed', 'Week before'],
    ...flows.map(flow => [
      shortened(flow.name),
      String(flow.starts),
      String(flow.startsBefore),
      percent(flow.completionRate, flow.completions, flow.starts),
      percent(flow.completionRateBefore, flow.completionsBefore, flow.startsBefore),
    ]),
  ]
  const lines = [
    `${organisation.name}, ${daysOf(week)} (${week.timezone})`,
    '',
    ...(flows.length === 0 ? ['No flow is published.'] : tableOf(table)),
    ...(flowsLeftOut > 0 ? [`… and ${flowsLeftOut} more flows`] : []),
    '',
    alerts.length === 0 ? 'No alerts.' : 'Alerts:',
    ...alerts.map(
      ({ message, resolvedAt }) => `- ${message}${resolvedAt === null ? '' : ' Resolved.'}`,
    ),
    ...(url === null ? [] : ['', `Dashboard: ${url}`]),
    ...(unsubscribe === undefined ? [] : ['', `Unsubscribe: ${unsubscribe}`]),
  ]
  return `${lines.join('\n')}\n`
}
