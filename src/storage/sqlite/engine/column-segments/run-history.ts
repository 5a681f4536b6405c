import type { Database } from 'bun:sqlite'
import { FlowPositions } from '../../../../core/flow/positions.ts'
import type * as ports from '../../../../modules/analytics/port.ts'
import { type RunColumns, takeRuns } from '../../../../modules/analytics/port.ts'
import { TimeSlices } from '../../../../scheduling/cooperative.ts'
import type { InRows } from '../../../shared/in-rows.ts'
import { columnsOfRuns, RunPages } from './run-columns.ts'
import { decodeSegment } from './segment-bytes.ts'

type FlowRuns = InRows<ports.FlowRuns>
type Beside = ports.Beside<number>

const nothingBeside: Beside = { late: null, hasWays: false }

interface SegmentRow {
  id: number
  from_at: number
  to_at: number
  flow_versions: number | null
}

function statements(database: Database) {
  return {
    segments: database.query<SegmentRow, [number, number, number, number]>(
      `select id, from_at, to_at, flow_versions from run_blocks
      where org_id = ? and flow_id = ? and from_at < ? and to_at > ? order by from_at`,
    ),
    columns: database.query<{ columns: Uint8Array }, [number, number]>(
      'select columns from run_blocks where id = ? and org_id = ?',
    ),
  }
}

/** The first place whose value is not below a bound. */
function firstFrom(ascending: Uint32Array, bound: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}

/** The runs of columns that started in [from, to). */
export function startedWithin(columns: RunColumns, from: number, to: number): RunColumns {
  const first = firstFrom(columns.starts, from - columns.from)
  const end = firstFrom(columns.starts, to - columns.from)
  if (first === 0 && end === columns.count) return columns
  return takeRuns(
    columns,
    Uint32Array.from({ length: end - first }, (_, i) => first + i),
  )
}

/**
 * The runs of a flow as columns: from segments where there are any, otherwise made from their rows.
 *
 * It reads a snapshot, so that no run is missed or counted twice when a segment is made or removed
 * meanwhile. It uses a connection of its own, because nothing else should read that snapshot. The snapshot
 * is held for as long as an answer takes, which is well under a second for flows in segments.
 */
export class RunHistory {
  private readonly sql: ReturnType<typeof statements>
  private readonly pages: RunPages

  constructor(private readonly database: Database) {
    this.sql = statements(database)
    this.pages = new RunPages(database)
  }

  /** Runs that started in [from, to), ascending by start. Only one reading at a time. */
  async *between(
    flow: FlowRuns,
    from: number,
    to: number,
    beside: Beside = nothingBeside,
  ): AsyncGenerator<RunColumns> {
    this.database.run('begin')
    try {
      const slices = new TimeSlices(true)
      for (const columns of this.read(flow, from, to, beside)) {
        if (columns.count > 0) yield columns
        await slices.rest()
      }
    } finally {
      this.database.run('commit')
    }
  }

  private *read(flow: FlowRuns, from: number, to: number, beside: Beside): Generator<RunColumns> {
    const { orgRef: orgRow, flowRef: flowRow, versions } = flow
    const positions = new FlowPositions(flow)
    // Segments do not know when a step was seen.
    if (beside.late || beside.hasWays) return yield* this.ofRows(flow, positions, from, to, beside)
    let at = from
    for (const segment of this.sql.segments.all(orgRow, flowRow, to, from)) {
      if (segment.flow_versions !== null && segment.flow_versions !== versions.length) continue
      if (segment.from_at > at) yield* this.ofRows(flow, positions, at, segment.from_at)
      const { columns } = this.sql.columns.get(segment.id, orgRow)!
      yield startedWithin(decodeSegment(columns, segment.from_at), from, to)
      at = segment.to_at
    }
    if (at < to) yield* this.ofRows(flow, positions, at, to)
  }

  private *ofRows(
    { orgRef: orgRow, flowRef: flowRow }: FlowRuns,
    positions: FlowPositions<number>,
    from: number,
    to: number,
    beside: Beside = nothingBeside,
  ): Generator<RunColumns> {
    for (const page of this.pages.between(orgRow, flowRow, from, to)) {
      yield* columnsOfRuns(page, positions, beside)
    }
  }
}
