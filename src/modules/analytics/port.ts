import type { StoredEvent } from '../../core/event/stored-event.ts'
import type { StepHistory } from '../../core/flow/positions.ts'
import type { FlowRef, ItemRef, OrganisationRef, StepRef } from '../../core/reference.ts'
import type { RunRow } from '../../core/run/stored-run.ts'
import type { TimeRange } from '../../core/time/time-range.ts'
import type { StepBook } from '../steps/index.ts'
import type { AnsweredRun } from './answers.ts'

/** The flows that an organisation has, by key. */
export interface KnownFlows {
  read(orgRef: OrganisationRef): Promise<{ flows: readonly { id: string }[] }>
}

/** What analytics ask of storage. */
export interface AnalyticsStores {
  analytics: AnalyticsReader
  /** For the health of the steps that an answer tells of. */
  steps: Pick<StepBook, 'healthCounts'>
}

/** A flow, and its history, which says where its steps stand. */
export interface FlowRuns extends StepHistory<StepRef> {
  orgRef: OrganisationRef
  flowRef: FlowRef
}

export interface AnalyticsReader {
  /** Runs that started in the range, by start; a page at a time, so that no snapshot is held. */
  runs(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    range: TimeRange,
  ): AsyncIterable<readonly RunRow[]>
  /** Those of them that have answered a question. */
  answers(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    range: TimeRange,
  ): AsyncIterable<readonly AnsweredRun[]>
  /** Events of a flow that occurred in the range, in the order of arrival; a page at a time. */
  events(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    range: TimeRange,
  ): AsyncIterable<readonly StoredEvent[]>
  /**
   * Runs that started in the range, ascending by start, all as of one moment, with what their people
   * ever ticked. One reading at a time, and to its end: it holds a snapshot.
   *
   * @param beside what only rows know; it is longer then, for each is read
   */
  columns(
    flow: FlowRuns,
    range: TimeRange,
    beside?: Beside,
  ): AsyncIterable<RunColumns<StepRef, ItemRef>>
  /**
   * Of versions from which anybody was held back: the people whose runs started in the range, and those
   * who were held back in it; who was ever held back is not among the others. Reached is a goal by an
   * event at or after the start, or after they were first held back.
   */
  experiment(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    asked: { range: TimeRange; version: number | null; goal: string },
  ): Promise<ExperimentCounts>
}

/** People, and how many of them reached the goal since. */
export interface GroupCounts {
  people: number
  achieved: number
}

/** Who saw a flow, and who was held back from it. */
export interface ExperimentCounts {
  shown: GroupCounts
  heldOut: GroupCounts
}

/** What became of a run, as it stands in the column of states. */
export const outcomeCodes = { inProgress: 0, dismissed: 1, completed: 2 } as const

/** Bits of a state that hold the outcome; the others are the version's place in `versions`. */
export const outcomeBits = 2

/** Steps or items of a run, eight to a byte: a byte a run for each eight of them. */
export type Planes = readonly Uint8Array[]

/** What the runs have to do with one step. */
export interface ColumnStep<Step = number> {
  ref: Step
  /** How many of the runs did what, in the order of `stepOutcomes`. */
  counts: number[]
}

/** The values of one trait. */
export interface ColumnTrait {
  name: string
  values: readonly string[]
  /** By run: one more than its value's place, and 0 where it was not said. */
  places: Uint16Array
}

/** A step, and how long after their start runs that see it first see it late. */
export interface LateView<Step = StepRef> {
  step: Step
  afterMs: number
}

/** What columns can have besides. */
export interface Beside<Step = StepRef> {
  /** Has each run told of whether it saw the step late. */
  late: LateView<Step> | null
  /** Has each run told of the steps that it viewed, in time. */
  hasWays: boolean
}

/** Runs by the steps that they first viewed, one after another. */
export interface ColumnWays {
  /** Each as places in `steps`. */
  readonly paths: readonly (readonly number[])[]
  /** By run: the place of its path. */
  readonly places: Uint16Array
}

/** Whether and when a run first saw a step, as it stands in the column of cohorts. */
export const cohortCodes = { never: 0, inTime: 1, late: 2 } as const

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
  /** By step outcome, then a plane for each eight steps. */
  readonly marks: readonly Planes[]
  /** By step: how long each run that viewed it spent there, as codes, in the order of runs. */
  readonly spent: readonly Uint16Array[]
  /** The flow's items; the first plane's lowest bit is not one, but the whole checklist. */
  readonly items: readonly Item[]
  /** What each run's person ever ticked: bit 0 the whole checklist, bit n + 1 the item at place n. */
  readonly ticks: Planes
  /** What the runs' people were when they started, by the traits that any of them said. */
  readonly traits: readonly ColumnTrait[]
  /** By run, `cohortCodes`; null where it was not asked for. */
  readonly cohorts: Uint8Array | null
  /** Null where they were not asked for. */
  readonly ways: ColumnWays | null
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
    traits: columns.traits.map(trait => ({
      ...trait,
      places: Uint16Array.from(places, place => trait.places[place]!),
    })),
    cohorts: columns.cohorts && taken(columns.cohorts),
    ways: columns.ways && {
      ...columns.ways,
      places: Uint16Array.from(places, place => columns.ways!.places[place]!),
    },
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
