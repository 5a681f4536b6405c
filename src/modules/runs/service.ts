import type { StaticDecode } from '@sinclair/typebox'
import { flowNotFound, invalid } from '../../core/errors.ts'
import { idsOf } from '../../core/event/event.ts'
import type { FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import type { StepRef } from '../../core/reference.ts'
import {
  outcomeOf,
  secondsToComplete,
  stalledAfterMs,
  stepOutcomeOf,
} from '../../core/run/outcome.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import { resolveRange } from '../../core/time/time-range.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { ListedRun, RequestedRuns, RunRow, RunStore } from '../../storage/interfaces/runs.ts'
import type { SegmentStore } from '../../storage/interfaces/segments.ts'
import { savedIn } from '../analytics/query.ts'
import { answered, answerIn, runFilter } from './filters.ts'
import {
  type AnswerList,
  type AnswerQuery,
  defaultRuns,
  maxScanned,
  type RunList,
  type RunQuery,
} from './schema.ts'

interface Deps {
  stores: Pick<GateStores, 'catalogue'>
  runs: RunStore
  segments: Pick<SegmentStore, 'list'>
}

/** @throws AppError `validation_failed` for a wrong date, zone, order or range */
function requestedIn(
  query: Pick<RunQuery, 'after' | 'limit' | 'from' | 'to' | 'timezone'>,
  now: number,
): Omit<RequestedRuns, 'filter' | 'answered'> {
  const { after = null, limit = defaultRuns, ...days } = query
  const resolved = resolveRange(days, now)
  if ('problems' in resolved) throw invalid(...resolved.problems)
  return {
    after,
    // One more, which shows whether more follow.
    max: Number(limit) + 1,
    maxScanned,
    started: days.from === undefined && days.to === undefined ? null : resolved.range,
  }
}

/** A page of a flow's runs. @throws AppError `flow_not_found`, `validation_failed` */
export async function listRuns(
  organisation: Organisation,
  flowKey: string,
  query: RunQuery,
  now: number,
  { stores, runs: store, segments }: Deps,
): Promise<StaticDecode<typeof RunList>> {
  const saved = await savedIn(segments, organisation, query.segment)
  const flowOf = (id: string) => stores.catalogue().flow(id)
  const { after, limit, from, to, timezone, ...filters } = query
  const requested = requestedIn({ after, limit, from, to, timezone }, now)
  const isFiltered = Object.values(filters).some(value => value !== undefined)
  const found = await store.runs(organisation.ref, flowKey, {
    ...requested,
    answered: query.answer !== undefined,
    filter: isFiltered ? id => runFilter(flowOf(id)!, filters, now, saved) ?? (() => true) : null,
  })
  const flow = found && flowOf(found.flowId)
  if (!found || !flow) throw flowNotFound(flowKey)
  const runs = found.runs.slice(0, requested.max - 1)
  return {
    flowId: flow.id,
    flowKey: flow.key,
    runs: runs.map(runsOf(flow, now)),
    next: found.runs.length > runs.length ? runs.at(-1)!.cursor : found.rest,
  }
}

/** The ID that a run's events name, in its key. */
const runIdOf = ({ key }: Pick<RunRow, 'key'>) => (key.startsWith('r') ? key.slice(1) : null)

/** Returns a function that gives a stored run the names and the order of its flow's steps. */
function runsOf(flow: FlowEntry, now: number) {
  const positions = new FlowPositions(flow)
  const order = new Map(positions.inOrder(flow.steps.keys()).map((step, place) => [step, place]))
  const placeOf = (step: StepRef) => order.get(step) ?? order.size
  const named = (step: StepRef) => {
    const { id, key, title } = flow.steps.get(step) ?? { id: '', key: '', title: '' }
    return { stepId: id, key, title }
  }
  return (run: RunRow) => {
    const { version, steps, startedAt, lastAt, completedAt, dismissedAt } = run
    const last = positions.furthest(steps, version)
    return {
      runId: runIdOf(run),
      ...idsOf(run.person),
      version,
      outcome: outcomeOf(run),
      stalled: outcomeOf(run) === 'in_progress' && lastAt <= now - stalledAfterMs,
      startedAt,
      lastAt,
      completedAt,
      dismissedAt,
      secondsToComplete: secondsToComplete(run),
      lastStep: last === null ? null : named(last),
      steps: steps
        .toSorted((a, b) => placeOf(a.stepId) - placeOf(b.stepId))
        .map(step => {
          const ms = positions.durationMs(step, steps, version)
          const seconds = ms === null ? null : ms / 1000
          return { ...named(step.stepId), outcome: stepOutcomeOf(step), seconds }
        }),
    }
  }
}

/** How many answered runs are searched for a text, for one page. */
const maxSearched = 1_000
const searchedAtOnce = 100

/**
 * A page of the answers to a step's question, with what the same people wrote elsewhere in their runs.
 *
 * @throws AppError `flow_not_found`, `validation_failed`
 */
export async function listAnswers(
  organisation: Organisation,
  flowKey: string,
  query: AnswerQuery,
  now: number,
  { stores, runs: store, segments }: Deps,
): Promise<StaticDecode<typeof AnswerList>> {
  const saved = await savedIn(segments, organisation, query.segment)
  const { step: stepKey, value = '', contains, version, segment, ...paging } = query
  const requested = requestedIn(paging, now)
  const { max } = requested
  const wanted = contains?.toLowerCase()
  const page = (after: string | null, size: number) =>
    store.runs(organisation.ref, flowKey, {
      ...requested,
      ...{ after, max: size, answered: true },
      filter: id => {
        const flow = stores.catalogue().flow(id)!
        const step = [...flow.steps].find(([, { key }]) => key === stepKey)?.[0]
        if (step === undefined) return () => false
        const keeps = runFilter(flow, { version, segment }, now, saved)
        return run => (keeps?.(run) ?? true) && answered(step, value)(run)
      },
    })

  type Answer = StaticDecode<typeof AnswerList>['answers'][number]
  const found: { cursor: string; answer: Answer }[] = []
  let flowId = ''
  let after = requested.after
  let searched = 0
  for (;;) {
    const size = wanted === undefined ? max : searchedAtOnce
    const read = await page(after, size)
    const flow = read && stores.catalogue().flow(read.flowId)
    if (!read || !flow) throw flowNotFound(flowKey)
    flowId = flow.id
    const texts = await textsOf(organisation, flow, read.runs, store)
    for (const run of read.runs) {
      const answer = answerOf(flow, stepKey, run, texts)
      const words = [answer.text, ...answer.written.map(({ text }) => text)]
      const isFound =
        wanted === undefined || words.some(text => text?.toLowerCase().includes(wanted))
      if (isFound && found.length < max) found.push({ cursor: run.cursor, answer })
    }
    searched += read.runs.length
    after = read.runs.length === size ? read.runs.at(-1)!.cursor : read.rest
    if (wanted === undefined || found.length === max || after === null) break
    if (searched >= maxSearched) break
  }
  const listed = found.slice(0, max - 1)
  return {
    flowId,
    flowKey,
    stepKey,
    answers: listed.map(({ answer }) => answer),
    next: found.length > listed.length ? listed.at(-1)!.cursor : after,
  }
}

/** What people wrote in runs, by run key and step. */
async function textsOf(
  { ref }: Organisation,
  { key }: FlowEntry,
  runs: readonly ListedRun[],
  store: RunStore,
): Promise<(run: ListedRun, step: StepRef) => string | null> {
  const written = runs.flatMap(run =>
    run.answers
      .filter(({ answer }) => answer === '""')
      .map(({ stepId: stepRef, at }) => ({ key: run.key, stepRef, at })),
  )
  const texts = await store.writtenTexts(ref, key, written)
  return (run, step) => {
    const place = written.findIndex(one => one.key === run.key && one.stepRef === step)
    return texts[place] ?? null
  }
}

function answerOf(
  flow: FlowEntry,
  stepKey: string,
  run: ListedRun,
  textOf: (run: ListedRun, step: StepRef) => string | null,
) {
  const isOfQuestion = ({ stepId }: { stepId: StepRef }) => flow.steps.get(stepId)?.key === stepKey
  const given = run.answers.find(isOfQuestion)!
  const answer = answerIn(run, given.stepId)!
  return {
    runId: runIdOf(run),
    ...idsOf(run.person),
    version: run.version,
    answeredAt: given.at,
    answer: answer === '' ? null : answer,
    text: answer === '' ? textOf(run, given.stepId) : null,
    written: run.answers.flatMap(other => {
      const text = isOfQuestion(other) ? null : textOf(run, other.stepId)
      const { id, key, title } = flow.steps.get(other.stepId) ?? { id: '', key: '', title: '' }
      return text === null ? [] : [{ stepId: id, key, title, text }]
    }),
    traits: { ...run.traits },
  }
}
