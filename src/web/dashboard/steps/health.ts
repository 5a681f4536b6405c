import type { StepCheck } from '../../../modules/steps/schema.ts'
import type { Tone } from '../parts/badge.tsx'

export type CheckedStep = StepCheck['steps'][number]
export type StepState = CheckedStep['state']
export type { StepCheck }

/** The health of every published step. */
export const healthPath = '/manage/health'

/** How often it is read. It covers a whole day, and is the most expensive thing that lists show. */
export const healthMs = 30_000

/** From the worst to the best. */
const order: StepState[] = ['broken', 'flaky', 'drifting', 'unknown', 'healthy']

export const toneOfState: Record<StepState, Tone> = {
  broken: 'bad',
  flaky: 'warn',
  drifting: 'warn',
  unknown: 'neutral',
  healthy: 'good',
}

export const isWell = (state: StepState): boolean => state === 'healthy' || state === 'unknown'

/** The worst state among the steps of a flow; null if none has a target. */
export function worstState(steps: readonly CheckedStep[], flowKey: string): StepState | null {
  const states = steps.filter(({ flow }) => flow === flowKey).map(({ state }) => state)
  return order.find(state => states.includes(state)) ?? null
}
