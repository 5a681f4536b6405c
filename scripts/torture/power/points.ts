import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import { type CutName, cutNames, cuts } from './cuts.ts'
import type { Cut, Disk } from './disk.ts'
import type { Step } from './trace.ts'

/** Where the power goes: after so many steps, and what the disk keeps then. */
export interface Point {
  at: number
  cutName: CutName
  cut(disk: Disk): Cut
}

/** The steps at which something is begun or ended: an answer, a sync, a name, a checkpoint. */
const isTurning = (step: Step) =>
  step.type !== 'told' && !(step.type === 'write' && step.path.endsWith('-wal'))

/**
 * Points in their order: a third just after an answer, a third about a sync, a name or a checkpoint,
 * and a third anywhere.
 *
 * @param told the steps at which something was promised
 */
export function pointsIn(
  steps: readonly Step[],
  told: ReadonlySet<number>,
  count: number,
  random: SeededRandom,
): Point[] {
  const places = [
    [...told],
    [...steps.keys()].filter(at => isTurning(steps[at]!)),
    [...steps.keys()],
  ]
  const points = Array.from({ length: count }, (_, i): Point => {
    const at = random.pick(places[i % places.length]!) + 1
    const cutName = cutNames[Math.floor(i / places.length) % cutNames.length]!
    return { at, cutName, cut: disk => cuts[cutName](random, disk) }
  })
  return points.sort((a, b) => a.at - b.at)
}
