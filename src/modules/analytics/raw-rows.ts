import type { StoredEvent } from '../../core/event/stored-event.ts'
import { traitIn } from '../../core/event/traits.ts'
import { FlowPositions } from '../../core/flow/positions.ts'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import type { StepRef } from '../../core/reference.ts'
import { outcomeOf, secondsToComplete, stepOutcomeOf } from '../../core/run/outcome.ts'
import { runIdIn, versionAt } from '../../core/run/run.ts'
import type { RunRow } from '../../core/run/stored-run.ts'
import type { CsvCell } from '../../core/text/csv.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'

/** The header of raw rows, and how a row becomes cells. */
export interface RawRows<Row> {
  header: readonly string[]
  cellsOf(row: Row): readonly CsvCell[]
}

/** The columns of a run's row that come before those of the steps. */
export const runColumns = [
  'run_key',
  'user_id',
  'anonymous_id',
  'version',
  'started_at',
  'last_at',
  'outcome',
  'completed_at',
  'dismissed_at',
  'seconds_to_complete',
] as const

export const eventColumns = [
  'id',
  'kind',
  'source',
  'user_id',
  'anonymous_id',
  'flow_id',
  'flow_version',
  'step_id',
  'step_key',
  'item_id',
  'run_id',
  'session_id',
  'occurred_at',
  'reported_at',
  'received_at',
  'url',
  'name',
  'reason',
  'properties',
] as const

/** One row per run, with a column for each step that the flow ever had, in the flow's order. */
export function runRows(flow: FlowEntry): RawRows<RunRow> {
  const steps = new FlowPositions(flow)
    .inOrder(flow.steps.keys())
    .map(ref => ({ ref, key: flow.steps.get(ref)?.key ?? '' }))
  const { traits } = flow.organisation
  const asking = steps.filter(({ ref }) => flow.questions.has(ref))
  const columnOf = new Map(steps.map(({ ref }, i) => [ref, i]))
  return {
    header: [
      ...runColumns,
      ...steps.map(({ key }) => `step:${key}`),
      ...traits.map(trait => `trait:${trait}`),
      ...asking.map(({ key }) => `answer:${key}`),
      'run_id',
    ],
    cellsOf(run) {
      const isUser = run.person.startsWith('u')
      const name = run.person.slice(1)
      const ofSteps: CsvCell[] = steps.map(() => null)
      for (const step of run.steps) {
        const column = columnOf.get(step.stepId)
        if (column !== undefined) ofSteps[column] = stepOutcomeOf(step)
      }
      return [
        run.key,
        isUser ? name : null,
        isUser ? null : name,
        run.version,
        isoTime(run.startedAt),
        isoTime(run.lastAt),
        outcomeOf(run),
        isoTimeOrNull(run.completedAt),
        isoTimeOrNull(run.dismissedAt),
        secondsToComplete(run),
        ...ofSteps,
        ...traits.map(trait => traitIn(run.traits, trait)),
        ...asking.map(({ ref }) => answerCell(run, ref)),
        runIdIn(run.key),
      ]
    },
  }
}

/** What a run last answered. The words of a text answer are only in its event. */
function answerCell({ answers }: RunRow, ref: StepRef): CsvCell {
  const said = answers.find(({ stepId }) => stepId === ref)
  if (!said) return null
  const answer = JSON.parse(said.answer) as number | string | string[]
  return answer === '' ? 'text' : Array.isArray(answer) ? answer.join(';') : answer
}

/** One row per event, as it was reported. */
export function eventRows(flow: FlowEntry): RawRows<StoredEvent> {
  const idByRef = <Ref>(refs: ReadonlyMap<string, Ref>) =>
    new Map([...refs].map(([id, ref]) => [ref, id]))
  const steps = idByRef(flow.stepRefs)
  const items = idByRef(flow.itemRefs)
  const hasTraits = flow.organisation.traits.length > 0
  return {
    header: [...eventColumns, ...(hasTraits ? ['traits'] : [])],
    cellsOf: event => [
      event.id,
      event.kind,
      event.source,
      event.userId,
      event.anonymousId,
      flow.id,
      event.flowVersion,
      (event.stepRef === null ? null : steps.get(event.stepRef)) ?? null,
      (event.stepRef === null ? null : flow.steps.get(event.stepRef)?.key) ?? null,
      (event.itemRef === null ? null : items.get(event.itemRef)) ?? null,
      event.runId,
      event.sessionId,
      isoTime(event.occurredAt),
      isoTimeOrNull(event.reportedAt),
      isoTime(event.receivedAt),
      event.url,
      event.name,
      event.reason,
      event.properties,
      ...(hasTraits ? [event.traits] : []),
    ],
  }
}

/** Pages with only some of their rows. */
export async function* only<Row>(
  pages: AsyncIterable<readonly Row[]>,
  isAsked: (row: Row) => boolean,
): AsyncIterable<readonly Row[]> {
  for await (const page of pages) yield page.filter(isAsked)
}

/** Pages with only the rows of one version, if one was asked for. */
export const ofVersion = <Row>(
  pages: AsyncIterable<readonly Row[]>,
  version: number | null,
  versionOf: (row: Row) => number,
): AsyncIterable<readonly Row[]> =>
  version === null ? pages : only(pages, row => versionOf(row) === version)

/** The version that an event names, otherwise the one that was published when it occurred. */
export const versionOfEvent = (flow: FlowEntry) => (event: StoredEvent) =>
  event.flowVersion ?? versionAt(flow.versions, event.occurredAt)
