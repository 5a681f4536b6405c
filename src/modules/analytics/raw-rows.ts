import type { StoredEvent } from '../../core/event/event.ts'
import { startReasonTrait } from '../../core/event/start-reason.ts'
import { traitIn } from '../../core/event/traits.ts'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import type { StepRef } from '../../core/reference.ts'
import { outcomeOf, secondsToComplete, stepOutcomeOf } from '../../core/run/outcome.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import { runIdIn, versionAt } from '../../core/run/run.ts'
import type { CsvCell } from '../../core/text/csv.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import type { RunRow } from '../../storage/interfaces/runs.ts'

/** The columns of raw rows: their names, and the cell of a row. */
export type RawColumns<Row> = readonly (readonly [
  name: string,
  cell: (row: Row, flow: FlowEntry) => CsvCell,
])[]

const isUser = ({ person }: RunRow) => person.startsWith('u')

const runColumns: RawColumns<RunRow> = [
  ['run_key', run => run.key],
  ['user_id', run => (isUser(run) ? run.person.slice(1) : null)],
  ['anonymous_id', run => (isUser(run) ? null : run.person.slice(1))],
  ['version', run => run.version],
  ['started_at', run => isoTime(run.startedAt)],
  ['last_at', run => isoTime(run.lastAt)],
  ['outcome', outcomeOf],
  ['completed_at', run => isoTimeOrNull(run.completedAt)],
  ['dismissed_at', run => isoTimeOrNull(run.dismissedAt)],
  ['seconds_to_complete', secondsToComplete],
]

/** A row for each run, with columns for each step that the flow ever had, in the flow's order. */
export function runColumnsOf(flow: FlowEntry): RawColumns<RunRow> {
  const steps = new FlowPositions(flow)
    .inOrder(flow.steps.keys())
    .map(ref => ({ ref, key: flow.steps.get(ref)?.key ?? '' }))
  return [
    ...runColumns,
    ...steps.map(({ ref, key }) => [`step:${key}`, outcomeAt(ref)] as const),
    ...flow.organisation.traits.map(
      trait => [`trait:${trait}`, (run: RunRow) => traitIn(run.traits, trait)] as const,
    ),
    ...steps
      .filter(({ ref }) => flow.questions.has(ref))
      .map(({ ref, key }) => [`answer:${key}`, answerAt(ref)] as const),
    ['run_id', run => runIdIn(run.key)],
    ['start_reason', run => traitIn(run.traits, startReasonTrait)],
  ]
}

const outcomeAt = (ref: StepRef) => (run: RunRow) => {
  const step = run.steps.find(({ stepId }) => stepId === ref)
  return step ? stepOutcomeOf(step) : null
}

/** What a run last answered. The text of an answer in words is only in its event. */
const answerAt = (ref: StepRef) => (run: RunRow) => {
  const given = run.answers.find(({ stepId }) => stepId === ref)
  if (!given) return null
  const answer = JSON.parse(given.answer) as number | string | string[]
  return answer === '' ? 'text' : Array.isArray(answer) ? answer.join(';') : answer
}

const stepOf = ({ stepRef }: StoredEvent, { steps }: FlowEntry) =>
  stepRef === null ? undefined : steps.get(stepRef)

const itemIdOf = ({ itemRef }: StoredEvent, { itemRefs }: FlowEntry): string | null =>
  itemRef === null ? null : ([...itemRefs].find(([, ref]) => ref === itemRef)?.[0] ?? null)

/** A row for each event, as it was reported. */
const eventColumns: RawColumns<StoredEvent> = [
  ['id', event => event.id],
  ['kind', event => event.kind],
  ['source', event => event.source],
  ['user_id', event => event.userId],
  ['anonymous_id', event => event.anonymousId],
  ['flow_id', (_, flow) => flow.id],
  ['flow_version', event => event.flowVersion],
  ['step_id', (event, flow) => stepOf(event, flow)?.id ?? null],
  ['step_key', (event, flow) => stepOf(event, flow)?.key ?? null],
  ['item_id', itemIdOf],
  ['run_id', event => event.runId],
  ['session_id', event => event.sessionId],
  ['occurred_at', event => isoTime(event.occurredAt)],
  ['reported_at', event => isoTimeOrNull(event.reportedAt)],
  ['received_at', event => isoTime(event.receivedAt)],
  ['url', event => event.url],
  ['name', event => event.name],
  ['reason', event => event.reason],
  ['properties', event => event.properties],
]

export const eventColumnsOf = ({ organisation }: FlowEntry): RawColumns<StoredEvent> =>
  organisation.traits.length > 0
    ? [...eventColumns, ['traits', event => event.traits]]
    : eventColumns

/** Pages with only some of their rows. */
export async function* only<Row>(
  pages: AsyncIterable<readonly Row[]>,
  keeps: (row: Row) => boolean,
): AsyncIterable<readonly Row[]> {
  for await (const page of pages) yield page.filter(keeps)
}

/** The version that an event names, otherwise the one that was published when it occurred. */
export const versionOfEvent = (flow: FlowEntry, { flowVersion, occurredAt }: StoredEvent) =>
  flowVersion ?? versionAt(flow.versions, occurredAt)

const named = (columns: readonly (readonly [name: string, ...unknown[]])[]) =>
  columns.map(([name]) => `\`${name}\``).join(', ')

/** The description of raw rows, as Markdown. */
export const rawDescription = `
\`rows=runs\`: a row for each run that started in the range, with ${named(runColumns)};
\`step:<key>\` for each step: \`completed\`, \`skipped\`, \`viewed\`, \`target_missing\` or empty; \`trait:<name>\`
for each listed trait, as of the run's start; \`answer:<key>\` for each question: the number, the keys of the choices with \`;\` between
them, or \`text\` for an answer in words; \`run_id\` as it was sent, or empty; and \`start_reason\`, what started the run, or empty. \`run_key\` is never empty.

\`rows=events\`: a row for each event that occurred in the range, in the order in which they were stored, with
${named(eventColumns)}, and \`traits\` if the organisation lists any. \`reported_at\` is the sender's time before its clock was corrected.
Times are RFC 3339 in UTC.
`.trim()
