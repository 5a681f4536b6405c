import { invalid } from '../../core/errors.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef, StepRef } from '../../core/reference.ts'
import { healthOutcomes, stepState, totalsOf } from '../../core/step/health.ts'
import { csvBom, csvRow, csvRows } from '../../core/text/csv.ts'
import { dayMs, hourMs } from '../../core/time/durations.ts'
import { type RangeDay, resolveRange, type TimeRange } from '../../core/time/time-range.ts'
import { TimeSlices } from '../../scheduling/cooperative.ts'
import type { StepDay, StepEvidenceStore } from '../../storage/interfaces/steps.ts'
import type { CheckedStep, HistoryDay } from './schema.ts'

/** The days of a history: the last 30 in a zone. @throws AppError `validation_failed` */
export function historyRange(timezone: string | undefined, now: number): TimeRange {
  const resolved = resolveRange({ ...(timezone !== undefined && { timezone }) }, now)
  if ('problems' in resolved) throw invalid(...resolved.problems)
  return resolved.range
}

/** After this time no report of a day is still on its way to storage. */
const settledMs = hourMs
/** Bounds the cache: a day of a step takes about 300 bytes. */
const maxDays = 10_000

/**
 * Reads days that are over only once: a report belongs to the moment of its receipt, and an erasure leaves
 * the counts as they are. Expired days are not read.
 */
export class PastDays {
  private readonly days = new Map<string, StepDay>()

  constructor(private readonly evidence: StepEvidenceStore) {}

  async day(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    { startMs, endMs }: RangeDay,
    now: number,
  ): Promise<StepDay> {
    const key = [orgRef, stepRef, startMs, endMs].join()
    const known = this.days.get(key)
    if (known) return known
    const day = await this.evidence.between(orgRef, stepRef, startMs, endMs)
    if (endMs + settledMs > now) return day
    if (this.days.size >= maxDays) this.days.delete(this.days.keys().next().value!)
    this.days.set(key, day)
    return day
  }
}

interface HistoryQuery {
  range: TimeRange
  past: PastDays
  /** How long reports are kept for organisations without a setting of their own. */
  retentionDays: number
  now: number
}

/** The health of a step by day. */
export async function historyOf(
  organisation: Pick<Organisation, 'ref' | 'retentionDays'>,
  step: { ref: StepRef; required: boolean },
  { range, past, retentionDays, now }: HistoryQuery,
): Promise<HistoryDay[]> {
  // Earlier days are skipped, because a day that is partly deleted would show fewer people than there were.
  const keptSince = now - (organisation.retentionDays ?? retentionDays) * dayMs
  const slices = new TimeSlices()
  const history: HistoryDay[] = []
  for (const ofRange of range.days) {
    const { date, startMs, endMs } = ofRange
    if (startMs < keptSince) continue
    await slices.rest()
    const day = await past.day(organisation.ref, step.ref, ofRange, now)
    const { state, okRate, reports } = stepState(day.people, step)
    if (reports === 0) continue
    const { people, versions } = day
    history.push({ date, people, state, okRate, versions: [...versions], complete: endMs <= now })
  }
  return history
}

const header = [
  ...['date', 'flow', 'step', 'step_id', 'state', 'ok_rate'],
  ...['people', 'finds', 'fallback', 'misses'],
  ...healthOutcomes,
  ...['versions', 'complete'],
]

/** The histories of a flow's steps as CSV, one row per step and day. */
export function historyCsv(steps: readonly CheckedStep[], options: { bom: boolean }): string {
  const rows = steps.flatMap(({ flow, step, stepId, history = [] }) =>
    history.map(({ date, state, okRate, people, versions, complete }) => {
      const { people: all, finds, fallback, misses } = totalsOf(people)
      return [
        ...[date, flow, step, stepId, state, okRate],
        ...[all, finds, fallback, misses],
        ...healthOutcomes.map(outcome => people[outcome]),
        ...[versions.join(' '), complete],
      ]
    }),
  )
  return (options.bom ? csvBom : '') + csvRow(header) + csvRows(rows)
}

export const exampleHistoryCsv =
  csvRow(header) +
  csvRow([
    ...['2026-11-20', 'welcome', 'create', 'step_oS7uAWwXw1gOJgTNdr', 'healthy', 0.9583],
    ...[24, 23, 0, 1],
    ...[23, 0, 0, 0, 0, 1, 0],
    ...['3', true],
  ])
