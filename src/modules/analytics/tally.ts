import type { FlowEntry } from '../../core/catalogue.ts'
import { DurationCounts } from '../../core/duration-code.ts'
import { FlowPositions } from '../../core/flow-positions.ts'
import { rate } from '../../core/rate.ts'
import { fates, outcomeBits, outcomes, type RunColumns, takeRuns } from '../../core/run-columns.ts'
import type { TimeRange } from '../../core/time-range.ts'
import { countWithBit, People } from './people.ts'

const outcomeMask = 2 ** outcomeBits - 1

/** Median and 90th percentile in seconds by nearest rank; null where nothing was timed. */
function secondsOf(durations: DurationCounts) {
  const [median, p90] = durations.at(0.5, 0.9).map(ms => (ms === null ? null : ms / 1000))
  return { medianSeconds: median ?? null, p90Seconds: p90 ?? null }
}

class StepTally {
  /** In the order of `fates`. */
  readonly counts = fates.map(() => 0)
  droppedHere = 0
  readonly durations = new DurationCounts()
}

/** Only the runs of one version, where the columns have others too. */
function ofVersion(columns: RunColumns, version: number): RunColumns | null {
  const place = columns.versions.indexOf(version)
  if (place === -1) return null
  if (columns.versions.length === 1) return columns
  const places = new Uint32Array(columns.count)
  let found = 0
  for (let run = 0; run < columns.count; run++) {
    if (columns.states[run]! >> outcomeBits === place) places[found++] = run
  }
  return takeRuns(columns, places.subarray(0, found))
}

/** Counts the runs of a range, by columns ascending by start, into all that an answer says of them. */
export class RunTally {
  private readonly people: People
  private readonly durations = new DurationCounts()
  private readonly days: { starts: number; completions: number; dismissals: number }[]
  private day = 0
  /** By row of the step; those that the runs have to do with. */
  private readonly steps = new Map<number, StepTally>()
  /** A bit for each step that the flow ever had, by row. */
  private readonly bitOf: ReadonlyMap<number, number>
  private readonly stepWords: number
  /** By row of the item: people who ever ticked it. */
  private readonly tickers = new Map<number, number>()
  private completedAll = 0
  private readonly versions = new Map<number, { starts: number; completions: number }>()
  readonly positions: FlowPositions

  /** @param version count only runs of this version; null for all */
  constructor(
    flow: FlowEntry,
    private readonly range: TimeRange,
    private readonly version: number | null,
  ) {
    this.positions = new FlowPositions(flow)
    this.days = range.days.map(() => ({ starts: 0, completions: 0, dismissals: 0 }))
    this.bitOf = new Map([...flow.steps.keys()].map((row, bit) => [row, bit]))
    this.stepWords = Math.ceil(this.bitOf.size / 32)
    this.people = new People(this.stepWords, range.days.length)
  }

  add(columns: RunColumns): void {
    this.countVersions(columns)
    const runs = this.version === null ? columns : ofVersion(columns, this.version)
    if (!runs || runs.count === 0) return
    this.countSteps(runs)
    this.countRuns(runs)
  }

  private countVersions({ count, states, versions }: RunColumns): void {
    const counts = new Uint32Array(versions.length << outcomeBits)
    for (let run = 0; run < count; run++) counts[states[run]!]!++
    for (const [place, version] of versions.entries()) {
      const first = place << outcomeBits
      const known = this.versions.get(version) ?? { starts: 0, completions: 0 }
      for (const outcome of Object.values(outcomes)) known.starts += counts[first + outcome]!
      known.completions += counts[first + outcomes.completed]!
      this.versions.set(version, known)
    }
  }

  private countSteps({ steps, spent }: RunColumns): void {
    for (const [place, { row, counts }] of steps.entries()) {
      if (counts.every(count => count === 0)) continue
      const tally = this.steps.get(row) ?? new StepTally()
      this.steps.set(row, tally)
      for (const [fate, count] of counts.entries()) tally.counts[fate]! += count
      tally.durations.addAll(spent[place]!)
    }
  }

  private countRuns(runs: RunColumns): void {
    const { count, starts, people: hashes, states, ends, ticks, steps, items } = runs
    const { people, stepWords, durations } = this
    const dropped = new Uint32Array(steps.length + 1)
    const ticked = new Uint32Array(ticks.length * 256)
    const seen = this.seenBy(runs)
    people.reserve(count)
    let dayEndsAt = 0
    let day = this.days[this.day]!
    for (let run = 0; run < count; run++) {
      if (starts[run]! >= dayEndsAt) {
        dayEndsAt = this.goOnTo(runs.from + starts[run]!) - runs.from
        day = this.days[this.day]!
      }
      const outcome = states[run]! & outcomeMask
      const isCompleted = outcome === outcomes.completed
      day.starts++
      if (isCompleted) {
        day.completions++
        durations.add(ends[run]!)
      } else {
        if (outcome === outcomes.dismissed) day.dismissals++
        dropped[ends[run]!]!++
      }
      const person = people.meet(hashes[run * 2]!, hashes[run * 2 + 1]!, this.day, isCompleted)
      for (let word = 0; word < stepWords; word++) {
        people.see(person, word, seen[run * stepWords + word]!)
      }
      // All runs of a person say the same of their ticks.
      if (people.isNew) {
        for (let plane = 0; plane < ticks.length; plane++) {
          ticked[plane * 256 + ticks[plane]![run]!]!++
        }
      }
    }
    for (const [place, { row }] of steps.entries()) {
      const tally = this.steps.get(row)
      if (tally) tally.droppedHere += dropped[place + 1]!
    }
    if (ticks.length === 0) return
    this.completedAll += countWithBit(ticked, 0)
    for (const [place, row] of items.entries()) {
      const known = this.tickers.get(row) ?? 0
      this.tickers.set(row, known + countWithBit(ticked, place + 1))
    }
  }

  /** Makes the day that holds a moment the current one; epoch milliseconds at which it ends. */
  private goOnTo(at: number): number {
    const { days } = this.range
    while (at >= days[this.day]!.endMs) this.day++
    return days[this.day]!.endMs
  }

  /** The steps that each run viewed, `stepWords` words a run. */
  private seenBy({ count, steps, marks }: RunColumns): Uint32Array {
    const { stepWords } = this
    const seen = new Uint32Array(count * stepWords)
    const [viewed = []] = marks
    for (const [i, plane] of viewed.entries()) {
      const bits = steps.slice(i * 8, i * 8 + 8).map(({ row }) => this.bitOf.get(row))
      for (let word = 0; word < stepWords; word++) {
        const meaning = new Uint32Array(256)
        for (let byte = 1; byte < 256; byte++) {
          for (const [j, bit] of bits.entries()) {
            if (bit === undefined || bit >> 5 !== word || (byte & (1 << j)) === 0) continue
            meaning[byte]! |= 1 << (bit & 31)
          }
        }
        for (let run = 0, at = word; run < count; run++, at += stepWords) {
          seen[at]! |= meaning[plane[run]!]!
        }
      }
    }
    return seen
  }

  totals() {
    let starts = 0
    let completions = 0
    let dismissals = 0
    for (const day of this.days) {
      starts += day.starts
      completions += day.completions
      dismissals += day.dismissals
    }
    return {
      starts,
      uniqueUsers: this.people.count,
      completions,
      uniqueCompleters: this.people.completers,
      dismissals,
      inProgress: starts - completions - dismissals,
      completionRate: rate(completions, starts),
    }
  }

  timeToComplete() {
    return { count: this.durations.total, ...secondsOf(this.durations) }
  }

  /** Steps of the newest version in order, then those of older versions that runs have seen. */
  stepRows(): number[] {
    return this.positions.inOrder(this.steps.keys())
  }

  step(row: number) {
    const tally = this.steps.get(row) ?? new StepTally()
    const [reached = 0, completed = 0, skipped = 0, targetMissing = 0] = tally.counts
    const bit = this.bitOf.get(row)
    return {
      reached,
      uniqueUsers: bit === undefined ? 0 : this.people.whoSaw(bit),
      completed,
      skipped,
      targetMissing,
      droppedHere: tally.droppedHere,
      dropOffRate: rate(tally.droppedHere, reached),
      ...secondsOf(tally.durations),
    }
  }

  daily() {
    return this.days.map((day, i) => ({
      date: this.range.days[i]?.date ?? '',
      starts: day.starts,
      uniqueUsers: this.people.daily[i]!,
      completions: day.completions,
      dismissals: day.dismissals,
    }))
  }

  /** People of the runs who ever ticked an item. */
  tickersOf(itemRow: number): number {
    return this.tickers.get(itemRow) ?? 0
  }

  /** People of the runs who ever had the whole checklist ticked. */
  get checklistCompleters(): number {
    return this.completedAll
  }

  ofVersion(version: number) {
    const { starts, completions } = this.versions.get(version) ?? { starts: 0, completions: 0 }
    return { starts, completions, completionRate: rate(completions, starts) }
  }
}
