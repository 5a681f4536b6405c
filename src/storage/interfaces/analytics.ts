import type { StoredEvent } from '../../core/event/event.ts'
import type { FlowRef, ItemRef, OrganisationRef, StepRef } from '../../core/reference.ts'
import type { StepHistory } from '../../core/run/positions.ts'
import type { TimeRange } from '../../core/time/time-range.ts'
import type { RunRow } from './runs.ts'
import type { StepBook } from './steps.ts'

/** A run with at least one answer. */
export type AnsweredRun = Pick<RunRow, 'startedAt' | 'version' | 'traits' | 'answers'>

/** The flows that an organisation has, by key. */
export interface KnownFlows {
  read(orgRef: OrganisationRef): Promise<{ flows: readonly { id: string; key: string }[] }>
}

/** What analytics needs from storage. */
export interface AnalyticsStores {
  analytics: AnalyticsReader
  /** For the health of steps. */
  steps: Pick<StepBook, 'healthCounts'>
}

/** A flow with its history, which says where its steps are. */
export interface FlowRuns extends StepHistory<StepRef> {
  orgRef: OrganisationRef
  flowRef: FlowRef
}

export interface AnalyticsReader {
  /** Runs that started in the range, by start, one page at a time, so that no snapshot is held. */
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
  /** When the latest run of a flow started, epoch milliseconds; null if it has none. */
  lastStart(orgRef: OrganisationRef, flowRef: FlowRef): Promise<number | null>
  /** Events of a flow that occurred in the range, in the order in which they were stored, one page at a time. */
  events(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    range: TimeRange,
  ): AsyncIterable<readonly StoredEvent[]>
  /**
   * Runs that started in the range, ascending by start, all as of one moment, with what their people ever
   * ticked. Only one reading at a time, and always to its end, because it holds a snapshot.
   *
   * @param withPaths whether `paths` is included; this takes longer, because every row is read
   */
  columns(
    flow: FlowRuns,
    range: TimeRange,
    withPaths?: boolean,
  ): AsyncIterable<RunColumns<StepRef, ItemRef>>
  /**
   * Counts only versions from which anybody was held back: the people whose runs started in the range, and
   * those who were held back in it. Anyone who was ever held back, by any version, is not counted among the
   * others. The goal is reached by an event at or after the start, or after the person was first held back.
   */
  experiment(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    query: { range: TimeRange; version: number | null; goal: string },
  ): Promise<ExperimentCounts>
}

/** People, and how many of them have reached the goal since. */
export interface GroupCounts {
  people: number
  achieved: number
}

/** People who saw a flow, and people who were held back from it. */
export interface ExperimentCounts {
  shown: GroupCounts
  heldOut: GroupCounts
}

/** The outcome of a run, as stored in the column of states. */
export const outcomeCodes = { inProgress: 0, dismissed: 1, completed: 2 } as const

/** Bits of a state that hold the outcome. The other bits are the version's index in `versions`. */
export const outcomeBits = 2
export const outcomeMask = 2 ** outcomeBits - 1

/** Flags of a run for its steps or items: one byte per run for every eight of them. */
export type Planes = readonly Uint8Array[]

/** What the runs did with one step. */
export interface ColumnStep<Step = number> {
  ref: Step
  /** How many of the runs did what, in the order of `stepOutcomes`. */
  counts: number[]
}

/** The values of one trait. */
export interface ColumnTrait {
  name: string
  values: readonly string[]
  /** By run: the index of its value plus one, or 0 if it is unknown. */
  places: Uint16Array
}

/** Runs by the order in which they first viewed their steps. */
export interface ColumnPaths {
  /** Each path as indexes into `steps`. */
  readonly distinct: readonly (readonly number[])[]
  /** By run: the index of its path. */
  readonly places: Uint16Array
}

/**
 * Runs of one flow, ascending by start, as columns: everything that analytics needs from a run, and no
 * text, so that a million runs are counted in a moment.
 */
export interface RunColumns<Step = number, Item = number> {
  readonly count: number
  /** Epoch milliseconds. `starts` are relative to this. */
  readonly from: number
  readonly starts: Uint32Array
  /** Hashes of the people, two 32-bit halves per run. */
  readonly people: Uint32Array
  /** Version (its index in `versions`) and outcome. */
  readonly states: Uint16Array
  /**
   * Where a run ended. For a completed run: the code of the time that it took. For any other run: the index
   * in `steps` of the furthest step that it viewed, plus one, or 0 for none.
   */
  readonly ends: Uint16Array
  readonly lately: Lately
  readonly versions: readonly number[]
  readonly steps: readonly ColumnStep<Step>[]
  /** By step outcome, then one plane for every eight steps. */
  readonly marks: readonly Planes[]
  /** By step: how long each run that viewed it spent there, as codes, in the order of runs. */
  readonly spent: readonly Uint16Array[]
  /** The flow's items. The lowest bit of the first plane is not an item but the whole checklist. */
  readonly items: readonly Item[]
  /** What each run's person ever ticked: bit 0 is the whole checklist, bit n + 1 is the item at index n. */
  readonly ticks: Planes
  /** The traits of the runs' people when they started. Only traits that any of them has. */
  readonly traits: readonly ColumnTrait[]
  /** Null if not requested. */
  readonly paths: ColumnPaths | null
  /** Whether a run takes the place of any step from a version other than its own. */
  readonly dependsOnNewest: boolean
}

/**
 * Runs in progress that had an event recently: their indexes, ascending, and when that was, in epoch
 * milliseconds. Most runs need no entry, because an old run stays old until its columns are made anew.
 */
export interface Lately {
  readonly places: Uint32Array
  readonly at: Float64Array
}

/** Keeps only the runs for which this is true; null if there are none. */
export function filterRuns<Step, Item>(
  columns: RunColumns<Step, Item>,
  keeps: (run: number) => boolean,
): RunColumns<Step, Item> | null {
  const places = new Uint32Array(columns.count)
  let found = 0
  for (let run = 0; run < columns.count; run++) if (keeps(run)) places[found++] = run
  if (found === columns.count) return columns
  return found === 0 ? null : takeRuns(columns, places.subarray(0, found))
}

/** Keeps only the runs at these indexes, which must be ascending. */
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
    paths: columns.paths && {
      ...columns.paths,
      places: Uint16Array.from(places, place => columns.paths!.places[place]!),
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

/** How many runs have this bit set. */
function countOf(planes: Planes, bit: number): number {
  const plane = planes[bit >> 3]
  if (!plane) return 0
  let count = 0
  for (const byte of plane) count += (byte >> (bit & 7)) & 1
  return count
}
