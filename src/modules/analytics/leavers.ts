import { differenceInterval, zOfSeveral } from '../../core/number/interval.ts'
import { fourDecimals } from '../../core/number/statistics.ts'
import type { StepRef } from '../../core/reference.ts'
import { stalledAfterMs, stepOutcomes } from '../../core/run/outcome.ts'
import {
  outcomeBits,
  outcomeCodes,
  outcomeMask,
  type RunColumns,
} from '../../storage/interfaces/analytics.ts'

/** How many things that leavers have in common are returned. */
export const maxCommon = 20

/** How many of those who left, and of those who went on. */
type Counts = [left: number, wentOn: number]

interface Feature {
  kind: 'trait' | 'version' | 'element_missing'
  trait: string | null
  value: string
}

/**
 * Compares the runs that left at a step with those that reached it and went on. Runs that are still active
 * there are in neither.
 */
export class LeaverTally {
  private readonly all: Counts = [0, 0]
  private readonly features = new Map<string, { feature: Feature; counts: Counts }>()

  /**
   * @param keys the keys of the flow's steps
   * @param now epoch milliseconds
   */
  constructor(
    private readonly step: StepRef,
    private readonly keys: ReadonlyMap<StepRef, { key: string }>,
    private readonly now: number,
  ) {}

  add<Item>(runs: RunColumns<StepRef, Item>): void {
    const place = runs.steps.findIndex(({ ref }) => ref === this.step)
    const viewed = runs.marks[0]?.[place >> 3]
    if (place === -1 || !viewed) return
    const bit = 1 << (place & 7)
    const isActive = new Set<number>()
    for (const [i, run] of runs.lately.places.entries()) {
      if (runs.lately.at[i]! > this.now - stalledAfterMs) isActive.add(run)
    }
    const planes = runs.marks[stepOutcomes.indexOf('target_missing')]
    const ofMissing = runs.steps.flatMap(({ ref }, at) => {
      const plane = planes?.[at >> 3]
      const value = this.keys.get(ref)?.key
      if (!plane || value === undefined) return []
      const counts = this.countsOf({ kind: 'element_missing', trait: null, value })
      return [{ plane, bit: 1 << (at & 7), counts }]
    })
    const ofVersions = runs.versions.map(version =>
      this.countsOf({ kind: 'version', trait: null, value: `${version}` }),
    )
    const ofTraits = runs.traits.map(({ name, values, places }) => ({
      places,
      counts: values.map(value => this.countsOf({ kind: 'trait', trait: name, value })),
    }))
    for (let run = 0; run < runs.count; run++) {
      if ((viewed[run]! & bit) === 0) continue
      const state = runs.states[run]!
      const isEnd = (state & outcomeMask) !== outcomeCodes.completed && runs.ends[run] === place + 1
      if (isEnd && isActive.has(run)) continue
      const side = isEnd ? 0 : 1
      this.all[side]++
      for (const { plane, bit, counts } of ofMissing) {
        if ((plane[run]! & bit) !== 0) counts[side]++
      }
      ofVersions[state >> outcomeBits]![side]++
      for (const { places, counts } of ofTraits) {
        if (places[run] !== 0) counts[places[run]! - 1]![side]++
      }
    }
  }

  private countsOf(feature: Feature): Counts {
    const name = JSON.stringify(feature)
    const known = this.features.get(name) ?? { feature, counts: [0, 0] satisfies Counts }
    this.features.set(name, known)
    return known.counts
  }

  /** What is more frequent among those who left, the surest first. */
  numbers() {
    const [left, wentOn] = this.all
    // As many comparisons as there are values that anybody has.
    const compared = [...this.features.values()].filter(({ counts: [a, b] }) => a + b > 0)
    const z = zOfSeveral(compared.length)
    const common = compared.flatMap(({ feature, counts }) => {
      const [ofLeft, ofWentOn] = counts
      const interval = differenceInterval(
        { hits: ofLeft, trials: left },
        { hits: ofWentOn, trials: wentOn },
        z,
      )
      if (!interval || ofLeft * wentOn <= ofWentOn * left) return []
      const [low, high] = [fourDecimals(interval.low), fourDecimals(interval.high)]
      return [{ ...feature, left: ofLeft, wentOn: ofWentOn, difference: { low, high } }]
    })
    common.sort((a, b) => b.difference.low - a.difference.low || b.left - a.left)
    return { left, wentOn, common: common.slice(0, maxCommon) }
  }
}
