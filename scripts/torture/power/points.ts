import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import { type CutName, cutNames, cuts } from './cuts.ts'
import type { Cut, Disk } from './disk.ts'
import type { Answer } from './promises.ts'
import type { Step } from './trace.ts'

/** Where the power goes: after how many steps, and what the disk then keeps. */
export interface Point {
  at: number
  cutName: CutName
  cut(disk: Disk): Cut
}

/** Whether something begins or ends at a step: a sync, a name, a checkpoint. */
const isTurning = (step: Step) =>
  step.type !== 'output' && !(step.type === 'write' && step.path.endsWith('-wal'))

/** What was promised, by the step at which the promise was given. */
export type AnswersByStep = ReadonlyMap<number, Answer>

/** What commands promise. There are few of them. */
const rarities: readonly string[] = ['organisation', 'token', 'version', 'backup']

/**
 * Points in their order: the strictest cut just after each promise of a command. Of the rest, a third is just
 * after an answer, a third around a sync, a name or a checkpoint, and a third anywhere.
 */
export function pointsIn(
  steps: readonly Step[],
  answersByStep: AnswersByStep,
  count: number,
  random: SeededRandom,
): Point[] {
  const isRare = ({ promised, moment }: Answer) =>
    moment !== undefined || promised.some(({ what }) => rarities.includes(what))
  const rare = [...answersByStep].flatMap(([at, answer]) => (isRare(answer) ? [at] : []))
  const places = [
    [...answersByStep.keys()],
    [...steps.keys()].filter(at => isTurning(steps[at]!)),
    [...steps.keys()],
  ]
  const points = Array.from({ length: count }, (_, i): Point => {
    const isStrict = i < rare.length
    const at = isStrict ? rare[i]! : random.pick(places[i % places.length]!)
    const cutName = isStrict
      ? 'all dropped'
      : cutNames[Math.floor(i / places.length) % cutNames.length]!
    return { at: at + 1, cutName, cut: disk => cuts[cutName](random, disk) }
  })
  return points.sort((a, b) => a.at - b.at)
}
