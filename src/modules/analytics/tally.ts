import type { FlowEntry } from '../../core/catalogue.ts'
import { FlowPositions } from '../../core/flow-positions.ts'
import type { RunRow } from '../../core/ports.ts'
import { nearestRank } from '../../core/quantile.ts'
import { rate } from '../../core/rate.ts'
import type { TimeRange } from '../../core/time-range.ts'

/** Median and 90th percentile in seconds, exact by nearest rank; null where nothing was timed. */
function secondsOf(durationsMs: number[]) {
  const sorted = Float64Array.from(durationsMs).sort()
  const seconds = (q: number) => {
    const found = nearestRank(sorted, q)
    return found === null ? null : found / 1000
  }
  return { medianSeconds: seconds(0.5), p90Seconds: seconds(0.9) }
}

class StepTally {
  reached = 0
  completed = 0
  skipped = 0
  targetMissing = 0
  droppedHere = 0
  readonly people = new Set<string>()
  readonly durationsMs: number[] = []
}

class DayTally {
  starts = 0
  completions = 0
  dismissals = 0
  readonly people = new Set<string>()
}

/** Index of the day that holds a moment; the days tile the range. */
function dayIndex(range: TimeRange, at: number): number {
  let low = 0
  let high = range.days.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((range.days[middle]?.startMs ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** Counts the runs of a range, one at a time, into everything that an answer says of them. */
export class RunTally {
  private completions = 0
  private dismissals = 0
  private starts = 0
  private readonly people = new Set<string>()
  private readonly completers = new Set<string>()
  private readonly durationsMs: number[] = []
  private readonly steps = new Map<number, StepTally>()
  private readonly days: DayTally[]
  private readonly versions = new Map<number, { starts: number; completions: number }>()
  readonly positions: FlowPositions

  /** @param version count only runs of this version; null for all */
  constructor(
    flow: FlowEntry,
    private readonly range: TimeRange,
    private readonly version: number | null,
  ) {
    this.positions = new FlowPositions(flow)
    this.days = range.days.map(() => new DayTally())
  }

  add(run: RunRow): void {
    const isCompleted = run.completedAt !== null
    const ofVersion = this.versions.get(run.version) ?? { starts: 0, completions: 0 }
    ofVersion.starts++
    if (isCompleted) ofVersion.completions++
    this.versions.set(run.version, ofVersion)
    if (this.version !== null && run.version !== this.version) return

    const day = this.days[dayIndex(this.range, run.startedAt)] as DayTally
    this.starts++
    day.starts++
    this.people.add(run.person)
    day.people.add(run.person)
    if (isCompleted) {
      this.completions++
      day.completions++
      this.completers.add(run.person)
      this.durationsMs.push(Math.max(0, (run.completedAt ?? 0) - run.startedAt))
    } else if (run.dismissedAt !== null) {
      this.dismissals++
      day.dismissals++
    }
    this.addSteps(run, isCompleted)
  }

  private addSteps(run: RunRow, isCompleted: boolean): void {
    for (const step of run.steps) {
      const tally = this.steps.get(step.stepId) ?? new StepTally()
      this.steps.set(step.stepId, tally)
      if (step.viewedAt !== null) {
        tally.reached++
        tally.people.add(run.person)
        const duration = this.positions.durationMs(step, run.steps, run.version)
        if (duration !== null) tally.durationsMs.push(duration)
      }
      if (step.completedAt !== null) tally.completed++
      if (step.skippedAt !== null) tally.skipped++
      if (step.missingAt !== null) tally.targetMissing++
    }
    const furthest = isCompleted ? null : this.positions.furthest(run.steps, run.version)
    if (furthest !== null) (this.steps.get(furthest) as StepTally).droppedHere++
  }

  /** Whether a person has a run in the answer. */
  hasPerson(person: string): boolean {
    return this.people.has(person)
  }

  totals() {
    const { starts, completions, dismissals } = this
    return {
      starts,
      uniqueUsers: this.people.size,
      completions,
      uniqueCompleters: this.completers.size,
      dismissals,
      inProgress: starts - completions - dismissals,
      completionRate: rate(completions, starts),
    }
  }

  timeToComplete() {
    return { count: this.durationsMs.length, ...secondsOf(this.durationsMs) }
  }

  /** Steps of the newest version in order, then those of older versions that runs have seen. */
  stepRows(): number[] {
    return this.positions.inOrder(this.steps.keys())
  }

  step(row: number) {
    const tally = this.steps.get(row) ?? new StepTally()
    const { reached, completed, skipped, targetMissing, droppedHere } = tally
    return {
      reached,
      uniqueUsers: tally.people.size,
      completed,
      skipped,
      targetMissing,
      droppedHere,
      dropOffRate: rate(droppedHere, reached),
      ...secondsOf(tally.durationsMs),
    }
  }

  daily() {
    return this.days.map((day, i) => ({
      date: this.range.days[i]?.date ?? '',
      starts: day.starts,
      uniqueUsers: day.people.size,
      completions: day.completions,
      dismissals: day.dismissals,
    }))
  }

  ofVersion(version: number) {
    const { starts, completions } = this.versions.get(version) ?? { starts: 0, completions: 0 }
    return { starts, completions, completionRate: rate(completions, starts) }
  }
}
