import type { Database } from 'bun:sqlite'
import type { AppendOutcome, EventBatch } from '../../../core/event/event.ts'
import { failing } from '../../../failpoints.ts'
import type { ProgressLedger } from '../../interfaces/checklists.ts'
import type { EventLedger, JudgedEvent } from '../../interfaces/events.ts'
import type { Room } from '../../interfaces/gate.ts'
import type { FingerprintReport, FingerprintVerdict, HealthReport } from '../../interfaces/steps.ts'
import { LogUnavailable } from '../../log/log.ts'
import type { InRows, NewEvent } from '../../shared/in-rows.ts'
import { isPassing } from '../engine/savepoint.ts'
import type { Storage } from '../storage.ts'
import type { CommandResult, StorageCommand } from './command.ts'
import { bufferIsFull, cannotWrite } from './not-stored.ts'

/** After this long a version is recorded again, because another node may have recorded another one since. */
const repeatVersionMs = 10_000

/** How many bytes a call counts as, and each event of a batch besides its long texts: more than most have. */
const bytesOfCall = 512

type Ledger = Room & EventLedger & ProgressLedger

/** What requests ask of storage. As long as the buffer has room, they wait for their commit. */
export class StorageCalls implements InRows<Ledger> {
  /** The version that was last recorded from here, by organisation. */
  private readonly snippetVersions = new Map<number, { version: string; at: number }>()
  private readonly buffer

  /** @param ack `buffer`: events are acknowledged once they wait, not once they are committed */
  constructor(
    readonly storage: Storage,
    private readonly ack: 'commit' | 'buffer',
  ) {
    this.buffer = storage.live.buffer
  }

  requireRoom(): void {
    if (!this.buffer.hasRoom) throw bufferIsFull()
  }

  async append({ events, orgRef: orgRow, ...batch }: InRows<EventBatch>): Promise<AppendOutcome> {
    const command: StorageCommand = { type: 'append', orgRow, ...batch, events }
    if (this.ack === 'commit') return (await this.commit(command)) as AppendOutcome
    // A crash could otherwise lose far more acknowledged events than arrive in one flush interval.
    if (this.buffer.isRejecting) throw cannotWrite()
    this.submit(command, false)
    return { duplicates: [], deadLetters: [], erased: [] }
  }

  async complete({
    orgRef: orgRow,
    flowRef: flowRow,
    ...report
  }: InRows<Parameters<ProgressLedger['complete']>[0]>): Promise<{
    completedAt: number
    alreadyCompleted: boolean
  }> {
    const result = await this.commit({ type: 'complete', orgRow, flowRow, ...report })
    return result as { completedAt: number; alreadyCompleted: boolean }
  }

  async tick({
    orgRef: orgRow,
    flowRef: flowRow,
    ...report
  }: InRows<Parameters<ProgressLedger['tick']>[0]>): Promise<void> {
    const items = report.items.map(({ itemRef: itemRow, completed }) => ({ itemRow, completed }))
    await this.commit({ type: 'tick', orgRow, flowRow, ...report, items })
  }

  async recordHealth({
    orgRef: orgRow,
    stepRef: stepRow,
    ...report
  }: InRows<HealthReport>): Promise<void> {
    await this.commit({ type: 'health', orgRow, stepRow, ...report })
  }

  async recordFingerprint({
    orgRef: orgRow,
    stepRef: stepRow,
    ...report
  }: InRows<FingerprintReport>): Promise<FingerprintVerdict> {
    const result = await this.commit({ type: 'fingerprint', orgRow, stepRow, ...report })
    return result as FingerprintVerdict
  }

  /** Nearly every heartbeat repeats the version of the one before, which is not worth a commit. */
  recordSnippetVersion(orgRow: number, version: string, at: number): Promise<void> | undefined {
    const last = this.snippetVersions.get(orgRow)
    if (last?.version === version && at - last.at < repeatVersionMs) return
    return this.commit({ type: 'snippet_version', orgRow, version, at }).then(() => {
      this.snippetVersions.set(orgRow, { version, at })
    })
  }

  async recordRejection(orgRow: number, code: string, at: number): Promise<void> {
    await this.commit({ type: 'refusal', orgRow, code, at })
  }

  /**
   * Changes the tables; resolves once that is committed and synced, and other machines know of it.
   *
   * @param isInPassing whether nobody asks for it in the next moment, so that other machines are not waited for
   * @throws AppError `overloaded`
   */
  change<Result>(work: (database: Database) => Result, isInPassing = false): Promise<Result> {
    const { storage } = this
    return this.longWork(() => storage.change(() => work(storage.database), isInPassing))
  }

  /** Does work that takes longer, and reports its progress. @throws AppError `overloaded` */
  async longWork<Result, Progress>(
    work: (tell: (progress: Progress) => void) => Promise<Result>,
    tell: (progress: Progress) => void = () => {},
  ): Promise<Result> {
    const leave = this.enter(1, bytesOfCall)
    const gone = Promise.withResolvers<never>()
    /** A caller that takes no more progress stops waiting; the work goes on. */
    const report = (progress: Progress) => {
      try {
        tell(progress)
      } catch (error) {
        gone.reject(error)
      }
    }
    try {
      return await Promise.race([work(report), gone.promise])
    } catch (error) {
      throw isPassing(error) || error instanceof LogUnavailable ? cannotWrite(error) : error
    } finally {
      leave()
    }
  }

  /** Shows those who watch how events were judged. Never fails, and gives way to everything that has to be kept. */
  noteJudged(orgRow: number, events: readonly JudgedEvent[]): void {
    if (this.buffer.hasRoom) this.storage.noteJudged(orgRow, events)
  }

  /** Resolves once a command is committed and synced. @throws AppError `overloaded` */
  private async commit(command: StorageCommand): Promise<CommandResult> {
    return await this.submit(command, true)
  }

  /** @throws AppError `overloaded` */
  private readonly submit = failing(
    'http_request',
    (command: StorageCommand, isAwaited: boolean): Promise<CommandResult> => {
      const leave =
        command.type === 'append'
          ? this.enter(Math.max(1, command.events.length), bytesOf(command.events))
          : this.enter(1, bytesOfCall)
      // There is no time limit: a request given up here might still be committed, and the answer must not say
      // that nothing was kept. Storage itself gives up on a disk that refuses.
      const { promise, resolve, reject } = Promise.withResolvers<CommandResult>()
      this.storage.submit({
        command,
        isAwaited,
        resolve(result) {
          leave()
          resolve(result)
        },
        reject(error) {
          leave()
          if (isAwaited) reject(error)
        },
      })
      return promise
    },
  )

  /** Takes room in the buffer. @returns gives it back @throws AppError `overloaded` */
  private enter(events: number, bytes: number): () => void {
    const { buffer } = this
    if (!buffer.fits(events, bytes)) throw bufferIsFull()
    buffer.enter(events, bytes)
    return () => buffer.leave(events, bytes)
  }
}

/**
 * A character counts as a byte: this is exact for most text, off by a factor of three at most for other text,
 * and costs nothing.
 */
function bytesOf(events: readonly NewEvent[]): number {
  let bytes = bytesOfCall
  for (const { url, properties, answer } of events) {
    bytes += bytesOfCall + (url?.length ?? 0) + (properties?.length ?? 0) + (answer?.length ?? 0)
  }
  return bytes
}
