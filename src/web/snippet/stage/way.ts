import { isOnWay as holds } from '../../../core/flow/audience-match.ts'
import { hasBranches, stepsAhead } from '../../../core/flow/paths.ts'
import type { Flow, Step } from '../parts.ts'
import type { Run } from '../runs.ts'
import type { StageDeps } from '../stage.ts'

/**
 * The way of a run through the steps of its flow: the steps whose turn has come, in that order. If a step's
 * turn comes again, even by going back, the way starts anew there.
 */
export function createWay(
  { steps }: Flow,
  run: Run,
  { person, hasTracked }: Pick<StageDeps, 'person' | 'hasTracked'>,
) {
  const isBranched = hasBranches(steps)
  const placeOf = (id: string) => steps.findIndex(step => step.id === id)
  // A run that an older snippet has begun took its steps in order.
  const taken = () => run.way ?? steps.flatMap(({ id }) => (run.viewed.includes(id) ? [id] : []))

  const isOnWay = (step: Step): boolean => {
    if (!step.when) return true
    const answers = Object.entries(run.answers ?? {}).flatMap(([id, answer]) => {
      const key = steps[placeOf(id)]?.key
      return key === undefined ? [] : [[key, answer]]
    })
    const { traits } = person.current
    return holds(step, { traits, hasTracked, answers: Object.fromEntries(answers) })
  }

  const behind = ({ id }: Step): string[] => {
    const way = taken()
    return way.includes(id) ? way.slice(0, way.indexOf(id)) : way
  }

  return {
    /** The place of the first step, from a place on, that no rule leaves out; the number of steps if none. */
    next(from: number): number {
      const left = steps.slice(from).findIndex(isOnWay)
      return left < 0 ? steps.length : from + left
    },
    /** A step's turn has come. */
    take(step: Step) {
      run.way = [...behind(step), step.id]
    },
    /** The place of the last step on the way that was seen before this one; -1 for none. */
    before: (step: Step): number =>
      placeOf(behind(step).findLast(id => run.viewed.includes(id) && placeOf(id) >= 0) ?? ''),
    /** The place after all steps that came already; 0 if none did. */
    afterAll: (): number => placeOf(taken().findLast(id => placeOf(id) >= 0) ?? '') + 1,
    /** The step's place on the way, from 1, and the number of steps on it, as things stand. */
    placeOf(step: Step): { place: number; of: number } {
      const index = steps.indexOf(step)
      if (!isBranched) return { place: index + 1, of: steps.length }
      const way = behind(step).filter(id => placeOf(id) >= 0)
      const isBehind = ({ id }: Step) => id === step.id || way.includes(id)
      const place = way.length + 1
      return { place, of: place + stepsAhead(steps, index, isOnWay, isBehind) }
    },
  }
}
