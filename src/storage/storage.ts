import type { Database } from 'bun:sqlite'
import type { Clock } from '../core/clock.ts'
import type { AppendOutcome, EventBatch } from '../core/ports.ts'
import { type BufferBounds, BufferGauge } from './buffer-gauge.ts'
import { StoredCatalogue } from './catalogue.ts'
import { CommandExecutor } from './commands.ts'
import { openForWriting } from './database.ts'
import { type Answer, Answers, Delivery } from './delivery.ts'
import { framesIn } from './frames.ts'
import { PresenceBoard } from './presence-board.ts'
import { PresenceRequests } from './presence-request.ts'
import { PresenceTable } from './presence-table.ts'
import type { SharedMemory } from './shared.ts'
import { type CommitReport, Writer, type WriterPolicy } from './writer.ts'

export interface StorageOptions {
  dataDir: string
  shared: SharedMemory
  clock: Clock
  bufferBounds: BufferBounds
  policy: WriterPolicy
  /** Called in every transaction, when all but the commit is done. */
  beforeCommit?: () => void
  onCommit?: (report: CommitReport) => void
  onAppended?: (batch: EventBatch, outcome: AppendOutcome) => void
  /** Storage refuses, or something was set aside. */
  onFault?: (error: unknown, what: string) => void
  /** Storage takes writes again after it had refused. */
  onHealed?: () => void
}

/** How long a stop tries to write what was acknowledged already (`ack=buffer`), milliseconds. */
const lastTriesMs = 30_000

/**
 * The one writer of a running server, over a database that is prepared: it takes messages, commits
 * them in groups, and watches for what other processes (the command line) have changed.
 */
export class Storage {
  readonly database: Database
  private readonly writer: Writer
  private readonly executor: CommandExecutor
  private readonly catalogue: StoredCatalogue
  private readonly presence: PresenceTable
  private readonly presenceRequests: PresenceRequests
  private readonly gauge: BufferGauge
  private readonly answers = new Answers()
  private readonly generation: Int32Array
  private readonly dataVersion
  private readonly newestChange
  private readonly confirmChange
  private readonly noteProbe
  private knownDataVersion = 0
  private knownChange = 0
  private confirmedChange = 0

  constructor(private readonly options: StorageOptions) {
    this.database = openForWriting(options.dataDir)
    this.catalogue = new StoredCatalogue(this.database)
    this.presence = new PresenceTable(this.database, new PresenceBoard(options.shared.presence))
    this.presenceRequests = new PresenceRequests(this.database)
    this.gauge = new BufferGauge(options.shared.buffer, options.bufferBounds)
    this.generation = new Int32Array(options.shared.generation)
    this.executor = new CommandExecutor(this.database, this.catalogue, this.presence)
    this.writer = new Writer(this.database, this.executor, options.policy, {
      ...options,
      onBegin: () => this.noticeChanges(),
      onSettled: () => this.answers.send(),
      onRefusing: isRefused => {
        this.gauge.isRefused = isRefused
        if (!isRefused) options.onHealed?.()
      },
    })
    this.dataVersion = this.database.query<{ data_version: number }, []>('pragma data_version')
    this.newestChange = this.database.query<{ seq: number }, []>(
      'select coalesce(max(seq), 0) as seq from catalogue_changes',
    )
    this.confirmChange = this.database.query(
      `insert into server_state (name, value) values ('catalogue_seq', ?)
      on conflict do update set value = excluded.value`,
    )
    this.noteProbe = this.database.query(
      `insert into server_state (name, value) values ('probe', 0)
      on conflict do update set value = value + 1`,
    )
    this.takeUpChanges()
  }

  /**
   * Executes what a client's message holds. `answer` is called with what became of it once it is
   * committed and synced, for all of a commit at once.
   */
  handle(message: string, answer: Answer): void {
    for (const command of framesIn(message)) {
      this.writer.submit(new Delivery(command, answer, this.answers, this.gauge))
    }
  }

  /**
   * Looks whether another process has changed the catalogue, and tells that process once all
   * threads know; or wants to know who was seen. To be called every so often; costs a pragma where
   * nothing has changed.
   */
  async watch(): Promise<void> {
    this.takeUpChanges()
    if (this.presenceRequests.isOpen) await this.writePresence()
  }

  private takeUpChanges(): void {
    // A server that is not ready gets no traffic: without a try of its own it would never heal.
    this.writer.probe(() => this.noteProbe.run())
    this.noticeChanges()
    if (this.confirmedChange === this.knownChange) return
    this.confirmChange.run(this.knownChange)
    this.confirmedChange = this.knownChange
  }

  /** Also at the begin of every transaction: what it stores must be judged by what it can see. */
  private noticeChanges(): void {
    const version = this.dataVersion.get()?.data_version ?? 0
    if (version === this.knownDataVersion) return
    const newest = this.newestChange.get()?.seq ?? 0
    if (newest !== this.knownChange) this.refreshCatalogue()
    this.executor.othersWrote()
    this.presenceRequests.look()
    // Known only once all is done: what fails is tried again.
    this.knownChange = newest
    this.knownDataVersion = version
  }

  /** Has every thread load again what `catalogue_changes` names. */
  refreshCatalogue(): void {
    this.catalogue.refresh()
    Atomics.add(this.generation, 0, 1)
  }

  /** Writes what is only noted in memory: who was seen when. */
  async writePresence(): Promise<void> {
    // A storage that refuses would only fill the log: what was seen stays in memory meanwhile.
    if (this.gauge.isRefused) return
    if (!this.presence.hasNews() && !this.presenceRequests.isOpen) return
    const committed = await this.writer.exclusively(() => [
      this.presence.write(),
      this.presenceRequests.answer(),
    ])
    for (const note of committed) note()
  }

  /** Commits all that waits; the number of commands that could not be. */
  flush(): Promise<number> {
    return this.writer.flush()
  }

  /**
   * Flushes, checkpoints and closes.
   *
   * @throws Error where something that was acknowledged (`ack=buffer`) cannot be written
   */
  async close(): Promise<void> {
    let unwritten = await this.writer.flush()
    const deadline = performance.now() + lastTriesMs
    while (unwritten > 0 && performance.now() < deadline) {
      await Bun.sleep(500)
      unwritten = await this.writer.flush()
    }
    if (unwritten > 0) throw new Error(`${unwritten} acknowledged batches could not be written`)
    try {
      await this.writer.exclusively(() => this.presence.write())
      this.database.run('pragma wal_checkpoint(truncate)')
    } catch (error) {
      // Nothing that was promised: the log is replayed at the next start.
      this.options.onFault?.(error, 'the last checkpoint was left out')
    }
    this.database.close()
  }
}
