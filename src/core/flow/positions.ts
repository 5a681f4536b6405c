import type { RunStep } from '../run/run.ts'

/** A flow's steps through its versions. */
export interface StepHistory<Step> {
  /** Ascending by version. */
  versions: readonly { version: number; stepRefs: readonly Step[] }[]
}

/**
 * Where steps stand. A step's place in a run is its position in the run's version; a step that
 * this version lacks takes its position in the newest version that has it, and yields to one of
 * the run's own version at the same position.
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

  /** The newest version's steps in order, then those of the given that older versions had. */
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
   * @param steps in the order in which they were made, by which the later of two in one place counts
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
   * The steps that a run viewed, by when it first did. Of those viewed at one moment the lesser position
   * comes first; of two in one place the one that is not of the run's version, then the one made earlier.
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

  /** The steps of a version in order; none of one that was never published. */
  ofVersion(version: number): Iterable<Step> {
    return this.byVersion.get(version)?.keys() ?? []
  }

  /**
   * How long a run spent on a step, milliseconds: from its first view to its first completion or
   * skip, else to the first view of a later step; null where it had neither.
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
