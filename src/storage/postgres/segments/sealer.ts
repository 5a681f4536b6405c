import type { Database } from 'bun:sqlite'
import { FlowPositions, type StepHistory } from '../../../core/flow/positions.ts'
import { hourMs } from '../../../core/time/durations.ts'
import {
  type ColumnRow,
  columnRunOf,
  longestColumns,
  personHash,
  RunColumnsBuilder,
} from '../../sqlite/engine/column-segments/run-columns.ts'
import { encodeSegment } from '../../sqlite/engine/column-segments/segment-bytes.ts'
import type { Queries } from '../database/connection.ts'
import { lockOrganisation } from '../ledger/lock.ts'
import type { Transactions } from '../writer/transactions.ts'
import { beginningAt, isTicked, pageOfRuns, type Within } from './run-pages.ts'
import { segmentsWithin, writeSegment } from './segments.ts'

export interface SealPolicy {
  /** How many runs a segment holds. */
  runsPerSegment: number
  /** How long ago a run must have begun, milliseconds. By then most runs get no more events. */
  settledMs: number
  /** The pause after each segment, in which an organisation's writers are undisturbed, milliseconds. */
  pauseMs: number
}

export const defaultSealPolicy: SealPolicy = {
  runsPerSegment: 4_096,
  settledMs: hourMs,
  pauseMs: 50,
}

/** What the sealer needs from the rest of storage. */
export interface SealerParts {
  /**
   * Of a pool for which PostgreSQL ends the transactions of a node that was stopped. Otherwise an organisation's
   * writers would wait for that node.
   */
  transactions: Transactions
  /** The node's copy of what management keeps; only read. */
  reading: Database
  /** The flow as the node's catalogue has it. */
  flowOf(orgRow: number, flowRow: number): StepHistory<number> | null
  /** Brings the catalogue up to this change at least. */
  upToDate(change: number): Promise<unknown>
  now(): number
  onFault?(error: unknown, what: string): void
}

/** Earlier than anything that can happen. */
const ever = Number.MIN_SAFE_INTEGER

/**
 * Makes segments of a flow's settled runs, once somebody has asked for its numbers. A flow that nobody asks for
 * costs nothing.
 *
 * Each segment is made in a transaction of its own, which locks the organisation. So nobody changes a run
 * meanwhile, and whoever changes one later finds the segment and deletes it. The lock holds writers up for as
 * long as it takes to read some thousand rows.
 */
export class Sealer {
  private last: Promise<unknown> = Promise.resolve()
  private isStopped = false

  constructor(
    private readonly parts: SealerParts,
    private readonly policy: SealPolicy = defaultSealPolicy,
  ) {}

  /** Seals one flow after the other. @returns how many segments of the flow were made, once none is missing */
  seal(orgRow: number, flowRow: number): Promise<number> {
    const made = this.last.then(() => this.sealFlow(orgRow, flowRow))
    this.last = made.catch(error => {
      if (!this.isStopped) this.parts.onFault?.(error, 'runs were not sealed')
    })
    return made
  }

  /** Begins no further segment. */
  stop(): void {
    this.isStopped = true
  }

  private async sealFlow(orgRow: number, flowRow: number): Promise<number> {
    const { transactions } = this.parts
    let made = 0
    for (let from: number | null = ever; from !== null && !this.isStopped; ) {
      const after: number = from
      from = await transactions.run(queries => this.sealNext(queries, orgRow, flowRow, after))
      if (from === null) break
      made++
      await Bun.sleep(this.policy.pauseMs)
    }
    return made
  }

  /** @returns where the new segment ends; null if none is missing from there on */
  private async sealNext(
    transaction: Queries,
    orgRow: number,
    flowRow: number,
    after: number,
  ): Promise<number | null> {
    const { change } = await lockOrganisation(transaction, orgRow)
    await this.parts.upToDate(change)
    const flow = this.parts.flowOf(orgRow, flowRow)
    if (!flow) return null
    const hasTicks = await isTicked(transaction, orgRow, flowRow)
    const versions = flow.versions.length
    const of = { orgRow, flowRow }
    const end = this.parts.now() - this.policy.settledMs
    const segments = await segmentsWithin(transaction, { ...of, from: after, to: end })
    const good = segments.filter(
      row => row.flow_versions === null || row.flow_versions === versions,
    )
    for (let at = after, place = 0; at < end; place++) {
      const next = good[place]
      const gap = { ...of, from: at, to: next?.from_at ?? end }
      at = next?.to_at ?? end
      const isClosed = gap.from > ever && next !== undefined
      const stretch = await this.stretchOf(transaction, gap, isClosed, hasTicks)
      if (stretch === null) continue
      const { runs, ...within } = stretch
      await writeSegment(transaction, within, this.segmentOf(runs, within.from, flow))
      return within.to
    }
    return null
  }

  /**
   * The part at the beginning of a gap that is to be a segment, with its runs; null if there are too few.
   *
   * @param isClosed whether it is between two segments: then what is left there becomes one, however little it is
   */
  private async stretchOf(
    transaction: Queries,
    gap: Within,
    isClosed: boolean,
    hasTicks: boolean,
  ): Promise<(Within & { runs: readonly ColumnRow[] }) | null> {
    const { runsPerSegment } = this.policy
    // Otherwise runs that come in between would leave a segment of their own each time.
    const most = isClosed ? 2 * runsPerSegment : runsPerSegment
    for (let { from } = gap; from < gap.to; ) {
      const runs = await pageOfRuns(transaction, gap, beginningAt(from), most + 1, hasTicks)
      const [first] = runs
      const isAll = runs.length <= most
      if (!first || (isAll && !isClosed)) return null
      const next = isAll ? undefined : runs[runsPerSegment]
      // Runs that share a millisecond share a segment. If there are too many of them for one, they stay rows.
      if (next?.started_at === first.started_at) {
        from = first.started_at + 1
        continue
      }
      // It begins where the last segment ends, so that nothing is left between the two.
      if (first.started_at - from >= longestColumns) from = first.started_at
      const to = Math.min(next?.started_at ?? gap.to, from + longestColumns)
      return { ...gap, from, to, runs: runs.filter(run => run.started_at < to) }
    }
    return null
  }

  private segmentOf(runs: readonly ColumnRow[], from: number, flow: StepHistory<number>) {
    const builder = new RunColumnsBuilder(
      new FlowPositions(flow),
      ...([from, runs.length, Number.NEGATIVE_INFINITY] as const),
    )
    const hash = personHash(this.parts.reading)
    for (const run of runs) builder.add(columnRunOf(run, hash))
    const columns = builder.finish()
    const flowVersions = columns.dependsOnNewest ? flow.versions.length : null
    return { runs: runs.length, flowVersions, columns: encodeSegment(columns) }
  }
}
