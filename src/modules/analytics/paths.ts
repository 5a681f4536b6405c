import type { FlowEntry } from '../../core/organisation/catalogue.ts'
import type { ItemRef, StepRef } from '../../core/reference.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import {
  outcomeBits,
  outcomeCodes,
  outcomeMask,
  type RunColumns,
} from '../../storage/interfaces/analytics.ts'

/** How a run ended; null if it is in progress. */
const ends = {
  [outcomeCodes.completed]: 'completed',
  [outcomeCodes.dismissed]: 'dismissed',
  [outcomeCodes.inProgress]: null,
} as const

type End = (typeof ends)[keyof typeof ends]

/** From one step (or the start) to the next (or the end). */
interface Leg {
  from: StepRef | null
  to: StepRef | null
  end: End
  runs: number
}

/** Counts the paths of runs from step to step, and the steps that they went past. */
export class PathTally {
  private readonly positions: FlowPositions<StepRef>
  private readonly legs = new Map<string, Leg>()
  private readonly leftOut = new Map<StepRef, number>()

  constructor(private readonly flow: FlowEntry) {
    this.positions = new FlowPositions(flow)
  }

  /** @param columns must include `paths` */
  add({ count, states, versions, steps, paths: ways }: RunColumns<StepRef, ItemRef>): void {
    const { distinct: paths, places } = ways!
    const runs = new Map<number, number>()
    // The state has 16 bits, so path and state fit into one number.
    for (let run = 0; run < count; run++) {
      const group = places[run]! * 65_536 + states[run]!
      runs.set(group, (runs.get(group) ?? 0) + 1)
    }
    for (const [group, number] of runs) {
      const state = group % 65_536
      const path = paths[Math.floor(group / 65_536)]!.map(place => steps[place]!.ref)
      this.addPath(path, versions[state >> outcomeBits]!, ends[(state & outcomeMask) as 0], number)
    }
  }

  private addPath(path: readonly StepRef[], version: number, end: End, runs: number): void {
    let from: StepRef | null = null
    for (const step of path) {
      this.addLeg({ from, to: step, end: null, runs })
      from = step
    }
    this.addLeg({ from, to: null, end, runs })
    const placeOf = (step: StepRef) => this.positions.inRun(step, version).position
    const furthest = Math.max(-1, ...path.map(placeOf))
    for (const step of this.positions.ofVersion(version)) {
      if (placeOf(step) >= furthest || path.includes(step)) continue
      this.leftOut.set(step, (this.leftOut.get(step) ?? 0) + runs)
    }
  }

  private addLeg({ runs, ...leg }: Leg): void {
    const name = `${leg.from} ${leg.to} ${leg.end}`
    const known = this.legs.get(name)
    if (known) known.runs += runs
    else this.legs.set(name, { ...leg, runs })
  }

  leftOutOf(step: StepRef): number {
    return this.leftOut.get(step) ?? 0
  }

  /**
   * Sorted by where they begin (the start first, then by step), then by where they lead (steps in order,
   * then the ends).
   *
   * @param order all steps of the response
   */
  numbers(order: readonly StepRef[]) {
    const idOf = (step: StepRef) => this.flow.steps.get(step)?.id ?? ''
    const endings: readonly End[] = ['completed', 'dismissed', null]
    const placeOf = (step: StepRef | null, otherwise: number) =>
      step === null ? otherwise : order.indexOf(step)
    const toPlace = ({ to, end }: Leg) => placeOf(to, order.length + endings.indexOf(end))
    return [...this.legs.values()]
      .sort((a, b) => placeOf(a.from, -1) - placeOf(b.from, -1) || toPlace(a) - toPlace(b))
      .map(({ from, to, end, runs }) => ({
        from: from === null ? null : idOf(from),
        to: to === null ? end : idOf(to),
        runs,
      }))
  }
}
