import { totalsOf } from '../../../core/step/health.ts'
import type { StepCheck } from '../../../modules/steps/schema.ts'
import type { Tone } from '../parts/badge.tsx'
import { formatCount, formatDate } from '../parts/format.ts'

export type CheckedStep = StepCheck['steps'][number]
export type StepState = CheckedStep['state']
export type { StepCheck }

/** The health of every published step. */
export const healthPath = '/manage/health'

/** How often it is read. It covers a whole day, and is the most expensive thing that lists show. */
export const healthMs = 30_000

/** From the worst to the best. */
export const order: readonly StepState[] = ['broken', 'flaky', 'drifting', 'unknown', 'healthy']

export const toneOfState: Record<StepState, Tone> = {
  broken: 'bad',
  flaky: 'warn',
  drifting: 'warn',
  unknown: 'neutral',
  healthy: 'good',
}

export const nameOfState: Record<StepState, string> = {
  unknown: 'Not enough reports',
  healthy: 'Healthy',
  drifting: 'Drifting',
  flaky: 'Flaky',
  broken: 'Broken',
}

export const isWell = (state: StepState): boolean => state === 'healthy' || state === 'unknown'

/** The worst state among the steps of a flow; null if none has a target. */
export function worstState(steps: readonly CheckedStep[], flowKey: string): StepState | null {
  const states = steps.filter(({ flow }) => flow === flowKey).map(({ state }) => state)
  return order.find(state => states.includes(state)) ?? null
}

/** Since when a step has been in its bad state; null for a step that is well. */
export function badSince({ state, missesSince, fallbackSince }: CheckedStep): string | null {
  if (isWell(state)) return null
  return state === 'drifting' ? (fallbackSince ?? missesSince) : missesSince
}

/** For how many people the element was found, and since when: "Found for 7 of 27 people since 23 Nov". */
export function sayFound(step: CheckedStep): string {
  const { people, finds, fallback } = totalsOf(step.people)
  if (people === 0) return 'No reports in the last 24 hours'
  const since = badSince(step)
  const when = since ? ` since ${formatDate(since)}` : ' in the last 24 hours'
  const byFallback = fallback > 0 ? `, for ${formatCount(fallback)} by fallback` : ''
  return `Found for ${formatCount(finds)} of ${formatCount(people)} people${byFallback}${when}`
}
