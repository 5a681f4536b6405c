import type { StaticDecode } from '@sinclair/typebox'
import { flowNotFound, invalid } from '../../core/errors.ts'
import { idsOf } from '../../core/event/event.ts'
import type { FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import type { StepRef } from '../../core/reference.ts'
import { outcomeOf, secondsToComplete, stepOutcomeOf } from '../../core/run/outcome.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import { resolveRange } from '../../core/time/time-range.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { RequestedRuns, RunRow, RunStore } from '../../storage/interfaces/runs.ts'
import {
  type AnswerList,
  type AnswerQuery,
  defaultRuns,
  maxScanned,
  type RunList,
  type RunQuery,
} from './schema.ts'

/** @throws AppError `validation_failed` for a wrong date, zone, order or range */
function requestedIn(query: RunQuery, now: number): RequestedRuns {
  const { after = null, limit = defaultRuns, outcome = null, version, ...days } = query
  const resolved = resolveRange(days, now)
  if ('problems' in resolved) throw invalid(...resolved.problems)
  return {
    after,
    // One more, which shows whether more follow.
    max: Number(limit) + 1,
    maxScanned,
    outcome,
    version: version === undefined ? null : Number(version),
    started: days.from === undefined && days.to === undefined ? null : resolved.range,
  }
}

/** A page of a flow's runs. @throws AppError `flow_not_found`, `validation_failed` */
export async function listRuns(
  organisation: Organisation,
  flowKey: string,
  query: RunQuery,
  now: number,
  { stores, runs: store }: { stores: Pick<GateStores, 'catalogue'>; runs: RunStore },
): Promise<StaticDecode<typeof RunList>> {
  const runQuery = requestedIn(query, now)
  const found = await store.runs(organisation.ref, flowKey, runQuery)
  const flow = found && stores.catalogue().flow(found.flowId)
  if (!found || !flow) throw flowNotFound(flowKey)
  const runs = found.runs.slice(0, runQuery.max - 1)
  return {
    flowId: flow.id,
    flowKey: flow.key,
    runs: runs.map(runsOf(flow)),
    next: found.runs.length > runs.length ? runs.at(-1)!.cursor : found.rest,
  }
}

/** The ID that a run's events name, in its key. */
const runIdOf = ({ key }: Pick<RunRow, 'key'>) => (key.startsWith('r') ? key.slice(1) : null)

/** Returns a function that gives a stored run the names and the order of its flow's steps. */
function runsOf(flow: FlowEntry) {
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

/** A page of the texts that people answered a step's question with. @throws AppError `flow_not_found`, `validation_failed` */
export async function listAnswers(
  organisation: Organisation,
  flowKey: string,
  { step: stepKey, ...query }: AnswerQuery,
  now: number,
  store: Pick<RunStore, 'writtenAnswers'>,
): Promise<StaticDecode<typeof AnswerList>> {
  const answerQuery = { stepKey, ...requestedIn(query, now) }
  const found = await store.writtenAnswers(organisation.ref, flowKey, answerQuery)
  if (!found) throw flowNotFound(flowKey)
  const answers = found.answers.slice(0, answerQuery.max - 1)
  return {
    flowId: found.flowId,
    flowKey,
    stepKey,
    answers: answers.map(answer => ({
      runId: runIdOf(answer),
      ...idsOf(answer.person),
      version: answer.version,
      answeredAt: answer.at,
      text: answer.text,
    })),
    next: found.answers.length > answers.length ? answers.at(-1)!.cursor : null,
  }
}
