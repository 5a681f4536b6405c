import type { Database } from 'bun:sqlite'
import type { Clock } from '../../core/time/clock.ts'
import { minuteMs } from '../../core/time/durations.ts'
import type { WriteBuffer } from '../shared/live-state.ts'
import type { StoredCatalogue } from './catalogue/catalogue.ts'
import { BlockMaker, type BlockPolicy } from './engine/run-blocks/block-maker.ts'
import type { RunBlocks } from './engine/run-blocks/run-blocks.ts'
import type { IdentityTable } from './organisations/identity-table.ts'
import type { PresenceTable } from './organisations/presence-table.ts'
import type { SharedRetention } from './replica/shared-retention.ts'
import type { ClockWatch } from './retention/clock-watch.ts'
import type { Retention, RetentionReport } from './retention/retention.ts'
import type { CommandExecutor } from './writer/commands.ts'
import type { Writer } from './writer/writer.ts'

/** How long blocks of runs are made in one go, and how long to wait once all are made, milliseconds. */
const blocksSliceMs = 2
export const idleBlocksMs = minuteMs

/** The same for deleting what was kept long enough. */
const retainSliceMs = 2
export const idleRetainMs = 10_000

/** How long the pause after a slice is, in slices: commits go first, and are not kept waiting for long. */
const busyBlocksPause = 20
const quietBlocksPause = 1
const busyRetainPause = 8
const quietRetainPause = 2

interface HousekeepingDeps {
  database: Database
  clock: Clock
  writer: Writer
  buffer: WriteBuffer
  executor: CommandExecutor
  catalogue: StoredCatalogue
  blocks: RunBlocks
  blockPolicy: BlockPolicy
  retention: Retention
  /** What is otherwise if several machines share the log; null for a server alone. */
  shared: SharedRetention | null
  clockWatch: ClockWatch
  presence: PresenceTable
  identity: IdentityTable
  onRetained?: (report: RetentionReport) => void
}

/** What storage does when nobody waits for it: a slice at a time, behind the commits. */
export class Housekeeping {
  private readonly blockMaker: BlockMaker
  private blocksUnderWay: Generator<(() => void) | null>
  private isStopped = false

  constructor(private readonly deps: HousekeepingDeps) {
    const { database, blocks, catalogue, clock, blockPolicy } = deps
    const historyOf = (orgRow: number, flowRow: number) => catalogue.flowByRow(orgRow, flowRow)
    this.blockMaker = new BlockMaker(database, blocks, historyOf, clock.now, blockPolicy)
    this.blocksUnderWay = this.blockMaker.work()
  }

  /** From now on, nothing is begun any more. */
  stop(): void {
    this.isStopped = true
  }

  /** Sets how many days raw events are kept, from the next slice on. */
  set retentionDays(days: number) {
    const { shared, retention } = this.deps
    if (shared) shared.days = days
    else retention.days = days
  }

  /** Writes what is only noted in memory: who was seen when, and how user hashes were judged. */
  async writePresence(): Promise<void> {
    const { buffer, presence, identity, writer } = this.deps
    // While storage refuses, this would only fill the log. What was seen stays in memory meanwhile.
    if (buffer.isRefused) return
    if (!presence.hasNews && !identity.hasNews) return
    await writer.change(
      () => this.writeSeen(),
      note => note(),
    )
  }

  /** The same within a transaction. @returns a function to call once that is committed */
  writeSeen(): () => void {
    const { presence, identity, clock } = this.deps
    const notes = [presence.write(), identity.write(clock.now())]
    return () => {
      for (const note of notes) note()
    }
  }

  /**
   * Makes blocks of settled runs, for one slice. To be called again after the pause that it returns,
   * milliseconds.
   */
  async makeBlocks(): Promise<number> {
    const { buffer, writer } = this.deps
    if (buffer.isRefused || this.isStopped) return idleBlocksMs
    const startedAt = performance.now()
    const elapsed = () => performance.now() - startedAt
    while (elapsed() < blocksSliceMs && !this.isStopped) {
      // What waits for the log may be rolled back, so it is in no block.
      await writer.idle()
      const { done, value: write } = this.blocksUnderWay.next()
      if (done) {
        this.blocksUnderWay = this.blockMaker.work()
        return idleBlocksMs
      }
      if (write) await writer.exclusively(write)
    }
    return elapsed() * (writer.isBusy ? busyBlocksPause : quietBlocksPause)
  }

  /**
   * Deletes what was kept long enough, for one slice, in a transaction of its own. To be called again after
   * the pause that it returns, milliseconds.
   */
  async retain(): Promise<number> {
    const { clockWatch, buffer, retention, writer } = this.deps
    if (!clockWatch.isSteady || buffer.isRefused || this.isStopped) return idleRetainMs
    if (this.deps.shared) {
      const startedAt = performance.now()
      const mayGoOn = () => performance.now() - startedAt < retainSliceMs
      if (await this.deps.shared.lead(mayGoOn)) return retainSliceMs * busyRetainPause
      await this.deps.shared.moveOn()
    }
    const piece = retention.next()
    if (!piece) return idleRetainMs
    const isBusy = writer.isBusy
    try {
      let elapsed = 0
      const deleted = await writer.exclusively(() => {
        const startedAt = performance.now()
        const events = piece(() => performance.now() - startedAt < retainSliceMs)
        elapsed = performance.now() - startedAt
        return events
      })
      const report = retention.reportOf(deleted)
      this.deps.onRetained?.(report)
      return elapsed * (isBusy || writer.isBusy ? busyRetainPause : quietRetainPause)
    } catch (error) {
      retention.startOver()
      throw error
    }
  }
}
