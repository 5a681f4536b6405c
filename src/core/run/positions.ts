import type { RunStep } from './run.ts'

/** A flow's steps in each of its versions. */
export interface StepHistory<Step> {
  /** Ascending by version. */
  versions: readonly { version: number; stepRefs: readonly Step[] }[]
}

/**
 * The positions of steps. A step's place in a run is its position in the run's version. A step that this
 * version lacks takes its position in the newest version that has it, and gives way to a step of the run's
 * own version at the same position.
 */
export class FlowPositions<Step> {
  private readonly byVersion = new Map<number, Map<Step, number>>()
  private readonly newest = new Map<Step, { version: number; position: number }>()

  private readonly current: readonly Step[]

  constructor(history: StepHistory<Step>) {
    this.current = history.versions.at(-1)?.stepRefs ?? []
    for (const { version, stepRefs } of history.versions) {
      const positions = new Map(stepRefs.map((step, position) => [step, position]))
      this.byVersion.set(version, positions)
      for (const [step, position] of positions) this.newest.set(step, { version, position })
    }
  }

  /** The newest version's steps in order, then those of the given steps that only older versions had. */
  inOrder(steps: Iterable<Step>): Step[] {
    const older = [...steps]
      .filter(step => !this.current.includes(step))
      .map(step => ({ step, ...(this.newest.get(step) ?? { version: 0, position: 0 }) }))
      .sort((a, b) => b.version - a.version || a.position - b.position)
    return [...this.current, ...older.map(({ step }) => step)]
  }

  /** The newest version that has a step, and its position there. */
  newestOf(step: Step): { version: number; position: number } | null {
    return this.newest.get(step) ?? null
  }

  inRun(step: Step, version: number): { position: number; isOwn: boolean } {
    const own = this.byVersion.get(version)?.get(step)
    if (own !== undefined) return { position: own, isOwn: true }
    return { position: this.newest.get(step)?.position ?? -1, isOwn: false }
  }

  /**
   * The furthest step that a run viewed, or null.
   *
   * @param steps in the order in which they were made: of two steps at the same position, the later one
   *   counts
   */
  furthest(steps: readonly RunStep<Step>[], version: number): Step | null {
    let best: { step: Step; position: number; isOwn: boolean } | null = null
    for (const { stepId: step, viewedAt } of steps) {
      if (viewedAt === null) continue
      const { position, isOwn } = this.inRun(step, version)
      const isFurther =
        best === null ||
        position > best.position ||
        (position === best.position && (isOwn || !best.isOwn))
      if (isFurther) best = { step, position, isOwn }
    }
    return best?.step ?? null
  }

  /**
   * The steps that a run viewed, by the time of their first view. If several were viewed at the same
   * moment, the lower position comes first; at the same position, a step that is not of the run's version,
   * then the one that was made earlier.
   */
  inTime(steps: readonly RunStep<Step>[], version: number): Step[] {
    return steps
      .flatMap(({ stepId: step, viewedAt }) =>
        viewedAt === null ? [] : [{ step, viewedAt, ...this.inRun(step, version) }],
      )
      .sort(
        (a, b) =>
          a.viewedAt - b.viewedAt || a.position - b.position || Number(a.isOwn) - Number(b.isOwn),
      )
      .map(({ step }) => step)
  }

  /** The steps of a version in order; none if the version was never published. */
  ofVersion(version: number): Iterable<Step> {
    return this.byVersion.get(version)?.keys() ?? []
  }

  /**
   * How long a run spent on a step, milliseconds: from its first view to its first completion or skip,
   * otherwise to the first view of a later step; null if there is neither.
   */
  durationMs(step: RunStep<Step>, steps: readonly RunStep<Step>[], version: number): number | null {
    const { viewedAt } = step
    if (viewedAt === null) return null
    const done = Math.min(step.completedAt ?? Infinity, step.skippedAt ?? Infinity)
    if (done !== Infinity) return Math.max(0, done - viewedAt)
    const { position } = this.inRun(step.stepId, version)
    let next = Infinity
    for (const other of steps) {
      if (other.viewedAt === null || other.viewedAt < viewedAt) continue
      if (this.inRun(other.stepId, version).position > position) {
        next = Math.min(next, other.viewedAt)
      }
    }
    return next === Infinity ? null : next - viewedAt
  }
}
