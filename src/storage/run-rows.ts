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

const minus = 45
const zero = 48
const nine = 57
const letterN = 110

/**
 * Reads what `packSteps` wrote, digit by digit: its form is always the same, and a parser for any JSON
 * takes more than twice as long over the million rows of an export.
 */
export function unpackSteps(packed: string): RunStep[] {
  const steps: RunStep[] = []
  let at = 1
  const next = (): number | null => {
    // Past the bracket or comma before it.
    at++
    let unit = packed.charCodeAt(at)
    if (unit === letterN) {
      at += 'null'.length
      return null
    }
    const isNegative = unit === minus
    if (isNegative) unit = packed.charCodeAt(++at)
    let value = 0
    for (; unit >= zero && unit <= nine; unit = packed.charCodeAt(++at)) {
      value = value * 10 + (unit - zero)
    }
    return isNegative ? -value : value
  }
  while (at < packed.length - 1) {
    steps.push({
      stepId: next() ?? 0,
      viewedAt: next(),
      completedAt: next(),
      skippedAt: next(),
      missingAt: next(),
    })
    // Past the closing bracket and the comma after it.
    at += 2
  }
  return steps
}
