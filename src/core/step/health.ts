import { rate, zeros } from '../number/statistics.ts'
import { dayMs } from '../time/durations.ts'

/** What a page can report about a step's target, in the order in which answers list it. */
export const healthOutcomes = [
  'found',
  'found_by_alternate',
  'changed',
  'ambiguous',
  'hidden',
  'not_found',
  'error',
] as const

/** What a page reported about a step's target. */
export type HealthOutcome = (typeof healthOutcomes)[number]

/** The element was not there to be shown. */
export const isMiss = (outcome: HealthOutcome) =>
  outcome === 'not_found' || outcome === 'hidden' || outcome === 'ambiguous' || outcome === 'error'

/** The element was found, but not as the step describes it. */
export const isFallback = (outcome: HealthOutcome) =>
  outcome === 'found_by_alternate' || outcome === 'changed'

/** People by the outcome of their latest report; each person is in one count only. */
export type HealthCounts = Record<HealthOutcome, number>

/** Best first. Last is the state for steps that too few people have reported on. */
export const stepStates = ['healthy', 'drifting', 'flaky', 'broken', 'unknown'] as const

/** The state of a step's target on the pages that show it. */
export type StepState = (typeof stepStates)[number]

/** Whether a state is too bad for a release to go out. */
export const isBadState = (state: StepState) =>
  state === 'drifting' || state === 'flaky' || state === 'broken'

/** A step's health: `okRate` is finds / people (four decimals), `reports` the people counted. */
export type StepHealth = { state: StepState; okRate: number | null; reports: number }

/** How far back health looks. */
export const healthWindowMs = dayMs

/** Below this many people, one odd browser would decide the state. */
export const minPeople = 5

/** Counts to add to: every outcome at 0. */
export const noHealthCounts = (): HealthCounts => zeros(healthOutcomes)

/**
 * The state of a step's target, from what people's pages reported last.
 *
 * @param counts people by outcome
 * @param target `required: false` is for a target that may legitimately be absent, so it is never `broken`
 * @returns `okRate` is `null` only without people; an `unknown` step with people has one
 */
export function stepState(counts: HealthCounts, target: { required: boolean }): StepHealth {
  const { people, finds, fallback, misses } = totalsOf(counts)
  const health = (state: StepState): StepHealth => {
    return { state, okRate: rate(finds, people), reports: people }
  }

  // Shares are compared in whole numbers, so that 1 of 20 is exactly 5 %.
  if (people < minPeople) return health('unknown')
  if (misses * 20 < people) return health(fallback * 5 >= finds ? 'drifting' : 'healthy')
  if (misses * 2 < people || !target.required) return health('flaky')
  return health('broken')
}

/**
 * Counts grouped by what they mean for a state: `people` are `finds` plus `misses`; `finds` include
 * `fallback`.
 */
export function totalsOf(counts: HealthCounts) {
  const sum = (isIt: (outcome: HealthOutcome) => boolean) =>
    healthOutcomes.filter(isIt).reduce((total, outcome) => total + counts[outcome], 0)
  const [people, misses] = [sum(() => true), sum(isMiss)]
  return { people, misses, finds: people - misses, fallback: sum(isFallback) }
}
