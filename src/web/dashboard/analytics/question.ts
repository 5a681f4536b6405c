import type { Analytics, AnalyticsQuery } from '../../../modules/analytics/schema.ts'
import { type Read, useRead } from '../api/read.ts'
import { formatDays } from '../parts/format.ts'
import { addressOf, type Filters, useFilters } from '../shell/address.ts'
import { useZone } from './use-zone.ts'
import { addDays, dayIn, daysOf } from './zone.ts'

export type { Analytics }
export type Interval = NonNullable<AnalyticsQuery['interval']>
export type StepNumbers = Analytics['steps'][number]

export const defaultDays = 30
/** Beyond this, a bar for each week is clearer than a bar for each day. */
const maxBars = 120

/** What the address asks of a flow's results. */
export interface Question {
  from: string
  to: string
  zone: string
  /** Whether today is left out because it is not over. It cannot be if nothing is before it. */
  isWhole: boolean
  version: string | null
  /** What it is compared with: the period before, a version, or nothing. */
  compare: 'previous' | 'none' | `v${string}`
  /** The time that one bar of the chart covers. */
  interval: Interval
  /** The trait by which runs are grouped. */
  by: string | null
  /** The only runs that are counted, as the API takes it: `plan:pro`, or the ID of a saved segment. */
  only: string | null
}

/** Reads the address. Nonsense is passed on to the API, which says what is wrong with it. */
export function useQuestion(): Question {
  const { filters } = useFilters()
  const zone = useZone()
  const today = dayIn(zone)
  const lastDay = filters.to ?? today
  const from = filters.from ?? addDays(lastDay, 1 - defaultDays)
  const isWhole = filters.days === 'complete' && from < today
  const to = isWhole && lastDay >= today ? addDays(today, -1) : lastDay
  const { compare } = filters
  return {
    zone,
    isWhole,
    to,
    from,
    interval: (filters.interval as Interval) ?? (daysOf(from, to) > maxBars ? 'week' : 'day'),
    version: filters.version ?? null,
    by: filters.by ?? null,
    only: filters.segment?.includes(':') || isSaved(filters.segment) ? filters.segment! : null,
    compare: compare === 'none' || /^v\d+$/.test(compare ?? '') ? (compare as 'none') : 'previous',
  }
}

/** Whether runs are limited to a saved segment. */
export const isSaved = (only: string | null | undefined): boolean =>
  only?.startsWith('segment_') === true && !only.includes(':')

/** The query of the API for a question. */
export function queryOf(
  { from, to, zone, version, only }: Question,
  more: Readonly<Record<string, string>> = {},
): URLSearchParams {
  const query = new URLSearchParams({ from, to, timezone: zone, ...more })
  if (version !== null) query.set('version', version)
  // Beside it, there may be a trait to group by.
  if (only !== null) query.append('segment', only)
  return query
}

/** The address of a flow's numbers. */
export const numbersPath = (flowId: string, query: URLSearchParams): string =>
  `/flows/${flowId}/analytics?${query}`

/** The query for all runs by a trait, whichever value is selected. */
export const segmentsQuery = (question: Question, trait: string) =>
  queryOf({ ...question, only: isSaved(question.only) ? question.only : null }, { segment: trait })

/** Only the main numbers have an interval, because comparisons are by day. */
const intervalOf = ({ interval }: Question): Readonly<Record<string, string>> =>
  interval === 'day' ? {} : { interval }

/** What the question is compared with, as a question of its own; null if nothing. */
function comparedWith(question: Question): Question | null {
  const { from, to, compare } = question
  if (compare === 'none') return null
  if (compare !== 'previous') return { ...question, version: compare.slice(1) }
  const days = daysOf(from, to)
  return days === 0 ? null : { ...question, to: addDays(from, -1), from: addDays(from, -days) }
}

/** Results are computed anew for each answer, and seldom change within seconds. */
export const everyMs = 15_000

export interface Results {
  main: Read<Analytics>
  /** What it is compared with; null if there is nothing, it has not come yet, or it has no runs. */
  other: Analytics | null
  /** Whether the comparison has come but has no starts. */
  isOtherEmpty: boolean
  /** The name of `other`: its days or its version. */
  otherName: string
}

/** Reads a flow's results and those that they are compared with. */
export function useResults(flowId: string, question: Question): Results {
  const compared = comparedWith(question)
  const query = queryOf(question, { distribution: '1', ...intervalOf(question) })
  const main = useRead<Analytics>(numbersPath(flowId, query), everyMs)
  // Requested once the page itself is there, because the server counts one flow at a time.
  const canCompare = compared !== null && main.data !== null
  const other = useRead<Analytics>(
    canCompare ? numbersPath(flowId, queryOf(compared, { distribution: '1' })) : null,
    everyMs * 4,
  )
  const known = canCompare && !other.isOld ? other.data : null
  const hasRuns = known !== null && known.totals.starts > 0
  return {
    main,
    other: hasRuns ? known : null,
    isOtherEmpty: known !== null && !hasRuns,
    otherName: !compared
      ? ''
      : question.compare.startsWith('v')
        ? `version ${compared.version}`
        : formatDays(compared.from, compared.to),
  }
}

/** The page with the runs behind a number. */
export const runsBehind = (flowKey: string, question: Question, filters: Filters): string => {
  const { from, to, zone, version, only } = question
  return addressOf(['flows', flowKey, 'runs'], {
    from,
    to,
    tz: zone,
    version,
    segment: only,
    ...filters,
  })
}

/** The address from which the browser downloads all tables of the API, or the rows behind them. */
export function csvAddress(
  flowKey: string,
  question: Question,
  rows: 'runs' | 'events' | null,
): string {
  // Only runs keep the traits that people had when they started. Events belong to people and have none.
  const rowQuery = rows === 'events' ? { ...question, only: null } : question
  const query = queryOf(rowQuery, rows ? { rows } : intervalOf(rowQuery))
  return `${addressOf(['flows', flowKey, 'export.csv'])}?${query}`
}
