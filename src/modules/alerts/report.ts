import { shareDifference } from '../../core/number/interval.ts'
import { quotient } from '../../core/number/statistics.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { minuteMs } from '../../core/time/durations.ts'

/** The hour of Monday at which the previous week is reported. */
const reportHour = 8

/** The week of a report and the week before it, as calendar days. */
export interface ReportWeeks {
  /** The Monday on which the report is made. */
  monday: string
  week: { from: string; to: string }
  before: { from: string; to: string }
}

/** The time zone in which weeks begin and reports are made. */
export const zoneOf = ({ timezone }: Pick<Organisation, 'timezone'>) => timezone ?? 'UTC'

/**
 * The newest weekly report that is due at a moment. It is made on Monday at 08:00, about the week that
 * ended the day before.
 */
export function reportWeeks(now: number, timezone: string): ReportWeeks {
  const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(timezone)
  // Before that hour, Monday still belongs to the report of the Monday before.
  const shifted = local.subtract({ hours: reportHour }).toPlainDate()
  const monday = shifted.subtract({ days: shifted.dayOfWeek - 1 })
  const day = (back: number) => monday.subtract({ days: back }).toString()
  return {
    monday: monday.toString(),
    week: { from: day(7), to: day(1) },
    before: { from: day(14), to: day(8) },
  }
}

/**
 * The seven whole days before yesterday, and the seven before those, so that the last runs have had a day
 * to end.
 */
export function weeksToCompare(now: number, timezone: string) {
  const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(now))
    .toZonedDateTimeISO(timezone)
    .toPlainDate()
  const day = (back: number) => today.subtract({ days: back }).toString()
  return {
    week: { from: day(8), to: day(2) },
    before: { from: day(15), to: day(9) },
  }
}

export interface ReportedFlow {
  key: string
  name: string
  starts: number
  startsBefore: number
  completions: number
  completionsBefore: number
  /** Null below five runs, because a percentage of so few says nothing. */
  completionRate: number | null
  completionRateBefore: number | null
  /** The runs of the week as CSV, for users who are signed in. */
  csv: string | null
}

/** The summary of a week, as it is sent. */
export interface Report {
  organisation: { slug: string; name: string }
  week: { from: string; to: string; timezone: string }
  flows: ReportedFlow[]
  /** How many flows are not listed, because they had fewer runs than those listed. */
  flowsLeftOut: number
  /** What broke in that week, or is still broken. */
  alerts: { message: string; since: string; resolvedAt: string | null; url: string | null }[]
  /** Steps that have lost their element as of now. */
  brokenSteps: { flow: string; step: string; state: string; url: string | null }[]
  url: string | null
}

export const fewestForRate = 5
export const maxReported = 20

export const escaped = (text: string) =>
  text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

/** Computed from counts, because a rate of four decimals would be rounded twice. */
const percentCompleted = ({ completions, starts, completionRate }: ReportedFlow) =>
  completionRate === null ? '–' : `${quotient(100 * completions, starts, 1)!.toFixed(1)} %`

/** A change against the week before, in words. */
function changeInWords(change: number | null, unit: 'points' | '%'): string {
  if (change === null) return ''
  if (change === 0) return 'as before'
  return `${change > 0 ? '+' : '−'}${Math.abs(change)} ${unit}`
}

const changeOfStarts = ({ starts, startsBefore }: ReportedFlow) =>
  changeInWords(quotient(100 * (starts - startsBefore), startsBefore, 1), '%')

function changeOfRate(flow: ReportedFlow): string {
  if (flow.completionRate === null || flow.completionRateBefore === null) return ''
  const now = { hits: 100 * flow.completions, trials: flow.starts }
  const before = { hits: 100 * flow.completionsBefore, trials: flow.startsBefore }
  return changeInWords(shareDifference(now, before, 1), 'points')
}

/** The days of a week, written as 9–15 November 2026. */
function daysOf({ from, to }: { from: string; to: string }): string {
  // Not a module constant: it takes five milliseconds to make, which would delay a starting thread.
  const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  return days.formatRange(Date.parse(from), Date.parse(to))
}

/** The subject of the mail. */
export const subjectOf = ({ organisation, week }: Report) =>
  `${organisation.name} on Cairn, ${daysOf(week)}`.replace(/[\r\n]+/g, ' ')

/**
 * The report as plain text.
 *
 * @param unsubscribe the link, if it is mailed
 */
export function reportText(report: Report, unsubscribe?: string): string {
  const { organisation, week, flows, alerts, brokenSteps, url } = report
  const lines = [
    `${organisation.name}, ${daysOf(week)} (${week.timezone})`,
    '',
    ...(flows.length === 0 ? ['No flow is published.'] : []),
    ...flows.flatMap(flow => {
      const starts = changeOfStarts(flow)
      const rate = changeOfRate(flow)
      return [
        flow.name,
        `  started ${flow.starts}${starts && ` (${starts})`}, completed ${percentCompleted(flow)}${rate && ` (${rate})`}`,
        ...(flow.csv === null ? [] : [`  CSV: ${flow.csv}`]),
      ]
    }),
    ...(report.flowsLeftOut > 0 ? [`… and ${report.flowsLeftOut} more flows`] : []),
    '',
    ...(alerts.length + brokenSteps.length === 0 ? ['Nothing broke.'] : ['What broke:']),
    ...alerts.map(
      ({ message, resolvedAt }) => `- ${message}${resolvedAt === null ? '' : ' It is over.'}`,
    ),
    ...brokenSteps.map(({ flow, step, state }) => `- The step "${step}" of "${flow}" is ${state}.`),
    ...(url === null ? [] : ['', `Dashboard: ${url}`]),
    ...(unsubscribe === undefined ? [] : ['', `Unsubscribe: ${unsubscribe}`]),
  ]
  return `${lines.join('\n')}\n`
}

const ink = '#1c2024'
const soft = '#60646c'
const line = '#e0e1e6'
const cell = (text: string, align: 'left' | 'right' = 'left', note = '') =>
  `<td align="${align}" valign="top" style="padding:10px 0 10px ${align === 'left' ? 0 : 16}px;border-top:1px solid ${line};font-size:14px;line-height:20px;color:${ink}">${text}${note && `<br><span style="color:${soft};font-size:12px">${note}</span>`}</td>`
const head = (text: string, align: 'left' | 'right') =>
  `<th align="${align}" style="padding:0 0 8px ${align === 'left' ? 0 : 16}px;font-size:12px;font-weight:600;color:${soft}">${text}</th>`
const link = (url: string | null, text: string) =>
  url === null
    ? escaped(text)
    : `<a href="${escaped(url)}" style="color:#0d74ce;text-decoration:none">${escaped(text)}</a>`

/** The report for mail programs: tables, and styles on each element, because they support nothing else. */
export function reportHtml(report: Report, unsubscribe: string): string {
  const { organisation, week, flows, alerts, brokenSteps, url } = report
  const rows = flows.map(
    flow =>
      `<tr>${cell(`<strong>${escaped(flow.name)}</strong>`, 'left', flow.csv === null ? '' : link(flow.csv, 'CSV'))}` +
      `${cell(String(flow.starts), 'right', changeOfStarts(flow))}` +
      `${cell(percentCompleted(flow), 'right', changeOfRate(flow))}</tr>`,
  )
  const broken = [
    ...alerts.map(
      alert =>
        `${link(alert.url, alert.message)}${alert.resolvedAt === null ? '' : ` <span style="color:${soft}">It is over.</span>`}`,
    ),
    ...brokenSteps.map(({ flow, step, state, url }) =>
      link(url, `The step “${step}” of “${flow}” is ${state}.`),
    ),
  ]
  const left =
    report.flowsLeftOut > 0
      ? `<p style="margin:8px 0 0;font-size:12px;color:${soft}">… and ${report.flowsLeftOut} more flows</p>`
      : ''
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${escaped(subjectOf(report))}</title></head>
<body style="margin:0;padding:0;background:#f0f0f3">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f0f0f3"><tr><td align="center" style="padding:32px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;background:#ffffff;border:1px solid ${line};border-radius:8px;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;color:${ink}">
<tr><td style="padding:28px 32px 20px"><p style="margin:0 0 4px;font-size:13px;color:${soft}">${escaped(organisation.name)}</p>
<h1 style="margin:0;font-size:22px;line-height:28px;font-weight:600">${daysOf(week)}</h1>
<p style="margin:4px 0 0;font-size:12px;color:${soft}">Days by the clock of ${escaped(week.timezone)}; changes are against the week before.</p></td></tr>
<tr><td style="padding:0 32px 24px"><table width="100%" cellpadding="0" cellspacing="0" border="0"><thead><tr>${head('Flow', 'left')}${head('Started', 'right')}${head('Completed', 'right')}</tr></thead><tbody>
${rows.join('\n') || `<tr>${cell('No flow is published.')}</tr>`}
</tbody></table>${left}</td></tr>
<tr><td style="padding:0 32px 24px"><h2 style="margin:0 0 8px;font-size:15px;font-weight:600">What broke</h2>
${broken.map(one => `<p style="margin:0 0 8px;font-size:14px;line-height:20px">${one}</p>`).join('\n') || `<p style="margin:0;font-size:14px;color:${soft}">Nothing.</p>`}
</td></tr>
${url === null ? '' : `<tr><td style="padding:0 32px 28px"><a href="${escaped(url)}" style="display:inline-block;padding:9px 16px;border-radius:6px;background:#0d74ce;color:#ffffff;font-size:14px;font-weight:600;text-decoration:none">Open the dashboard</a></td></tr>`}
</table>
<p style="margin:16px 0 0;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:12px;color:${soft}"><a href="${escaped(unsubscribe)}" style="color:${soft}">Unsubscribe</a></p>
</td></tr></table></body></html>
`
}

/** How often to look for problems, in milliseconds. */
export const lookEveryMs = 5 * minuteMs
