import { invalid } from '../../core/errors.ts'
import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import type { StepRef } from '../../core/reference.ts'
import { outcomeOf, secondsToComplete, stalledAfterMs } from '../../core/run/outcome.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import type { RunStep } from '../../core/run/run.ts'
import type { RunRow } from '../../storage/interfaces/runs.ts'
import type { Segment } from '../../storage/interfaces/segments.ts'
import { parseSegments, stepOf } from '../analytics/query.ts'
import { hasTraits } from '../analytics/segments.ts'
import type { RunFilters } from './schema.ts'

type Keeps = (run: RunRow) => boolean

const stepFields = {
  viewed: 'viewedAt',
  completed: 'completedAt',
  skipped: 'skippedAt',
  target_missing: 'missingAt',
} as const satisfies Record<string, keyof RunStep>

function ofOutcome(outcome: NonNullable<RunFilters['outcome']>, now: number): Keeps {
  const isStalled = (run: RunRow) =>
    outcomeOf(run) === 'in_progress' && run.lastAt <= now - stalledAfterMs
  if (outcome === 'stalled') return isStalled
  if (outcome === 'active') return run => outcomeOf(run) === 'in_progress' && !isStalled(run)
  if (outcome === 'left') return run => outcomeOf(run) === 'dismissed' || isStalled(run)
  return run => outcomeOf(run) === outcome
}

/** The last answer of a run to a question; undefined if it gave none, `''` for one in words. */
export function answerIn(
  { answers }: RunRow,
  step: StepRef,
): number | string | string[] | undefined {
  const given = answers.find(({ stepId }) => stepId === step)
  return given && JSON.parse(given.answer)
}

/** Whether an answer is a number, a range such as `0-6`, or the key of a choice. */
function isAnswer(answer: number | string | string[] | undefined, wanted: string): boolean {
  if (typeof answer !== 'number') return answer !== undefined && [answer].flat().includes(wanted)
  const [least = NaN, most = least] = wanted.split('-').map(Number)
  return answer >= least && answer <= most
}

/** Runs that answered a step's question, with this answer unless it is empty. */
export const answered =
  (step: StepRef, wanted: string): Keeps =>
  run => {
    const answer = answerIn(run, step)
    return wanted === '' ? answer !== undefined : isAnswer(answer, wanted)
  }

const parted = (text: string): [string, string] => {
  const at = text.indexOf(':')
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/**
 * What decides which runs of a flow are listed; null if all are.
 *
 * @param now epoch milliseconds
 * @param saved as `savedIn` returns them
 * @throws AppError `validation_failed`
 */
export function runFilter(
  flow: FlowEntry,
  query: RunFilters,
  now: number,
  saved: readonly Segment[],
): Keeps | null {
  const { outcome, version, furthest, step, segment, answer, seconds } = query
  const all: Keeps[] = []
  if (outcome !== undefined) all.push(ofOutcome(outcome, now))
  if (version !== undefined) all.push(run => run.version === Number(version))
  if (segment !== undefined) {
    const { filters, groupBy } = parseSegments(flow, segment, saved)
    if (groupBy !== null) throw invalid({ path: '/segment', message: 'Needs a value, as plan:pro' })
    all.push(({ traits }) => hasTraits(traits, filters))
  }
  if (furthest !== undefined) {
    const ref = stepOf(flow, furthest, '/furthest')
    const positions = new FlowPositions(flow)
    all.push(run => positions.furthest(run.steps, run.version) === ref)
  }
  if (step !== undefined) {
    const [key, did] = parted(step)
    const ref = stepOf(flow, key, '/step')
    const field = stepFields[(did || 'viewed') as keyof typeof stepFields]
    all.push(({ steps }) => steps.some(({ stepId, [field]: at }) => stepId === ref && at !== null))
  }
  if (answer !== undefined) {
    const [key, wanted] = parted(answer)
    all.push(answered(stepOf(flow, key, '/answer'), wanted))
  }
  if (seconds !== undefined) {
    const [from, to] = seconds.split('-').map(Number)
    all.push(run => {
      const took = secondsToComplete(run)
      return took !== null && took >= from! && (!to || took < to)
    })
  }
  return all.length === 0 ? null : run => all.every(keeps => keeps(run))
}
