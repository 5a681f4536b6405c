import type { RunStep } from '../core/run.ts'

/** A run's steps as they stand in its row: [step, viewed, completed, skipped, missing] each. */
type PackedStep = [number, number | null, number | null, number | null, number | null]

export function packSteps(steps: readonly RunStep[]): string {
  return JSON.stringify(
    steps.map(
      (step): PackedStep => [
        step.stepId,
        step.viewedAt,
        step.completedAt,
        step.skippedAt,
        step.missingAt,
      ],
    ),
  )
}

export function unpackSteps(packed: string): RunStep[] {
  if (packed === '[]') return []
  return (JSON.parse(packed) as PackedStep[]).map(
    ([stepId, viewedAt, completedAt, skippedAt, missingAt]) => ({
      stepId,
      viewedAt,
      completedAt,
      skippedAt,
      missingAt,
    }),
  )
}
