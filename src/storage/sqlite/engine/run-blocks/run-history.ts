import type { Database } from 'bun:sqlite'
import { FlowPositions } from '../../../../core/run/positions.ts'
import { Semaphore, TimeSlices } from '../../../../scheduling/cooperative.ts'
import type * as ports from '../../../interfaces/analytics.ts'
import { type RunColumns, takeRuns } from '../../../interfaces/analytics.ts'
import type { InRows } from '../../../shared/in-rows.ts'
import { decodeBlock } from './block-bytes.ts'
import { maxBlockMs } from './block-maker.ts'
import { columnsOfRuns, RunPages } from './run-columns.ts'

type FlowRuns = InRows<ports.FlowRuns>

function statements(database: Database) {
  return {
    blocks: database.query<
      { id: number; from_at: number; to_at: number },
      [number, number, from: number, to: number, versions: number]
    >(
      `select id, from_at, to_at from run_blocks
      where org_id = ?1 and flow_id = ?2 and from_at > ?3 - ${maxBlockMs} and to_at > ?3
        and from_at < ?4 and coalesce(flow_versions, ?5) = ?5
      order by from_at`,
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
function startedWithin(columns: RunColumns, from: number, to: number): RunColumns {
  const first = firstFrom(columns.starts, from - columns.from)
  const end = firstFrom(columns.starts, to - columns.from)
  if (first === 0 && end === columns.count) return columns
  return takeRuns(
    columns,
    Uint32Array.from({ length: end - first }, (_, i) => first + i),
  )
}

/**
 * The runs of a flow as columns: from blocks where there are any, otherwise made from their rows.
 *
 * It reads a snapshot, so that no run is missed or counted twice when a block is made or deleted
 * meanwhile. It uses a connection of its own, because nothing else should read that snapshot. The snapshot
 * is held for as long as an answer takes, which is well under a second for flows in blocks. A connection has one
 * snapshot at a time, so readings take turns: requests, the operator's socket and weekly reports.
 */
export class RunHistory {
  private readonly sql: ReturnType<typeof statements>
  private readonly pages: RunPages
  private readonly turns = new Semaphore(1)

  constructor(private readonly database: Database) {
    this.sql = statements(database)
    this.pages = new RunPages(database)
  }

  /** Runs that started in [from, to), ascending by start. */
  async *between(
    flow: FlowRuns,
    from: number,
    to: number,
    withPaths = false,
  ): AsyncGenerator<RunColumns> {
    await this.turns.enter()
    try {
      this.database.run('begin')
      const slices = new TimeSlices(true)
      for (const columns of this.read(flow, from, to, withPaths)) {
        if (columns.count > 0) yield columns
        await slices.rest()
      }
    } finally {
      if (this.database.inTransaction) this.database.run('commit')
      this.turns.leave()
    }
  }

  private *read(
    flow: FlowRuns,
    from: number,
    to: number,
    withPaths: boolean,
  ): Generator<RunColumns> {
    const { orgRef: orgRow, flowRef: flowRow, versions } = flow
    const positions = new FlowPositions(flow)
    // Blocks do not know when a step was seen.
    if (withPaths) return yield* this.ofRows(flow, positions, from, to, true)
    let at = from
    for (const block of this.sql.blocks.all(orgRow, flowRow, from, to, versions.length)) {
      if (block.from_at > at) yield* this.ofRows(flow, positions, at, block.from_at)
      const { columns } = this.sql.columns.get(block.id, orgRow)!
      yield startedWithin(decodeBlock(columns), from, to)
      at = block.to_at
    }
    if (at < to) yield* this.ofRows(flow, positions, at, to)
  }

  private *ofRows(
    { orgRef: orgRow, flowRef: flowRow }: FlowRuns,
    positions: FlowPositions<number>,
    from: number,
    to: number,
    withPaths = false,
  ): Generator<RunColumns> {
    for (const page of this.pages.between(orgRow, flowRow, from, to)) {
      yield* columnsOfRuns(page, positions, withPaths)
    }
  }
}
