import { type CsvCell, csvBom, csvRow } from '../../core/text/csv.ts'
import type { Analytics } from './model.ts'

/** The columns of every summary. No column is ever added to them. */
export const csvColumns = [
  'row_type',
  'date',
  'version',
  'position',
  'id',
  'key',
  'title',
  'starts',
  'unique_users',
  'completions',
  'unique_completers',
  'dismissals',
  'in_progress',
  'completion_rate',
  'timed_runs',
  'median_seconds',
  'p90_seconds',
  'completed_all',
  'reached',
  'completed',
  'skipped',
  'target_missing',
  'dropped_here',
  'drop_off_rate',
  'health_state',
  'health_ok_rate',
  'health_reports',
  'untimed',
  'still_here',
  'complete',
] as const

/** Added at the end if an interval is asked for. */
export const periodColumns = ['last_date', 'whole'] as const

/** Added at the very end if the distribution is asked for. */
export const binColumns = ['from_seconds', 'to_seconds'] as const

/** Added at the very end if segments or late views are asked for. */
export const groupColumns = [
  'kind',
  'trait',
  'value',
  'values',
  'after_seconds',
  'rate_low',
  'rate_high',
] as const

/** Added after all others if a step asks or asked something. */
export const answerColumns = [
  'question',
  'answers',
  'average',
  'median',
  'nps_score',
  'promoters',
  'passives',
  'detractors',
  'answer',
  'label',
  'count',
  'share',
] as const

/** Added at the very end for a flow that holds people back. */
export const experimentColumns = [
  'group',
  'goal',
  'people',
  'achieved',
  'rate',
  'difference',
  'difference_low',
  'difference_high',
] as const

/** Added at the very end if ways are asked for. */
export const wayColumns = ['left_out', 'from', 'to', 'runs'] as const

type Column = (
  | typeof csvColumns
  | typeof experimentColumns
  | typeof periodColumns
  | typeof binColumns
  | typeof groupColumns
  | typeof answerColumns
  | typeof wayColumns
)[number]

export type Cells = Partial<Record<Column, CsvCell>> & { row_type: string }

/** An answer as rows that their first column tells apart. Each value is in the column of its name. */
export function rowsOf(answer: Analytics): Cells[] {
  const { totals, timeToComplete, checklist } = answer
  return [
    {
      row_type: 'total',
      version: answer.filters.version,
      id: answer.flowId,
      key: answer.flowKey,
      title: answer.flowName,
      starts: totals.starts,
      unique_users: totals.uniqueUsers,
      completions: totals.completions,
      unique_completers: totals.uniqueCompleters,
      dismissals: totals.dismissals,
      in_progress: totals.inProgress,
      completion_rate: totals.completionRate,
      timed_runs: timeToComplete.count,
      median_seconds: timeToComplete.medianSeconds,
      p90_seconds: timeToComplete.p90Seconds,
      completed_all: checklist?.completedAll ?? null,
      untimed: timeToComplete.untimed,
      complete: answer.range.complete,
    },
    ...answer.daily.map(day => ({
      row_type: 'day',
      date: day.date,
      starts: day.starts,
      unique_users: day.uniqueUsers,
      completions: day.completions,
      dismissals: day.dismissals,
      complete: day.complete,
    })),
    ...(answer.periods ?? []).map(period => ({
      row_type: 'period',
      date: period.from,
      starts: period.starts,
      unique_users: period.uniqueUsers,
      completions: period.completions,
      dismissals: period.dismissals,
      complete: period.complete,
      last_date: period.to,
      whole: period.whole,
    })),
    ...answer.steps.map(step => ({
      row_type: 'step',
      position: step.position,
      id: step.stepId,
      key: step.key,
      title: step.title,
      unique_users: step.uniqueUsers,
      median_seconds: step.medianSeconds,
      p90_seconds: step.p90Seconds,
      reached: step.reached,
      completed: step.completed,
      skipped: step.skipped,
      target_missing: step.targetMissing,
      dropped_here: step.droppedHere,
      drop_off_rate: step.dropOffRate,
      health_state: step.health.state,
      health_ok_rate: step.health.okRate,
      health_reports: step.health.reports,
      still_here: step.stillHere,
      ...numbersOfQuestion(step.question),
      ...(step.leftOut !== undefined && { left_out: step.leftOut }),
    })),
    ...answer.steps.flatMap(answersOf),
    ...(checklist?.items ?? []).map((item, position) => ({
      row_type: 'item',
      position,
      id: item.itemId,
      key: item.key,
      title: item.title,
      completions: item.completions,
    })),
    ...answer.versions.map(version => ({
      row_type: 'version',
      date: version.publishedAt,
      version: version.version,
      starts: version.starts,
      completions: version.completions,
      completion_rate: version.completionRate,
    })),
    ...binsOf(answer),
    ...groupsOf(answer),
    ...experimentRows(answer),
    ...(answer.ways ?? []).map(way => ({ row_type: 'way', ...way })),
  ]
}

/** The difference between the groups is in the row of those who saw the flow. */
function experimentRows({ experiment }: Analytics): Cells[] {
  if (!experiment) return []
  const { goal, shown, heldOut, difference, interval } = experiment
  const row = { row_type: 'experiment', goal }
  return [
    {
      ...{ ...row, group: 'shown', ...shown, difference },
      ...{ difference_low: interval?.low, difference_high: interval?.high },
    },
    { ...row, group: 'held_out', ...heldOut },
  ]
}

type Step = Analytics['steps'][number]

const numbersOfQuestion = (question: Step['question']): Partial<Cells> =>
  question
    ? {
        question: question.type,
        answers: question.answers,
        average: question.average,
        median: question.median,
        nps_score: question.nps?.score,
        promoters: question.nps?.promoters,
        passives: question.nps?.passives,
        detractors: question.nps?.detractors,
      }
    : {}

const answersOf = ({ position, stepId, key, title, question }: Step): Cells[] =>
  (question?.distribution ?? []).map(({ value, label, count, share }) => ({
    ...{ row_type: 'answer', position, id: stepId, key, title },
    ...{ question: question?.type, answer: value, label, count, share },
  }))

type Group = Pick<NonNullable<Analytics['segments']>[number], keyof Analytics['totals']> &
  Pick<NonNullable<Analytics['segments']>[number], 'interval' | 'timeToComplete'>

const numbersOf = ({ interval, timeToComplete, ...group }: Group) => ({
  starts: group.starts,
  unique_users: group.uniqueUsers,
  completions: group.completions,
  unique_completers: group.uniqueCompleters,
  dismissals: group.dismissals,
  in_progress: group.inProgress,
  completion_rate: group.completionRate,
  timed_runs: timeToComplete.count,
  median_seconds: timeToComplete.medianSeconds,
  p90_seconds: timeToComplete.p90Seconds,
  untimed: timeToComplete.untimed,
  rate_low: interval?.low,
  rate_high: interval?.high,
})

function groupsOf({ filters, segments, late }: Analytics): Cells[] {
  return [
    ...(filters.segment ?? []).map(({ trait, value }) => ({ row_type: 'filter', trait, value })),
    ...(segments ?? []).map(({ trait, kind, value, values, ...group }) => ({
      ...{ row_type: 'segment', kind, trait, value, values },
      ...numbersOf(group),
    })),
    ...(late?.cohorts ?? []).map(({ cohort, ...group }) => ({
      ...{ row_type: 'cohort', kind: cohort, id: late?.stepId, key: late?.key, title: late?.title },
      ...{ after_seconds: late?.afterSeconds, ...numbersOf(group) },
    })),
  ]
}

/** The bins of all runs together have no version. */
function binsOf({ timeToComplete, versions }: Analytics): Cells[] {
  const bins = timeToComplete.distribution ?? []
  const counted: [number | null, readonly number[]][] = [
    [null, bins.map(({ count }) => count)],
    ...versions.map(
      ({ version, distribution }) => [version, distribution ?? []] as [number, readonly number[]],
    ),
  ]
  return counted.flatMap(([version, counts]) =>
    bins.map(({ fromSeconds, toSeconds }, bin) => ({
      row_type: 'bin',
      version,
      timed_runs: counts[bin],
      from_seconds: fromSeconds,
      to_seconds: toSeconds,
    })),
  )
}

/** An answer as CSV: one header row, then the rows. */
export function csvOf(answer: Analytics, options: { bom: boolean }): string {
  const columns: Column[] = [
    ...csvColumns,
    ...(answer.periods ? periodColumns : []),
    ...(answer.timeToComplete.distribution ? binColumns : []),
    ...(answer.filters.segment || answer.segments || answer.late ? groupColumns : []),
    ...(answer.steps.some(({ question }) => question) ? answerColumns : []),
    ...(answer.experiment ? experimentColumns : []),
    ...(answer.ways ? wayColumns : []),
  ]
  const rows = rowsOf(answer).map(cells => csvRow(columns.map(column => cells[column])))
  return (options.bom ? csvBom : '') + csvRow(columns) + rows.join('')
}
