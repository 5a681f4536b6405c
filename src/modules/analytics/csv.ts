import { type CsvCell, csvBom, csvRow } from '../../core/text/csv.ts'
import type { Analytics } from './schema.ts'

/**
 * The columns, in their order. Each is the JSON field of the same name in snake case. The first group never
 * changes. A new column that every file has is added at the end of `last`.
 */
export const csvColumns = {
  always: [
    ...['row_type', 'date', 'version', 'position', 'id', 'key', 'title', 'starts'],
    ...['unique_users', 'completions', 'unique_completers', 'dismissals', 'in_progress'],
    ...['completion_rate', 'timed_runs', 'median_seconds', 'p90_seconds', 'completed_all'],
    ...['reached', 'completed', 'skipped', 'target_missing', 'dropped_here', 'drop_off_rate'],
    ...['health_state', 'health_ok_rate', 'health_reports', 'untimed', 'still_here', 'complete'],
  ],
  periods: ['last_date', 'whole'],
  groups: ['kind', 'trait', 'value', 'values', 'rate_low', 'rate_high'],
  questions: [
    ...['question', 'answers', 'average', 'median', 'nps_score', 'promoters', 'passives'],
    ...['detractors', 'answer', 'label', 'count', 'share'],
  ],
  experiment: [
    ...['group', 'goal', 'people', 'achieved', 'rate'],
    ...['difference', 'difference_low', 'difference_high'],
  ],
  last: ['stalled', 'active_here'],
} as const

type ColumnGroup = keyof typeof csvColumns
const columnGroups = Object.keys(csvColumns) as ColumnGroup[]

/** Whether a file has a group of columns. A group that is missing here does not compile. */
const hasGroup: Readonly<Record<ColumnGroup, (analytics: Analytics) => boolean>> = {
  always: () => true,
  periods: ({ periods }) => periods !== undefined,
  groups: ({ filters, segments }) => (filters.segment ?? filters.saved ?? segments) !== undefined,
  questions: ({ steps }) => steps.some(({ question }) => question),
  experiment: ({ experiment }) => Boolean(experiment),
  last: () => true,
}

type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name extends string
    ? Name
    : never

type Field = Camel<(typeof csvColumns)[ColumnGroup][number]>

type Row = Partial<Record<Field, CsvCell | undefined>>

/** A row. A field without a column does not compile, so that nothing of the JSON is lost here. */
const row = <Fields extends Row>(
  fields: Fields & { [Stray in Exclude<keyof Fields, Field>]: never },
): Row => fields

type Group = NonNullable<Analytics['segments']>[number]
type Times = Group['timeToComplete']

const timesOf = ({ count, medianSeconds, p90Seconds, untimed }: Times) => ({
  ...{ timedRuns: count, medianSeconds, p90Seconds, untimed },
})

const groupOf = ({ interval, timeToComplete, ...group }: Omit<Group, keyof SegmentName>) => ({
  ...group,
  ...timesOf(timeToComplete),
  rateLow: interval?.low,
  rateHigh: interval?.high,
})

type SegmentName = Pick<Group, 'trait' | 'kind' | 'value' | 'values'>

type Question = Analytics['steps'][number]['question']

const questionOf = (question: Question) => ({
  question: question?.type,
  answers: question?.answers,
  average: question?.average,
  median: question?.median,
  npsScore: question?.nps?.score,
  promoters: question?.nps?.promoters,
  passives: question?.nps?.passives,
  detractors: question?.nps?.detractors,
})

/** The column of each field about the flow. A field that is missing here does not compile. */
const flowColumns = {
  flowId: 'id',
  flowKey: 'key',
  flowName: 'title',
} as const satisfies Record<Extract<keyof Analytics, `flow${string}`>, Field>

const flowOf = (analytics: Analytics): Row =>
  Object.fromEntries(
    Object.entries(flowColumns).map(([field, column]) => [
      column,
      analytics[field as keyof typeof flowColumns],
    ]),
  )

interface RowType {
  /** What the row is, for the API's description. */
  means: string
  rows(analytics: Analytics): Row[]
}

/** Every type of row, in the order of the file. */
export const rowTypes: Readonly<Record<string, RowType>> = {
  total: {
    means:
      'All runs of the range. `version` is the requested one. Seconds are those to complete the flow.',
    rows(analytics) {
      const { totals, timeToComplete, checklist, filters, range } = analytics
      const numbers = row({
        ...totals,
        ...timesOf(timeToComplete),
        version: filters.version,
        completedAll: checklist?.completedAll,
        complete: range.complete,
      })
      return [{ ...numbers, ...flowOf(analytics) }]
    },
  },
  day: {
    means: 'A day of the range. `complete` is false until it is over.',
    rows: ({ daily }) => daily.map(row),
  },
  period: {
    means: 'With `interval`: a day, week or month from `date` to `last_date`.',
    rows: ({ periods = [] }) =>
      periods.map(({ from, to, ...period }) => row({ ...period, date: from, lastDate: to })),
  },
  step: {
    means: 'A step. Seconds are those spent on it.',
    rows: ({ steps }) =>
      steps.map(({ stepId, health, question, leftOut: _, ...step }) =>
        row({
          ...step,
          id: stepId,
          healthState: health.state,
          healthOkRate: health.okRate,
          healthReports: health.reports,
          ...questionOf(question),
        }),
      ),
  },
  answer: {
    means: "An answer to a step's question: a number or the key of a choice.",
    rows: ({ steps }) =>
      steps.flatMap(({ position, stepId, key, title, question }) =>
        (question?.distribution ?? []).map(({ value, ...answer }) =>
          row({
            ...answer,
            ...{ position, id: stepId, key, title, question: question?.type, answer: value },
          }),
        ),
      ),
  },
  item: {
    means: 'An item of the checklist. `completions` is the number of people who ever ticked it.',
    rows: ({ checklist }) =>
      (checklist?.items ?? []).map(({ itemId, ...item }, position) =>
        row({ ...item, id: itemId, position }),
      ),
  },
  version: {
    means: 'A version of the flow. `date` is the time when it was published, in UTC.',
    rows: ({ versions }) =>
      versions.map(({ publishedAt, distribution: _, ...version }) =>
        row({ ...version, date: publishedAt }),
      ),
  },
  filter: {
    means:
      'With `segment=<trait>:<value>`: the value that all runs have, empty if unknown. With the ID of a segment: its name as `value`, without a trait.',
    rows: ({ filters: { segment = [], saved = [] } }) => [
      ...segment.map(row),
      ...saved.map(({ name }) => row({ value: name })),
    ],
  },
  segment: {
    means:
      'With `segment=<trait>`: the runs with this value. `kind` is `value`, `other` for rare values together, or `not_said`.',
    rows: ({ segments = [] }) =>
      segments.map(({ trait, kind, value, values, ...group }) =>
        row({ trait, kind, value, values, ...groupOf(group) }),
      ),
  },
  experiment: {
    means: 'A group of an experiment, `shown` or `held_out`. The first row has the difference.',
    rows({ experiment }) {
      if (!experiment) return []
      const { goal, shown, heldOut, difference, interval } = experiment
      return [
        row({
          ...{ group: 'shown', goal, ...shown, difference },
          ...{ differenceLow: interval?.low, differenceHigh: interval?.high },
        }),
        row({ group: 'held_out', goal, ...heldOut }),
      ]
    },
  },
}

const fieldOf = (column: string) =>
  column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as Field

/** Analytics as CSV: a header row, then the rows. */
export function csvOf(analytics: Analytics, options: { bom: boolean }): string {
  const header = columnGroups
    .filter(group => hasGroup[group](analytics))
    .flatMap((group): readonly string[] => csvColumns[group])
  const fields = header.map(fieldOf)
  const rows = Object.entries(rowTypes).flatMap(([rowType, { rows }]) =>
    rows(analytics).map(cells => ({ ...cells, rowType })),
  )
  const lines = rows.map(cells => csvRow(fields.map(field => (cells as Row)[field])))
  return (options.bom ? csvBom : '') + csvRow(header) + lines.join('')
}

const listed = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')

/** The description of the file's rows and columns, as Markdown. */
export const csvDescription = `
Each row has a \`row_type\` and fills the columns that its JSON object has as fields. \`definitions\` of
the JSON describes them.

| row | what it is |
|---|---|
${Object.entries(rowTypes)
  .map(([type, { means }]) => `| \`${type}\` | ${means} |`)
  .join('\n')}

The columns are ${listed(csvColumns.always)}. With \`interval\`, ${listed(csvColumns.periods)} follow; with \`segment\`,
${listed(csvColumns.groups)}; if a step asks or ever asked a question, ${listed(csvColumns.questions)}; if the
flow has an experiment, ${listed(csvColumns.experiment)}. The last are ${listed(csvColumns.last)}.
`.trim()
