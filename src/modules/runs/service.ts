import { flowNotFound, invalid } from '../../core/errors.ts'
import { idsOf } from '../../core/event/event.ts'
import { FlowPositions } from '../../core/flow/positions.ts'
import type { FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import type { StepRef } from '../../core/reference.ts'
import { outcomeOf, secondsToComplete, stepOutcomeOf } from '../../core/run/outcome.ts'
import type { RunRow } from '../../core/run/stored-run.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { resolveRange } from '../../core/time/time-range.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { RequestedRuns, RunStore } from '../../storage/interfaces/runs.ts'
import { defaultRuns, maxLookedAt, type RunList, type RunQuery } from './schema.ts'

/** What a query asks for. @throws AppError `validation_failed` for a wrong date, zone, order or range */
export function requestedIn(query: RunQuery, now: number): RequestedRuns {
  const { after = null, limit = defaultRuns, outcome = null, version, ...days } = query
  const resolved = resolveRange(days, now)
  if ('problems' in resolved) throw invalid(...resolved.problems)
  return {
    after,
    most: Number(limit),
    mostLookedAt: maxLookedAt,
    outcome,
    version: version === undefined ? null : Number(version),
    started: days.from === undefined && days.to === undefined ? null : resolved.range,
  }
}

/** Single runs of a flow. @throws AppError `flow_not_found` */
export async function listRuns(
  organisation: Organisation,
  flowKey: string,
  requested: RequestedRuns,
  { stores, runs: store }: { stores: Pick<GateStores, 'catalogue'>; runs: RunStore },
): Promise<RunList> {
  const { most } = requested
  // One more than asked for, which tells whether more follow.
  const found = await store.runs(organisation.ref, flowKey, { ...requested, most: most + 1 })
  const flow = found && stores.catalogue().flow(found.flowId)
  if (!found || !flow) throw flowNotFound(flowKey)
  const told = teller(flow)
  const runs = found.runs.slice(0, most)
  return {
    flowId: flow.id,
    flowKey: flow.key,
    runs: runs.map(told),
    next: found.runs.length > most ? runs.at(-1)!.cursor : found.rest,
  }
}

/** Returns a function that turns runs of a flow into answers of the API. */
function teller(flow: FlowEntry): (run: RunRow) => RunList['runs'][number] {
  const positions = new FlowPositions(flow)
  const order = new Map(positions.inOrder(flow.steps.keys()).map((step, place) => [step, place]))
  const placeOf = (step: StepRef) => order.get(step) ?? order.size
  const named = (step: StepRef) => {
    const { id, key, title } = flow.steps.get(step) ?? { id: '', key: '', title: '' }
    return { stepId: id, key, title }
  }
  return run => {
    const { version, steps } = run
    const last = positions.furthest(steps, version)
    return {
      runId: run.key.startsWith('r') ? run.key.slice(1) : null,
      ...idsOf(run.person),
      version,
      outcome: outcomeOf(run),
      startedAt: isoTime(run.startedAt),
      lastAt: isoTime(run.lastAt),
      completedAt: isoTimeOrNull(run.completedAt),
      dismissedAt: isoTimeOrNull(run.dismissedAt),
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
