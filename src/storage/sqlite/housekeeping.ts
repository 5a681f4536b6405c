import type { Database } from 'bun:sqlite'
import type { Clock } from '../../core/time/clock.ts'
import { minuteMs } from '../../core/time/durations.ts'
import type { WriteBuffer } from '../shared/live-state.ts'
import type { StoredCatalogue } from './catalogue/catalogue.ts'
import { BlockMaker, type BlockPolicy } from './engine/run-blocks/block-maker.ts'
import type { RunBlocks } from './engine/run-blocks/run-blocks.ts'
import type { PresenceTable } from './organisations/presence-table.ts'
import type { UserHashes } from './organisations/user-hashes.ts'
import type { LogRetention } from './replica/log-retention.ts'
import type { ClockWatch } from './retention/clock-watch.ts'
import type { Retention, RetentionPiece, RetentionReport } from './retention/retention.ts'
import type { CommandExecutor } from './writer/commands.ts'
import type { Writer } from './writer/writer.ts'

/** How long blocks of runs are made in one go, and how long to wait once all are made, milliseconds. */
const blocksSliceMs = 2
export const idleBlocksMs = minuteMs

/** The same for deleting what was kept long enough. */
const retainSliceMs = 2
export const idleRetainMs = minuteMs

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
  /** Null for a server alone. */
  logRetention: LogRetention | null
  /** Changes what all machines share. */
  change: <T>(work: () => T, isInPassing: boolean) => Promise<T>
  clockWatch: ClockWatch
  presence: PresenceTable
  userHashes: UserHashes
  onRetained?: (report: RetentionReport) => void
}

/** What storage does when nobody waits for it: a slice at a time, behind the commits. */
export class Housekeeping {
  private readonly blockMaker: BlockMaker
  private blocksUnderWay: Generator<(() => void) | null>
  /** Null until the next walk begins. */
  private retaining: Generator<RetentionPiece | null> | null = null
  /** Whether this machine says which rows are old. */
  private isLeading = true
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

  /** Sets how many days raw events are kept. */
  set retentionDays(days: number) {
    this.deps.retention.policy.days = days
    this.retaining = null
  }

  /** Writes what is only noted in memory: who was seen when, and how user hashes were judged. */
  async writePresence(): Promise<void> {
    const { buffer, presence, userHashes, writer } = this.deps
    // While storage refuses, this would only fill the log. What was seen stays in memory meanwhile.
    if (buffer.isRejecting) return
    if (!presence.hasNews && !userHashes.hasNews) return
    await writer.change(
      () => this.writeSeen(),
      note => note(),
    )
  }

  /** The same within a transaction. @returns a function to call once that is committed */
  writeSeen(): () => void {
    const { presence, userHashes, clock } = this.deps
    const notes = [presence.write(), userHashes.write(clock.now())]
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
    if (buffer.isRejecting || this.isStopped) return idleBlocksMs
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
    const { clockWatch, buffer, writer, logRetention } = this.deps
    if (!clockWatch.isSteady || buffer.isRejecting || this.isStopped) return idleRetainMs
    if (this.retaining === null) this.isLeading = (await logRetention?.leads()) ?? true
    this.retaining ??= this.deps.retention.walk(this.isLeading)
    const walk = this.retaining
    const isBusy = writer.isBusy
    const startedAt = performance.now()
    const mayGoOn = () => performance.now() - startedAt < retainSliceMs
    try {
      // What waits for the log may be rolled back.
      await writer.idle()
      do {
        const { done, value: piece } = walk.next()
        if (done) {
          this.retaining = null
          if (this.isLeading) await logRetention?.deleteFromLog()
          this.report(0)
          return idleRetainMs
        }
        if (piece) await this.doPiece(piece, mayGoOn)
      } while (mayGoOn())
      const elapsed = performance.now() - startedAt
      return elapsed * (isBusy || writer.isBusy ? busyRetainPause : quietRetainPause)
    } catch (error) {
      this.retaining = null
      throw error
    }
  }

  /** Deletes from this machine's ledger all that is to be deleted there. */
  async retainHere(): Promise<void> {
    for (const piece of this.deps.retention.dueHere()) {
      const startedAt = performance.now()
      await this.doPiece(piece, () => performance.now() - startedAt < retainSliceMs)
      await Bun.sleep(0)
    }
  }

  private async doPiece(piece: RetentionPiece, mayGoOn: () => boolean): Promise<void> {
    if (piece.isShared) await this.deps.change(() => piece.do(mayGoOn), true)
    else this.report(await this.deps.writer.exclusively(() => piece.do(mayGoOn)))
  }

  private report(deleted: number): void {
    this.deps.onRetained?.(this.deps.retention.reportOf(deleted))
  }
}
