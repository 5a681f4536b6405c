import type { Database } from 'bun:sqlite'
import { FlowPositions } from '../../../core/flow/positions.ts'
import type { Beside, FlowRuns, RunColumns } from '../../../modules/analytics/port.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { InRows } from '../../shared/in-rows.ts'
import {
  columnRunOf,
  columnsOfRuns,
  personHash,
} from '../../sqlite/engine/column-segments/run-columns.ts'
import { startedWithin } from '../../sqlite/engine/column-segments/run-history.ts'
import { decodeSegment } from '../../sqlite/engine/column-segments/segment-bytes.ts'
import type { Postgres, Queries } from '../database/connection.ts'
import { inSlices, pages } from '../database/pages.ts'
import {
  beginningAt,
  isTicked,
  type Place,
  pageOfRuns,
  type Within,
} from '../segments/run-pages.ts'
import { columnsWithin, type SegmentRow } from '../segments/segments.ts'

/** Rows that a statement reads: so many that round trips count for little. */
const pageRows = 4_096

/** Runs that become columns before others get their turn, which takes a millisecond or two. */
const sliceRuns = 512

/** Segments that a statement reads, each of some 150 KB. */
const segmentsAtOnce = 8

/** From this many runs that are read as rows, segments are worth making. */
const worthSealing = 4_096

/** What is asked for, and the snapshot to read it from. */
interface Asked {
  snapshot: Queries
  flow: InRows<FlowRuns>
  within: Within
  beside: Beside<number> | undefined
}

/** Asks for segments to be made of a flow's settled runs. */
export type Seal = (orgRow: number, flowRow: number) => void

/**
 * The runs of a flow as columns: from segments if there are any, otherwise made from their rows.
 *
 * It reads a snapshot, so that no run is missed or counted twice when its start changes, or a segment is
 * made or deleted meanwhile.
 */
export class RunHistory {
  private readonly hash: (person: string) => bigint

  /** @param copy the node's own, for the seed with which people are hashed; all nodes have the same */
  constructor(
    private readonly postgres: Postgres,
    copy: Database,
    private readonly seal: Seal,
  ) {
    this.hash = personHash(copy)
  }

  /** Runs that started in [from, to), ascending by start. */
  between(
    flow: InRows<FlowRuns>,
    from: number,
    to: number,
    beside?: Beside<number>,
  ): AsyncGenerator<RunColumns> {
    const within = { orgRow: flow.orgRef, flowRow: flow.flowRef, from, to }
    return this.postgres.asOfOneMoment(snapshot => this.read({ snapshot, flow, within, beside }))
  }

  private async *read(asked: Asked): AsyncGenerator<RunColumns> {
    const { snapshot, flow, within, beside } = asked
    const { orgRow, flowRow } = within
    const rows = this.rowsOf(asked, await isTicked(snapshot, orgRow, flowRow))
    // Segments do not know when a step was seen.
    if (beside?.late || beside?.hasWays) return yield* rows.between(within)
    let at = within.from
    const next = ({ from_at }: Pick<SegmentRow, 'from_at'>) =>
      columnsWithin(snapshot, within, from_at, segmentsAtOnce)
    const slices = new TimeSlices(true)
    for await (const segments of pages(
      next,
      { from_at: Number.MIN_SAFE_INTEGER },
      segmentsAtOnce,
    )) {
      for (const { from_at, to_at, flow_versions, columns } of segments) {
        if (flow_versions !== null && flow_versions !== flow.versions.length) continue
        if (from_at > at) yield* rows.between({ ...within, from: at, to: from_at })
        await slices.rest()
        const sealed = startedWithin(decodeSegment(columns, from_at), within.from, within.to)
        if (sealed.count > 0) yield sealed
        at = to_at
      }
    }
    if (at < within.to) yield* rows.between({ ...within, from: at })
    if (rows.count >= worthSealing) this.seal(orgRow, flowRow)
  }

  /** Reads rows, and counts them. */
  private rowsOf({ snapshot, flow, beside }: Asked, hasTicks: boolean) {
    const positions = new FlowPositions(flow)
    const hash = this.hash
    return {
      count: 0,
      async *between(within: Within): AsyncGenerator<RunColumns> {
        const next = (after: Place) => pageOfRuns(snapshot, within, after, pageRows, hasTicks)
        const rows = pages(next, beginningAt(within.from), pageRows)
        for await (const slice of inSlices(rows, sliceRuns, new TimeSlices(true))) {
          this.count += slice.length
          const runs = slice.map(row => columnRunOf(row, hash))
          yield* columnsOfRuns(runs, positions, beside)
        }
      },
    }
  }
}
