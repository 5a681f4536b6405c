import { type ListedTraits, traitIn } from '../../core/event/traits.ts'
import { wilsonInterval } from '../../core/number/interval.ts'
import { DurationCounts, fourDecimals } from '../../core/number/statistics.ts'
import { type PeopleFilter, rulesHold } from '../../core/person/filter.ts'
import {
  filterRuns,
  outcomeCodes,
  outcomeMask,
  type RunColumns,
} from '../../storage/interfaces/analytics.ts'
import { maxValues } from './definitions.ts'
import { PeopleCounter } from './people.ts'
import type { SegmentFilter, TraitFilter } from './query.ts'
import { noTime, secondsOf, totalsOf } from './tally.ts'

/** Whether a run passes all filters. */
export const hasTraits = (traits: ListedTraits, filters: readonly SegmentFilter[]): boolean =>
  filters.every(filter =>
    'saved' in filter
      ? rulesHold(filter.saved.filter, reportedIn(traits))
      : traitIn(traits, filter.trait) === filter.value,
  )

/** Traits as rules compare them. */
const reportedIn = (traits: ListedTraits) =>
  new Map(Object.entries(traits).map(([name, value]) => [name, { value, at: 0 }]))

/** Whether runs have a value of a trait. */
function hasValue<Step, Item>(columns: RunColumns<Step, Item>, { trait, value }: TraitFilter) {
  const column = columns.traits.find(({ name }) => name === trait)
  // 0 stands for an unknown value. No run has -1.
  const place = value === null ? 0 : (column?.values.indexOf(value) ?? -1) + 1 || -1
  return (run: number) => (column?.places[run] ?? 0) === place
}

/** Whether runs meet the rules of a saved segment, each value compared once. */
function meetsRules<Step, Item>(
  columns: RunColumns<Step, Item>,
  { match, rules = [] }: PeopleFilter,
) {
  const compared = rules.map(rule => {
    const column = columns.traits.find(({ name }) => name === rule.attribute)
    const holds = [null, ...(column?.values ?? [])].map(value =>
      rulesHold({ rules: [rule] }, reportedIn(value === null ? {} : { [rule.attribute]: value })),
    )
    return (run: number) => holds[column?.places[run] ?? 0]!
  })
  return match === 'any' && rules.length > 0
    ? (run: number) => compared.some(holds => holds(run))
    : (run: number) => compared.every(holds => holds(run))
}

/** Only the runs that pass all filters; null if there are none. */
export function withTraits<Step, Item>(
  columns: RunColumns<Step, Item>,
  filters: readonly SegmentFilter[],
): RunColumns<Step, Item> | null {
  if (filters.length === 0) return columns
  const conditions = filters.map(filter =>
    'saved' in filter ? meetsRules(columns, filter.saved.filter) : hasValue(columns, filter),
  )
  return filterRuns(columns, run => conditions.every(holds => holds(run)))
}

type Counted = Pick<RunColumns, 'count' | 'people' | 'states' | 'ends'>

/** The runs of one group. */
class Row {
  starts = 0
  completions = 0
  dismissals = 0
  readonly durations = new DurationCounts()
  untimed = 0

  numbers(people: number, completers: number) {
    const { durations, untimed } = this
    const interval = wilsonInterval(this.completions, this.starts)
    return {
      ...totalsOf(this, people, completers),
      interval: interval && { low: fourDecimals(interval.low), high: fourDecimals(interval.high) },
      timeToComplete: { count: durations.total, ...secondsOf(durations), untimed },
    }
  }
}

/** Counts runs by the values of a trait. Which values share a row is only known once all runs are. */
export class SegmentTally {
  private readonly runs: (Counted & { groups: Uint32Array })[] = []
  /** By value. Group 0 is for runs whose value is unknown. */
  private readonly groups = new Map<string, number>()

  constructor(private readonly trait: string) {}

  add<Step, Item>({ count, people, states, ends, traits }: RunColumns<Step, Item>): void {
    const groups = new Uint32Array(count)
    const column = traits.find(({ name }) => name === this.trait)
    if (column) {
      const ofPlace = [0, ...column.values.map(value => this.groupOf(value))]
      for (let run = 0; run < count; run++) groups[run] = ofPlace[column.places[run]!]!
    }
    this.runs.push({ count, people, states, ends, groups })
  }

  private groupOf(value: string): number {
    const group = this.groups.get(value) ?? this.groups.size + 1
    this.groups.set(value, group)
    return group
  }

  /** The most frequent values first, then the rarer ones together, then runs whose value is unknown. */
  *counting() {
    const starts = new Uint32Array(this.groups.size + 1)
    for (const { groups } of this.runs) for (const group of groups) starts[group]!++
    const values = [...this.groups]
      .filter(([, group]) => starts[group]! > 0)
      .sort(([a, i], [b, j]) => starts[j]! - starts[i]! || (a < b ? -1 : 1))
    const shown = values.slice(0, maxValues)
    const others = values.length - shown.length
    const rowOf = Array<number>(this.groups.size + 1).fill(shown.length)
    for (const [row, [, group]] of shown.entries()) rowOf[group] = row
    rowOf[0] = shown.length + 1
    const numbers = yield* this.countingRows(rowOf, shown.length + 2)
    const { trait } = this
    return [
      ...shown.map(([value], row) => ({
        ...{ trait, kind: 'value' as const, value, values: 1 },
        ...numbers[row]!,
      })),
      { ...{ trait, kind: 'other' as const, value: null, values: others }, ...numbers.at(-2)! },
      { ...{ trait, kind: 'not_said' as const, value: null, values: 0 }, ...numbers.at(-1)! },
    ].filter(({ starts }) => starts > 0)
  }

  /** Counts all runs, in small pieces of work. @param rowOf the row of each group */
  private *countingRows(rowOf: readonly number[], rows: number) {
    const tallies = Array.from({ length: rows }, () => new Row())
    // Two marks per row on each person: one for a run, one for a completed run.
    const marks = new Uint32Array(Math.ceil((rows * 2) / 32))
    const counter = new PeopleCounter(marks.length, 1)
    for (const { count, people, states, ends, groups } of this.runs) {
      for (let run = 0; run < count; run++) {
        const row = rowOf[groups[run]!]!
        const outcome = states[run]! & outcomeMask
        const isCompleted = outcome === outcomeCodes.completed
        const tally = tallies[row]!
        tally.starts++
        if (outcome === outcomeCodes.dismissed) tally.dismissals++
        if (isCompleted) {
          tally.completions++
          if (ends[run] === noTime) tally.untimed++
          else tally.durations.add(ends[run]!)
        }
        const word = row >> 4
        marks[word] = (isCompleted ? 3 : 1) << ((row & 15) * 2)
        counter.add(people[run * 2]!, people[run * 2 + 1]!, 0, isCompleted, marks, 0)
        marks[word] = 0
      }
      yield
    }
    yield* counter.counting()
    return tallies.map((tally, row) =>
      tally.numbers(counter.with(row * 2), counter.with(row * 2 + 1)),
    )
  }
}
