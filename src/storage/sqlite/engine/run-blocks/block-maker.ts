import type { Database } from 'bun:sqlite'
import { stalledAfterMs } from '../../../../core/run/outcome.ts'
import { FlowPositions, type StepHistory } from '../../../../core/run/positions.ts'
import { dayMs, hourMs, minuteMs } from '../../../../core/time/durations.ts'
import { encodeBlock } from './block-bytes.ts'
import type { RunBlocks } from './run-blocks.ts'
import { RunColumnsBuilder, RunPages } from './run-columns.ts'

/** How long blocks are, milliseconds. Each length is a multiple of the next. */
const lengths = [32 * dayMs, 8 * dayMs, dayMs, 6 * hourMs, hourMs, 10 * minuteMs, minuteMs] as const

/** No block is longer. */
export const maxBlockMs = lengths[0]

export interface BlockPolicy {
  /** With fewer runs, reading rows is as quick as a block. */
  minRuns: number
  /** A longer block with more runs than this is divided. */
  maxRuns: number
  /** How long ago a run must have started, milliseconds: by then most runs have had all their events. */
  settledMs: number
}

export const defaultBlockPolicy: BlockPolicy = {
  minRuns: 256,
  maxRuns: 16_384,
  settledMs: 30 * minuteMs,
}

type OfFlow = [orgRow: number, flowRow: number]

function statements(database: Database) {
  return {
    flows: database.query<{ id: number; org_id: number }, []>('select id, org_id from flows'),
    nextStart: database.query<{ at: number | null }, [...OfFlow, number]>(
      'select min(started_at) as at from runs where org_id = ? and flow_id = ? and started_at >= ?',
    ),
    count: database.query<{ count: number }, [...OfFlow, from: number, to: number, most: number]>(
      `select count(*) as count from (
        select 1 from runs where org_id = ? and flow_id = ? and started_at >= ? and started_at < ?
        limit ?
      )`,
    ),
    block: database.query<{ flow_versions: number | null }, [...OfFlow, from: number, to: number]>(
      `select flow_versions from run_blocks
      where org_id = ? and flow_id = ? and from_at = ? and to_at = ?`,
    ),
  }
}

/** A flow that is being looked at. */
interface Look {
  orgRow: number
  flowRow: number
  /** Runs that started before this are old enough. */
  settledAt: number
  history: StepHistory<number>
}

/**
 * Makes blocks in pieces of one or two milliseconds, between which the server does its actual work.
 * A block covers the longest of the fixed stretches of time that has ended and has not too many runs.
 */
export class BlockMaker {
  private readonly sql: ReturnType<typeof statements>
  private readonly pages: RunPages
  /** At the start, and after another connection has written, blocks of any flow may be missing. */
  private knownDataVersion: number | null = null

  constructor(
    database: Database,
    private readonly blocks: RunBlocks,
    private readonly historyOf: (orgRow: number, flowRow: number) => StepHistory<number> | null,
    private readonly now: () => number,
    private readonly policy: BlockPolicy,
  ) {
    this.sql = statements(database)
    this.pages = new RunPages(database)
  }

  /** Looks once at each flow that may lack blocks. Yields what is to be done in a transaction, or null. */
  *work(): Generator<(() => void) | null> {
    const { changed, dataVersion } = this.blocks
    if (dataVersion !== this.knownDataVersion) {
      for (const { id, org_id } of this.sql.flows.all()) changed.set(id, org_id)
      this.knownDataVersion = dataVersion
    }
    for (const [flowRow, orgRow] of [...changed]) {
      changed.delete(flowRow)
      try {
        yield* this.ofFlow(orgRow, flowRow)
      } catch (error) {
        changed.set(flowRow, orgRow)
        throw error
      }
      yield null
    }
  }

  private *ofFlow(orgRow: number, flowRow: number): Generator<(() => void) | null> {
    const settledAt = this.now() - this.policy.settledMs
    const startFrom = (at: number) => this.sql.nextStart.get(orgRow, flowRow, at)!.at
    let start = startFrom(Number.MIN_SAFE_INTEGER)
    while (start !== null && start < settledAt) {
      const from = Math.floor(start / maxBlockMs) * maxBlockMs
      const history = this.historyOf(orgRow, flowRow)
      if (!history) return
      yield* this.cover({ orgRow, flowRow, settledAt, history }, from, 0)
      start = startFrom(from + maxBlockMs)
    }
    if (startFrom(settledAt) !== null) this.blocks.changed.set(flowRow, orgRow)
  }

  /** Covers a stretch of one of the lengths: with a block, or with shorter ones. */
  private *cover(look: Look, from: number, level: number): Generator<(() => void) | null> {
    const { orgRow, flowRow, settledAt, history } = look
    const { minRuns, maxRuns } = this.policy
    const to = from + lengths[level]!
    const block = this.sql.block.get(orgRow, flowRow, from, to)
    if (block && (block.flow_versions ?? history.versions.length) === history.versions.length)
      return
    const end = Math.min(to, settledAt)
    const runs = this.sql.count.get(orgRow, flowRow, from, end, block ? -1 : maxRuns + 1)!.count
    if (runs < minRuns) return
    if (block || (to <= settledAt && runs <= maxRuns)) return yield* this.make(look, from, to, runs)
    const length = lengths[level + 1]
    if (length === undefined) return
    yield null
    for (let at = from; at < end; at += length) yield* this.cover(look, at, level + 1)
  }

  private *make(
    { orgRow, flowRow, history }: Look,
    from: number,
    to: number,
    runs: number,
  ): Generator<(() => void) | null> {
    // Begun before others go first, because what changes from here on must be noticed.
    const draft = this.blocks.begin(orgRow, flowRow, from, to)
    yield null
    const builder = new RunColumnsBuilder(
      new FlowPositions(history),
      from,
      runs,
      this.now() - stalledAfterMs,
    )
    for (const page of this.pages.between(orgRow, flowRow, from, to)) {
      if (this.blocks.isStale(draft)) break
      for (const run of page) builder.add(run)
      yield null
    }
    // Looked at again, whether or not the block could be made and written.
    this.blocks.changed.set(flowRow, orgRow)
    if (this.blocks.isStale(draft)) return
    const columns = builder.finish()
    const bytes = encodeBlock(columns)
    const flowVersions = columns.dependsOnNewest ? history.versions.length : null
    yield () => this.blocks.write(draft, flowVersions, bytes)
  }
}
