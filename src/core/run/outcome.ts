import { dayMs } from '../time/durations.ts'
import type { RunStep } from './run.ts'

/** The possible outcomes of a run. */
export const runOutcomes = ['completed', 'dismissed', 'in_progress'] as const
export type RunOutcome = (typeof runOutcomes)[number]

/** A run in progress is stalled once it had no event for this long, milliseconds. */
export const stalledAfterMs = 7 * dayMs

/** A run that was ever completed is completed; otherwise, a run that was ever dismissed is dismissed. */
export function outcomeOf(run: {
  completedAt: number | null
  dismissedAt: number | null
}): RunOutcome {
  if (run.completedAt !== null) return 'completed'
  return run.dismissedAt === null ? 'in_progress' : 'dismissed'
}

/** What can happen to a step in a run. Blocks of runs refer to these by their index. */
export const stepOutcomes = ['viewed', 'completed', 'skipped', 'target_missing'] as const

/** The outcome of a step. A step that was completed is completed, whatever else was reported about it. */
export function stepOutcomeOf(step: Omit<RunStep, 'stepId'>): (typeof stepOutcomes)[number] {
  if (step.completedAt !== null) return 'completed'
  if (step.skippedAt !== null) return 'skipped'
  return step.viewedAt === null ? 'target_missing' : 'viewed'
}

/** How long a run took to complete; null if only one report is known about it. */
export const secondsToComplete = (run: { startedAt: number; completedAt: number | null }) =>
  run.completedAt === null ? null : (run.completedAt - run.startedAt) / 1000 || null
