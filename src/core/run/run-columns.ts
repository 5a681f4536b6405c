import type { FlowPositions } from '../flow/positions.ts'
import { codeOfDuration, noDuration } from '../number/statistics.ts'
import type { RunStep } from './run.ts'

/** What became of a run, as it stands in the column of states. */
export const outcomes = { inProgress: 0, dismissed: 1, completed: 2 } as const

/** Bits of a state that hold the outcome; the others are the version's place in `versions`. */
export const outcomeBits = 2

/** What runs can report of a step, as they stand in the arrays of `RunColumns`. */
export const fates = ['viewed', 'completed', 'skipped', 'missing'] as const

/** Steps or items of a run, eight to a byte: a byte a run for each eight of them. */
export type Planes = readonly Uint8Array[]

/** What the runs have to do with one step. */
export interface ColumnStep<Step = number> {
  ref: Step
  /** How many of the runs did what, in the order of `fates`. */
  counts: number[]
}

/**
 * Runs of one flow, ascending by start, as columns: all that analytics ask of a run, and no text, so
 * that a million of them are counted in a moment.
 */
export interface RunColumns<Step = number, Item = number> {
  readonly count: number
  /** Epoch milliseconds that `starts` are counted from. */
  readonly from: number
  readonly starts: Uint32Array
  /** Hashes of the runs' people; two 32-bit halves a run. */
  readonly people: Uint32Array
  /** Version (its place in `versions`) and outcome. */
  readonly states: Uint16Array
  /**
   * Where a run ended. Of a completed one the time it took, as a code; of any other its furthest
   * viewed step, one more than its place in `steps`, and 0 for none.
   */
  readonly ends: Uint16Array
  readonly lately: Lately
  readonly versions: readonly number[]
  readonly steps: readonly ColumnStep<Step>[]
  /** By fate, then a plane for each eight steps. */
  readonly marks: readonly Planes[]
  /** By step: how long each run that viewed it spent there, as codes, in the order of runs. */
  readonly spent: readonly Uint16Array[]
  /** The flow's items; the first plane's lowest bit is not one, but the whole checklist. */
  readonly items: readonly Item[]
  /** What each run's person ever ticked: bit 0 the whole checklist, bit n + 1 the item at place n. */
  readonly ticks: Planes
  /** Whether a step's place in some run is that of another version than the run's own. */
  readonly dependsOnNewest: boolean
}

/**
 * Runs in progress of which something was heard of late: their places, ascending, and when that was,
 * epoch milliseconds. Of most there is nothing to keep, and none gets younger without being made anew.
 */
export interface Lately {
  readonly places: Uint32Array
  readonly at: Float64Array
}

/** A run to be put into columns. */
export interface ColumnRun {
  startedAt: number
  lastAt: number
  person: bigint
  version: number
  completedAt: number | null
  dismissedAt: number | null
  steps: readonly RunStep[]
  /** What the run's person ever ticked, by row. */
  items: readonly number[]
  hasCompletedChecklist: boolean
}

/** Planes that grow as bits come in. */
class PlaneBuilder {
  readonly planes: Uint8Array[] = []

  constructor(private readonly capacity: number) {}

  set(run: number, bit: number): void {
    while (this.planes.length <= bit >> 3) this.planes.push(new Uint8Array(this.capacity))
    this.planes[bit >> 3]![run]! |= 1 << (bit & 7)
  }

  /** As many planes as some bits need. */
  finished(count: number, bits: number): Planes {
    return Array.from(
      { length: Math.ceil(bits / 8) },
      (_, i) => this.planes[i]?.subarray(0, count) ?? new Uint8Array(count),
    )
  }
}

/** Places of values in the order in which they first came. */
class Places {
  readonly values: number[] = []
  private readonly places = new Map<number, number>()

  of(value: number): number {
    const known = this.places.get(value)
    if (known !== undefined) return known
    this.places.set(value, this.values.length)
    return this.values.push(value) - 1
  }
}

/** The longest time between the first start and the last, milliseconds. */
export const longestColumns = 2 ** 32 - 1

/** Makes columns of runs, which must come ascending by start. */
export class RunColumnsBuilder {
  private count = 0
  private readonly starts: Uint32Array
  private readonly people: BigUint64Array
  private readonly states: Uint16Array
  private readonly ends: Uint16Array
  private readonly latelyPlaces: number[] = []
  private readonly latelyAt: number[] = []
  private readonly versions = new Places()
  private readonly stepPlaces = new Places()
  private readonly counts: number[][] = []
  private readonly marks: PlaneBuilder[]
  private readonly spent: number[][] = []
  private readonly items = new Places()
  private readonly ticks: PlaneBuilder
  private dependsOnNewest = false

  /**
   * @param from no run starts before; none starts `longestColumns` after it, or later
   * @param capacity how many runs there are at most
   * @param latelyFrom since when something was heard of the runs that `lately` tells
   */
  constructor(
    private readonly positions: FlowPositions<number>,
    private readonly from: number,
    capacity: number,
    private readonly latelyFrom: number,
  ) {
    this.starts = new Uint32Array(capacity)
    this.people = new BigUint64Array(capacity)
    this.states = new Uint16Array(capacity)
    this.ends = new Uint16Array(capacity)
    this.marks = fates.map(() => new PlaneBuilder(capacity))
    this.ticks = new PlaneBuilder(capacity)
  }

  add(run: ColumnRun): void {
    const i = this.count++
    const { completedAt, startedAt } = run
    this.starts[i] = startedAt - this.from
    this.people[i] = run.person
    this.addSteps(i, run)
    let outcome: number = outcomes.inProgress
    if (completedAt !== null) {
      outcome = outcomes.completed
      this.ends[i] = codeOfDuration(Math.max(0, completedAt - startedAt))
    } else {
      if (run.dismissedAt !== null) outcome = outcomes.dismissed
      else if (run.lastAt >= this.latelyFrom) {
        this.latelyPlaces.push(i)
        this.latelyAt.push(run.lastAt)
      }
      const furthest = this.positions.furthest(run.steps, run.version)
      this.ends[i] = furthest === null ? 0 : this.stepPlaces.of(furthest) + 1
    }
    this.states[i] = (this.versions.of(run.version) << outcomeBits) | outcome
    if (run.hasCompletedChecklist) this.ticks.set(i, 0)
    for (const item of run.items) this.ticks.set(i, this.items.of(item) + 1)
  }

  private addSteps(run: number, { steps, version }: ColumnRun): void {
    for (const step of steps) {
      const place = this.stepPlaces.of(step.stepId)
      this.counts[place] ??= fates.map(() => 0)
      if (step.viewedAt !== null) {
        this.mark(run, 0, place)
        const ms = this.positions.durationMs(step, steps, version)
        this.spent[place] ??= []
        this.spent[place].push(ms === null ? noDuration : codeOfDuration(ms))
        this.dependsOnNewest ||= !this.positions.inRun(step.stepId, version).isOwn
      }
      if (step.completedAt !== null) this.mark(run, 1, place)
      if (step.skippedAt !== null) this.mark(run, 2, place)
      if (step.missingAt !== null) this.mark(run, 3, place)
    }
  }

  private mark(run: number, fate: number, place: number): void {
    this.marks[fate]!.set(run, place)
    this.counts[place]![fate]!++
  }

  finish(): RunColumns {
    const { count } = this
    const steps = this.stepPlaces.values.map((ref, place) => ({ ref, counts: this.counts[place]! }))
    const itemBits = this.items.values.length + 1
    const hasTicks = this.ticks.planes.length > 0
    return {
      count,
      from: this.from,
      starts: this.starts.subarray(0, count),
      people: new Uint32Array(this.people.buffer, 0, count * 2),
      states: this.states.subarray(0, count),
      ends: this.ends.subarray(0, count),
      lately: {
        places: Uint32Array.from(this.latelyPlaces),
        at: Float64Array.from(this.latelyAt),
      },
      versions: this.versions.values,
      steps,
      // Fates that nobody met, such as a missing target, take no room.
      marks: this.marks.map(marks =>
        marks.planes.length === 0 ? [] : marks.finished(count, steps.length),
      ),
      spent: steps.map((_, place) => Uint16Array.from(this.spent[place] ?? [])),
      items: this.items.values,
      ticks: hasTicks ? this.ticks.finished(count, itemBits) : [],
      dependsOnNewest: this.dependsOnNewest,
    }
  }
}

/** Some of the runs, by their places, ascending. */
export function takeRuns<Step, Item>(
  columns: RunColumns<Step, Item>,
  places: Uint32Array,
): RunColumns<Step, Item> {
  const taken = (plane: Uint8Array) => Uint8Array.from(places, place => plane[place]!)
  const people = new Uint32Array(places.length * 2)
  for (let i = 0; i < places.length; i++) {
    people[i * 2] = columns.people[places[i]! * 2]!
    people[i * 2 + 1] = columns.people[places[i]! * 2 + 1]!
  }
  const marks = columns.marks.map(planes => planes.map(taken))
  const isTaken = new Uint8Array(columns.count)
  for (const place of places) isTaken[place] = 1
  return {
    ...columns,
    count: places.length,
    starts: Uint32Array.from(places, place => columns.starts[place]!),
    people,
    states: Uint16Array.from(places, place => columns.states[place]!),
    ends: Uint16Array.from(places, place => columns.ends[place]!),
    lately: takeLately(columns.lately, places),
    steps: columns.steps.map(({ ref }, place) => ({
      ref,
      counts: marks.map(planes => countOf(planes, place)),
    })),
    marks,
    spent: columns.spent.map((spent, place) => {
      const viewed = columns.marks[0]![place >> 3]
      let next = 0
      const kept: number[] = []
      for (let run = 0; next < spent.length; run++) {
        if ((viewed![run]! & (1 << (place & 7))) === 0) continue
        if (isTaken[run] === 1) kept.push(spent[next]!)
        next++
      }
      return Uint16Array.from(kept)
    }),
    ticks: columns.ticks.map(taken),
  }
}

function takeLately({ places, at }: Lately, taken: Uint32Array): Lately {
  const placesNow: number[] = []
  const kept: number[] = []
  for (let i = 0, now = 0; i < places.length; i++) {
    while (now < taken.length && taken[now]! < places[i]!) now++
    if (taken[now] !== places[i]) continue
    placesNow.push(now)
    kept.push(at[i]!)
  }
  return { places: Uint32Array.from(placesNow), at: Float64Array.from(kept) }
}

/** How many runs have a bit. */
function countOf(planes: Planes, bit: number): number {
  const plane = planes[bit >> 3]
  if (!plane) return 0
  let count = 0
  for (const byte of plane) count += (byte >> (bit & 7)) & 1
  return count
}
