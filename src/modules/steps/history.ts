import { invalid } from '../../core/errors.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { StepRef } from '../../core/reference.ts'
import { healthOutcomes, stepState, totalsOf } from '../../core/step/health.ts'
import { csvBom, csvRow, csvRows } from '../../core/text/csv.ts'
import { dayMs } from '../../core/time/durations.ts'
import { resolveRange, type TimeRange } from '../../core/time/time-range.ts'
import { TimeSlices } from '../../scheduling/cooperative.ts'
import type { CheckedStep, HistoryDay } from './model.ts'
import type { StepEvidenceStore } from './port.ts'

/** The days of a history: the last 30 in a zone. @throws AppError `validation_failed` */
export function historyRange(timezone: string | undefined, now: number): TimeRange {
  const resolved = resolveRange({ ...(timezone !== undefined && { timezone }) }, now)
  if ('problems' in resolved) throw invalid(...resolved.problems)
  return resolved.range
}

/** How a step fared day by day, as far as that is known. */
export async function historyOf(
  organisation: Pick<Organisation, 'ref' | 'retentionDays'>,
  step: { ref: StepRef; required: boolean },
  { range, serverDays, now }: { range: TimeRange; serverDays: number; now: number },
  evidence: StepEvidenceStore,
): Promise<HistoryDay[]> {
  // A day that is partly deleted would show fewer people than there were.
  const keptSince = now - (organisation.retentionDays ?? serverDays) * dayMs
  const slices = new TimeSlices()
  const history: HistoryDay[] = []
  for (const { date, startMs, endMs } of range.days) {
    if (startMs < keptSince) continue
    await slices.rest()
    const day = await evidence.between(organisation.ref, step.ref, startMs, endMs)
    const { state, okRate, reports } = stepState(day.people, step)
    if (reports === 0) continue
    const { people, versions } = day
    history.push({ date, people, state, okRate, versions: [...versions], complete: endMs <= now })
  }
  return history
}

const header = [
  ...['date', 'flow', 'step', 'step_id', 'state', 'ok_rate'],
  ...['people', 'finds', 'makeshift', 'misses'],
  ...healthOutcomes,
  ...['versions', 'complete'],
]

/** The histories of a flow's steps as CSV: a row a step and day. */
export function historyCsv(steps: readonly CheckedStep[], options: { bom: boolean }): string {
  const rows = steps.flatMap(({ flow, step, stepId, history = [] }) =>
    history.map(({ date, state, okRate, people, versions, complete }) => {
      const { people: all, finds, makeshift, misses } = totalsOf(people)
      return [
        ...[date, flow, step, stepId, state, okRate],
        ...[all, finds, makeshift, misses],
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
