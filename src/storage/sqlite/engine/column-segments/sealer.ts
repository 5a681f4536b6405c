import type { Database } from 'bun:sqlite'
import { FlowPositions, type StepHistory } from '../../../../core/flow/positions.ts'
import { dayMs, minuteMs } from '../../../../core/time/durations.ts'
import type { ColumnSegments, Draft, Stretch } from './column-segments.ts'
import { longestColumns, RunColumnsBuilder, RunPages } from './run-columns.ts'
import { encodeSegment } from './segment-bytes.ts'

export interface SealPolicy {
  /** How many runs of a flow must change before it is looked at for that reason alone. */
  changesToLook: number
  /** How many runs a segment holds. At least this many must be in no segment before another is made of them. */
  runsPerSegment: number
  /** Runs that share a millisecond share a segment; if they are more than this, none is made. */
  mostRunsPerSegment: number
  /** How long ago a run must have started, milliseconds: by then most runs have said all they will. */
  settledMs: number
  /** How long a flow is left alone after a change, milliseconds. */
  pauseMs: number
}

export const defaultSealPolicy: SealPolicy = {
  changesToLook: 4_096,
  runsPerSegment: 4_096,
  mostRunsPerSegment: 16_384,
  settledMs: 30 * minuteMs,
  pauseMs: 1_000,
}

/** How long until a flow that could not be sealed is looked at again, milliseconds. */
const afterFailureMs = minuteMs

/** Before and after all that can happen. */
const ever = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

type Within = [orgRow: number, flowRow: number, from: number, to: number, place: number]

function statements(database: Database) {
  const within = 'from runs where org_id = ? and flow_id = ? and started_at >= ? and started_at < ?'
  return {
    startAt: database.query<{ started_at: number }, Within>(
      `select started_at ${within} order by started_at limit 1 offset ?`,
    ),
    count: database.query<{ count: number }, Within>(
      `select count(*) as count from (select 1 ${within} limit ?)`,
    ),
  }
}

/** A segment that is made and waits to be written. */
export interface SealedSegment {
  draft: Draft
  runs: number
  flowVersions: number | null
  columns: Uint8Array
}

/**
 * Makes segments of runs that have come to rest. It works in pieces of one or two milliseconds, between
 * which the storage thread does its actual work.
 */
export class Sealer {
  private readonly sql: ReturnType<typeof statements>
  private readonly pages: RunPages

  constructor(
    database: Database,
    private readonly segments: ColumnSegments,
    private readonly historyOf: (orgRow: number, flowRow: number) => StepHistory<number> | null,
    private readonly now: () => number,
    private readonly policy: SealPolicy,
  ) {
    this.sql = statements(database)
    this.pages = new RunPages(database)
  }

  /**
   * Looks at all flows that are due. Yields a segment where one is made, and null where others may go first.
   * What fails is retried later, also if the error is thrown in because a segment could not be written.
   */
  *work(): Generator<SealedSegment | null> {
    for (;;) {
      const due = this.segments.takeDue()
      if (!due) return
      const { orgRow, flowRow } = due
      try {
        yield* this.ofFlow(orgRow, flowRow)
      } catch (error) {
        this.segments.lookLater(orgRow, flowRow, afterFailureMs)
        throw error
      }
      this.segments.looked(orgRow, flowRow)
      yield null
    }
  }

  private *ofFlow(orgRow: number, flowRow: number): Generator<SealedSegment | null> {
    if (!this.isLarge(orgRow, flowRow)) return
    const history = this.historyOf(orgRow, flowRow)
    if (!history) return
    for (const gap of this.gapsOf(orgRow, flowRow, history)) {
      let { from } = gap
      for (;;) {
        const next = this.next(orgRow, flowRow, { from, to: gap.to })
        if (next === null) break
        from = next.to
        if (next.runs > this.policy.mostRunsPerSegment) continue
        // Begun before others go first, because what changes from here on must be noticed.
        const draft = this.segments.begin(orgRow, flowRow, next)
        yield null
        const sealed = yield* this.seal(draft, next.runs, history)
        if (sealed === null) {
          this.segments.lookLater(orgRow, flowRow)
          return
        }
        yield sealed
      }
    }
    this.lookWhenSettled(orgRow, flowRow)
  }

  /** Most flows are not large, and cost no more than this. */
  private isLarge(orgRow: number, flowRow: number): boolean {
    if (this.segments.of(orgRow, flowRow).length > 0) return true
    const { from, to } = ever
    return this.sql.startAt.get(orgRow, flowRow, from, to, this.policy.runsPerSegment) !== null
  }

  /** The stretches without a segment, or with one that a newer version has made wrong. */
  private gapsOf(orgRow: number, flowRow: number, { versions }: StepHistory<number>): Stretch[] {
    const segments = this.segments
      .of(orgRow, flowRow)
      .filter(({ flowVersions }) => flowVersions === null || flowVersions === versions.length)
    const edges = [ever.from, ...segments.flatMap(({ from, to }) => [from, to]), ever.to]
    const gaps: Stretch[] = []
    for (let i = 0; i < edges.length; i += 2) gaps.push({ from: edges[i]!, to: edges[i + 1]! })
    return gaps.filter(({ from, to }) => from < to)
  }

  /** The first stretch of a gap that is worth a segment, and how many runs it has. */
  private next(orgRow: number, flowRow: number, gap: Stretch): (Stretch & { runs: number }) | null {
    const { runsPerSegment, mostRunsPerSegment } = this.policy
    const isOpen = gap.from === ever.from || gap.to === ever.to
    const end = Math.min(gap.to, this.now() - this.policy.settledMs)
    const startAt = (from: number, place: number) =>
      this.sql.startAt.get(orgRow, flowRow, from, end, place)?.started_at
    const countUntil = (from: number, to: number, most: number) =>
      this.sql.count.get(orgRow, flowRow, from, to, most)!.count
    const first = startAt(gap.from, 0)
    if (first === undefined) return null
    const runs = countUntil(first, end, 2 * runsPerSegment)
    if (isOpen && runs <= runsPerSegment) return null
    // Starts where the last segment ends, so that nothing is left between the two.
    const from = first - gap.from < longestColumns ? gap.from : first
    const size = isOpen || runs === 2 * runsPerSegment ? runsPerSegment : Math.ceil(runs / 2)
    const isLast = runs <= runsPerSegment
    let to = (isLast ? undefined : startAt(first, size)) ?? end
    // A stretch must end after it begins, even if all runs that would fill it start at one moment.
    if (to === first) to = startAt(first + 1, 0) ?? end
    to = Math.min(to, from + longestColumns)
    return { from, to, runs: countUntil(from, to, mostRunsPerSegment + 1) }
  }

  /** @returns null if a run of the draft has changed meanwhile */
  private *seal(
    draft: Draft,
    runs: number,
    history: StepHistory<number>,
  ): Generator<null, SealedSegment | null> {
    if (draft.isStale) return null
    const { orgRow, flowRow, from, to } = draft
    const positions = new FlowPositions(history)
    const builder = new RunColumnsBuilder(positions, from, runs, this.now() - dayMs)
    for (const page of this.pages.between(orgRow, flowRow, from, to)) {
      for (const run of page) builder.add(run)
      yield null
      if (draft.isStale) return null
    }
    const columns = builder.finish()
    const flowVersions = columns.dependsOnNewest ? history.versions.length : null
    return { draft, runs: columns.count, flowVersions, columns: encodeSegment(columns) }
  }

  /** Runs that are too young for a segment may be enough for one later, even if none is added. */
  private lookWhenSettled(orgRow: number, flowRow: number): void {
    const last = this.segments.of(orgRow, flowRow).at(-1)?.to ?? ever.from
    const { runsPerSegment, settledMs } = this.policy
    const enough = this.sql.startAt.get(orgRow, flowRow, last, ever.to, runsPerSegment)
    const pauseMs = enough ? enough.started_at + settledMs + 1 - this.now() : 0
    if (pauseMs > 0) this.segments.lookLater(orgRow, flowRow, pauseMs)
  }
}
