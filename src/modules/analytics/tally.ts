import { codeOfDuration, DurationCounts, rate } from '../../core/number/statistics.ts'
import type { ItemRef, StepRef } from '../../core/reference.ts'
import { stalledAfterMs, stepOutcomes } from '../../core/run/outcome.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import { dayMs } from '../../core/time/durations.ts'
import type { TimeRange } from '../../core/time/time-range.ts'
import {
  type RunColumns as ColumnsOf,
  filterRuns,
  outcomeBits,
  outcomeCodes,
  outcomeMask,
} from '../../storage/interfaces/analytics.ts'
import { distributionOf } from './distribution.ts'
import { PeopleCounter } from './people.ts'
import { type Period, periodsOf } from './periods.ts'
import type { Query } from './query.ts'

type RunColumns = ColumnsOf<StepRef, ItemRef>

/** The code of a run whose first report was its completion, so that it took no measurable time. */
export const noTime = codeOfDuration(0)

/** Median and 90th percentile in seconds, by nearest rank; null if nothing was timed. */
export function secondsOf(durations: DurationCounts) {
  const [median, p90] = durations.at(0.5, 0.9).map(ms => (ms === null ? null : ms / 1000))
  return { medianSeconds: median ?? null, p90Seconds: p90 ?? null }
}

class StepTally {
  /** In the order of `stepOutcomes`. */
  readonly counts = stepOutcomes.map(() => 0)
  droppedHere = 0
  stillHere = 0
  activeHere = 0
  readonly durations = new DurationCounts()
}

/** Only the runs of one version; null if there are none. */
export function ofVersion(columns: RunColumns, version: number): RunColumns | null {
  const place = columns.versions.indexOf(version)
  if (place === -1) return null
  if (columns.versions.length === 1) return columns
  return filterRuns(columns, run => columns.states[run]! >> outcomeBits === place)
}

/** Counts the runs of a range, in columns ascending by start. */
export class RunTally {
  private readonly range: TimeRange
  private readonly people: PeopleCounter
  private readonly durations = new DurationCounts()
  /** Runs that were completed by their first report. */
  private untimed = 0
  /** Runs in progress that are not stalled. */
  private active = 0
  /** By day and outcome. */
  private readonly days: Uint32Array
  /** Only steps that occur in the runs. */
  private readonly steps = new Map<StepRef, StepTally>()
  /** The mark that a run leaves on its person for each step and item that the flow ever had. */
  private readonly stepMarks: ReadonlyMap<StepRef, number>
  private readonly itemMarks: ReadonlyMap<ItemRef, number>
  private readonly checklistMark: number
  private readonly markWords: number
  readonly positions: FlowPositions<StepRef>
  private readonly intervals: readonly Period[] | null

  /** @param now epoch milliseconds */
  constructor(
    { flow, range, interval }: Pick<Query, 'flow' | 'range' | 'interval'>,
    private readonly now: number,
  ) {
    this.range = range
    const steps = [...flow.stepRefs.values()]
    const items = [...flow.itemRefs.values()]
    this.positions = new FlowPositions(flow)
    this.days = new Uint32Array(range.days.length << outcomeBits)
    this.stepMarks = new Map(steps.map((ref, i) => [ref, i]))
    this.itemMarks = new Map(items.map((ref, i) => [ref, steps.length + i]))
    this.checklistMark = steps.length + items.length
    this.markWords = Math.ceil((this.checklistMark + 1) / 32)
    this.intervals = interval && periodsOf(range, interval)
    const periodOf = this.intervals?.flatMap(({ first, last }, period) =>
      Array<number>(last - first + 1).fill(period),
    )
    this.people = new PeopleCounter(
      this.markWords,
      range.days.length,
      periodOf ? new Uint16Array(periodOf) : null,
    )
  }

  add(columns: RunColumns): void {
    this.countSteps(columns)
    this.countRuns(columns)
  }

  private countSteps({ steps, spent }: RunColumns): void {
    for (const [place, { ref, counts }] of steps.entries()) {
      if (counts.every(count => count === 0)) continue
      const tally = this.steps.get(ref) ?? new StepTally()
      this.steps.set(ref, tally)
      for (const [outcome, count] of counts.entries()) tally.counts[outcome]! += count
      tally.durations.addAll(spent[place]!)
    }
  }

  private countRuns(runs: RunColumns): void {
    const { from, count, starts, people: hashes, states, ends, steps } = runs
    const { people, markWords, durations, days } = this
    const dropped = new Uint32Array(steps.length + 1)
    const marks = this.marksOf(runs)
    let day = 0
    let dayEndsAt = this.range.days[day]!.endMs - from
    for (let run = 0; run < count; run++) {
      while (starts[run]! >= dayEndsAt) dayEndsAt = this.range.days[++day]!.endMs - from
      const outcome = states[run]! & outcomeMask
      const isCompleted = outcome === outcomeCodes.completed
      days[(day << outcomeBits) | outcome]!++
      if (!isCompleted) dropped[ends[run]!]!++
      else if (ends[run] === noTime) this.untimed++
      else durations.add(ends[run]!)
      people.add(hashes[run * 2]!, hashes[run * 2 + 1]!, day, isCompleted, marks, run * markWords)
    }
    const still = this.lastHeardAfter(this.now - dayMs, runs)
    const active = this.lastHeardAfter(this.now - stalledAfterMs, runs)
    for (const count of active) this.active += count
    for (const [place, { ref }] of steps.entries()) {
      const tally = this.steps.get(ref)
      if (!tally) continue
      tally.droppedHere += dropped[place + 1]!
      tally.stillHere += still[place + 1]!
      tally.activeHere += active[place + 1]!
    }
  }

  /** Runs in progress that had an event after a time, by their furthest step as in `ends`. */
  private lastHeardAfter(time: number, { lately, ends, steps }: RunColumns): Uint32Array {
    const heard = new Uint32Array(steps.length + 1)
    for (const [i, place] of lately.places.entries()) {
      if (lately.at[i]! > time) heard[ends[place]!]!++
    }
    return heard
  }

  /** The marks that each run leaves on its person, `markWords` words per run. */
  private marksOf({ count, steps, marks, items, ticks }: RunColumns): Uint32Array {
    const made = new Uint32Array(count * this.markWords)
    const [viewed = []] = marks
    const ofSteps = steps.map(({ ref }) => this.stepMarks.get(ref))
    const ofTicks = [this.checklistMark, ...items.map(ref => this.itemMarks.get(ref))]
    for (const [i, plane] of viewed.entries()) this.addMarks(made, plane, ofSteps.slice(i * 8))
    for (const [i, plane] of ticks.entries()) this.addMarks(made, plane, ofTicks.slice(i * 8))
    return made
  }

  /** Adds the marks of a plane; `meant` are the marks of its bits. */
  private addMarks(made: Uint32Array, plane: Uint8Array, meant: (number | undefined)[]): void {
    const { markWords } = this
    for (let word = 0; word < markWords; word++) {
      const ofBits = meant
        .slice(0, 8)
        .map(mark => (mark === undefined || mark >> 5 !== word ? 0 : 1 << (mark & 31)))
      const ofBytes = new Uint32Array(256)
      for (let byte = 1; byte < 256; byte++) {
        const highest = 31 - Math.clz32(byte)
        ofBytes[byte] = ofBytes[byte & ~(1 << highest)]! | (ofBits[highest] ?? 0)
      }
      for (let run = 0, at = word; run < plane.length; run++, at += markWords) {
        made[at]! |= ofBytes[plane[run]!]!
      }
    }
  }

  /** Counts the people, in small pieces of work. Call it after all runs are added; the results need it. */
  countingPeople(): Iterator<void, void> {
    return this.people.counting()
  }

  totals() {
    const totals = totalsOf(sumOf(this.daily()), this.people.count, this.people.completers)
    return { ...totals, stalled: totals.inProgress - this.active }
  }

  timeToComplete(hasDistribution: boolean) {
    return {
      count: this.durations.total,
      ...secondsOf(this.durations),
      untimed: this.untimed,
      ...(hasDistribution && { distribution: distributionOf(this.durations) }),
    }
  }

  /** Steps of the newest version in order, then steps of older versions that runs have seen. */
  stepRefs(): StepRef[] {
    return this.positions.inOrder(this.steps.keys())
  }

  step(ref: StepRef) {
    const tally = this.steps.get(ref) ?? new StepTally()
    const [reached = 0, completed = 0, skipped = 0, targetMissing = 0] = tally.counts
    const mark = this.stepMarks.get(ref)
    return {
      reached,
      uniqueUsers: mark === undefined ? 0 : this.people.with(mark),
      completed,
      skipped,
      targetMissing,
      droppedHere: tally.droppedHere,
      stillHere: tally.stillHere,
      activeHere: tally.activeHere,
      dropOffRate: rate(tally.droppedHere, reached),
      ...secondsOf(tally.durations),
    }
  }

  daily() {
    return this.range.days.map(({ date, endMs }, day) => {
      const [inProgress = 0, dismissals = 0, completions = 0] = this.days.subarray(
        day << outcomeBits,
      )
      const starts = inProgress + dismissals + completions
      const uniqueUsers = this.people.daily[day]!
      return { date, starts, uniqueUsers, completions, dismissals, complete: endMs <= this.now }
    })
  }

  /** Null if not requested. */
  periods() {
    if (!this.intervals) return null
    const daily = this.daily()
    return this.intervals.map(({ first, last, isWhole }, period) => ({
      from: daily[first]!.date,
      to: daily[last]!.date,
      whole: isWhole,
      ...sumOf(daily.slice(first, last + 1)),
      uniqueUsers: this.people.perPeriod[period]!,
      complete: daily[last]!.complete,
    }))
  }

  /** How many people of the runs ever ticked an item. */
  tickersOf(itemRef: ItemRef): number {
    const mark = this.itemMarks.get(itemRef)
    return mark === undefined ? 0 : this.people.with(mark)
  }

  /** How many people of the runs ever had the whole checklist ticked. */
  checklistCompleters(): number {
    return this.people.with(this.checklistMark)
  }
}

interface Outcomes {
  starts: number
  completions: number
  dismissals: number
}

/** The numbers of a group of runs. */
export const totalsOf = (
  { starts, completions, dismissals }: Outcomes,
  uniqueUsers: number,
  uniqueCompleters: number,
) => ({
  starts,
  uniqueUsers,
  completions,
  uniqueCompleters,
  dismissals,
  inProgress: starts - completions - dismissals,
  completionRate: rate(completions, starts),
})

/** People are counted once a period, so only these numbers add up. */
function sumOf(days: readonly Outcomes[]) {
  const sum = { starts: 0, completions: 0, dismissals: 0 }
  for (const day of days) {
    sum.starts += day.starts
    sum.completions += day.completions
    sum.dismissals += day.dismissals
  }
  return sum
}
