import type { RunStep } from '../run/run.ts'

/** A flow's steps through its versions, by row number. */
export interface StepHistory {
  /** Ascending by version. */
  versions: readonly { version: number; stepRows: readonly number[] }[]
}

/**
 * Where steps stand. A step's place in a run is its position in the run's version; a step that
 * this version lacks takes its position in the newest version that has it, and yields to one of
 * the run's own version at the same position.
 */
export class FlowPositions {
  private readonly byVersion = new Map<number, Map<number, number>>()
  private readonly newest = new Map<number, { version: number; position: number }>()

  private readonly current: readonly number[]

  constructor(history: StepHistory) {
    this.current = history.versions.at(-1)?.stepRows ?? []
    for (const { version, stepRows } of history.versions) {
      const positions = new Map(stepRows.map((row, position) => [row, position]))
      this.byVersion.set(version, positions)
      for (const [row, position] of positions) this.newest.set(row, { version, position })
    }
  }

  /** The newest version's steps in order, then those of the given that older versions had. */
  inOrder(stepRows: Iterable<number>): number[] {
    const older = [...stepRows]
      .filter(row => !this.current.includes(row))
      .map(row => ({ row, ...(this.newest.get(row) ?? { version: 0, position: 0 }) }))
      .sort((a, b) => b.version - a.version || a.position - b.position)
    return [...this.current, ...older.map(({ row }) => row)]
  }

  /** The newest version that has a step, and its position there. */
  newestOf(stepRow: number): { version: number; position: number } | null {
    return this.newest.get(stepRow) ?? null
  }

  inRun(stepRow: number, version: number): { position: number; isOwn: boolean } {
    const own = this.byVersion.get(version)?.get(stepRow)
    if (own !== undefined) return { position: own, isOwn: true }
    return { position: this.newest.get(stepRow)?.position ?? -1, isOwn: false }
  }

  /** The furthest step that a run viewed, or null. */
  furthest(steps: readonly RunStep[], version: number): number | null {
    let best: { row: number; position: number; isOwn: boolean } | null = null
    for (const { stepId: row, viewedAt } of steps) {
      if (viewedAt === null) continue
      const { position, isOwn } = this.inRun(row, version)
      const isFurther =
        best === null ||
        position > best.position ||
        (position === best.position && (isOwn ? !best.isOwn : !best.isOwn && row > best.row))
      if (isFurther) best = { row, position, isOwn }
    }
    return best?.row ?? null
  }

  /**
   * How long a run spent on a step, milliseconds: from its first view to its first completion or
   * skip, else to the first view of a later step; null where it had neither.
   */
  durationMs(step: RunStep, steps: readonly RunStep[], version: number): number | null {
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
