import { exampleOf, SchemaBook } from '../../http/description/json-schema.ts'
import {
  answerColumns,
  binColumns,
  csvOf,
  experimentColumns,
  groupColumns,
  periodColumns,
  rowsOf,
  wayColumns,
} from './csv.ts'
import { Analytics } from './model.ts'
import { eventColumns, runColumns } from './raw-rows.ts'

/** The API description of the export, generated from the code that writes the export. */

const book = new SchemaBook()
const example = exampleOf(book.of(Analytics), book.components) as Analytics

/** The example of the JSON as CSV, without the parts that have to be asked for. */
export const exampleCsv = csvOf(
  {
    ...example,
    filters: { version: example.filters.version },
    periods: undefined,
    segments: undefined,
    late: undefined,
    ways: undefined,
    steps: example.steps.map(step => ({ ...step, leftOut: undefined, question: undefined })),
    experiment: undefined,
    timeToComplete: { ...example.timeToComplete, distribution: undefined },
  },
  { bom: false },
)

/** What the cells of each row type mean, where the column names do not say it. */
const meanings: Record<string, string> = {
  total:
    'The whole range; `complete` says whether its last day was over. `version` is the one asked for, empty for all; `id`, `key` and `title` are the ' +
    "flow's; seconds are those to complete, `timed_runs` how many runs they are of, `untimed` how many " +
    'completed ones they leave out.',
  day: 'One for every day of the range; `date` is a calendar day of the asked zone, and `complete` says whether it was over.',
  period:
    'With `interval`: one for every day, week or month; `date` and `last_date` are its first and last day in the range, and `whole` says whether the range has all of it.',
  step: "`id`, `key` and `title` are the step's; seconds are those spent on it.",
  answer:
    "Of a step with a question: `id`, `key` and `title` are the step's; `answer` is the number or the key of the choice, `label` what visitors read, `share` is of the step's `answers`.",
  item: "`id`, `key` and `title` are the item's; `completions` are people who ever ticked it.",
  version: '`date` is when it was published: a time in UTC, not a day.',
  bin: 'With `distribution=1`: `timed_runs` took `from_seconds` or more and less than `to_seconds`, empty for no end. Without `version` they are all runs counted, else those of the version.',
  filter:
    'With `segment=<trait>:<value>`: only runs with this value are counted; empty where it was not said.',
  segment:
    'With `segment=<trait>`: a value of the trait; `kind` is `value`, `other` for the rarer ones together (`values` says how many), or `not_said`.',
  way: 'With `ways=1`: `runs` went from one step to the next, by their ids; `from` is empty for the start, and `to` is `completed` or `dismissed` at the end, or empty where they go on.',
  cohort:
    "With `late`: `kind` says whether the runs saw the step `in_time`, `late`, or `never`; `id`, `key` and `title` are the step's.",
  experiment:
    'Of a flow with a goal that holds people back: `group` is `shown` or `held_out`; what lies between the two stands with the first.',
}

const named = (columns: readonly string[]) => columns.map(column => `\`${column}\``).join(', ')

export const rowTypes = new Map(rowsOf(example).map(cells => [cells.row_type, Object.keys(cells)]))

const rowTypeRows = [...rowTypes].map(
  ([type, [, ...columns]]) => `| \`${type}\` | ${meanings[type]} | ${named(columns)} |`,
)

export const exportWords = `
The columns are always the same, but for ${named(periodColumns)}, ${named(binColumns)}, ${named(groupColumns)} and ${named(wayColumns)}, which stand at the end
where \`interval\`, \`distribution=1\`, \`segment\` or \`late\`, and \`ways=1\` are asked for, ${named(answerColumns)} where a step asks or ever asked something, and ${named(experimentColumns)} of flows that hold people back. The first, \`row_type\`, says what a row is and so
which of the others it fills. What a number means, \`definitions\` of the JSON says.

| row | what it is | its columns |
|---|---|---|
${rowTypeRows.join('\n')}

\`rows=runs\`: a row for every run that started in the range: ${named(runColumns)}, and \`step:<key>\`
for every step that the flow ever had: \`completed\`, \`skipped\`, \`viewed\`, \`target_missing\`, or empty; then
\`trait:<name>\` for every trait that the organisation lists: what was said of it when the run started; then
\`answer:<key>\` for every step that ever asked something: the number, the key of the choice (several with a \`;\` between), or \`text\` where it was
answered in words, which \`rows=events\` has; at the end \`run_id\`, as the run's events have it, or empty.
\`run_key\` also tells those runs apart that have no \`run_id\`: it is made of that, or else of the person, with the session if there was one.

\`rows=events\`: a row for every event that occurred in the range, in the order in which they were stored:
${named(eventColumns)}, and, where the organisation lists traits, \`traits\`. \`reported_at\` is the sender's own time, before its clock was corrected. Times
are RFC 3339 in UTC.
`.trim()
