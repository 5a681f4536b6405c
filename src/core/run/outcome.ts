import type { RunStep } from './run.ts'

/** What a run can come to, in one word. */
export const runOutcomes = ['completed', 'dismissed', 'in_progress'] as const
export type RunOutcome = (typeof runOutcomes)[number]

/** A run that was ever completed is; else one that was ever dismissed is that. */
export function outcomeOf(run: {
  completedAt: number | null
  dismissedAt: number | null
}): RunOutcome {
  if (run.completedAt !== null) return 'completed'
  return run.dismissedAt === null ? 'in_progress' : 'dismissed'
}

/** What can become of a step in a run. Column segments keep them by their place here. */
export const stepOutcomes = ['viewed', 'completed', 'skipped', 'target_missing'] as const

/** In one word: a step that was completed is, whatever else was reported of it. */
export function stepOutcomeOf(step: Omit<RunStep, 'stepId'>): (typeof stepOutcomes)[number] {
  if (step.completedAt !== null) return 'completed'
  if (step.skippedAt !== null) return 'skipped'
  return step.viewedAt === null ? 'target_missing' : 'viewed'
}

/** How long a run took to be completed; null where one report is all that is known of it. */
export const secondsToComplete = (run: { startedAt: number; completedAt: number | null }) =>
  run.completedAt === null ? null : (run.completedAt - run.startedAt) / 1000 || null
