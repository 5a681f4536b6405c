import type { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import type { Clock } from '../core/time/clock.ts'
import { failpoint } from '../failpoints.ts'
import { type ActivityCall, LiveActivity } from './activity/live-activity.ts'
import { WatchBoard } from './activity/watch-board.ts'
import { type AuthorCall, AuthorSessions, callAuthor } from './author/author-sessions.ts'
import { callPreviews, type PreviewCall, PreviewLinks } from './author/previews.ts'
import { StoredCatalogue } from './catalogue/catalogue.ts'
import { ColumnSegments } from './column-segments/column-segments.ts'
import {
  defaultSealPolicy,
  type SealedSegment,
  Sealer,
  type SealPolicy,
} from './column-segments/sealer.ts'
import { databaseFile, openForWriting } from './database/database.ts'
import { isPassing } from './engine/savepoint.ts'
import { Echo } from './erasure/echo.ts'
import { ErasedPeople } from './erasure/erased-people.ts'
import { Withholding } from './erasure/withheld.ts'
import { IdentityTable } from './organisations/identity-table.ts'
import { PresenceTable } from './organisations/presence-table.ts'
import { Following } from './projections/following.ts'
import { ClockWatch } from './retention/clock-watch.ts'
import { Retention, type RetentionPolicy, type RetentionReport } from './retention/retention.ts'
import {
  type BufferBounds,
  BufferGauge,
  IdentityBoard,
  LagBoard,
  PresenceBoard,
  ProgressBoard,
  type SharedMemory,
} from './shared.ts'
import { CommandExecutor, type CommandResult, type StorageCommand } from './writer/commands.ts'
import {
  type Answer,
  Answers,
  cannotWrite,
  framesIn,
  PendingWrite,
  type ProjectCall,
} from './writer/messages.ts'
import {
  type Operation,
  operate,
  operationsOver,
  type StorageOperations,
} from './writer/operations.ts'
import { type WriteObserver, Writer, type WriterPolicy } from './writer/writer.ts'

/** Which file a path leads to; null where to none. */
function fileAt(path: string): string | null {
  try {
    const { dev, ino } = statSync(path)
    return `${dev} ${ino}`
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

/**
 * Whether the files that a connection has open are still those of the data directory. Removed or
 * replaced files take writes and syncs as ever, and nobody finds what they hold again: SQLite itself
 * does not look, with a write-ahead log.
 */
class FilesInPlace {
  private readonly files: readonly { path: string; opened: string | null }[]

  /** To be made while the database and its log are open. */
  constructor(dataDir: string) {
    const database = databaseFile(dataDir)
    this.files = [database, `${database}-wal`].map(path => ({ path, opened: fileAt(path) }))
  }

  /** @throws Error with the code that SQLite has for this, where a file was removed or replaced */
  assert(): void {
    for (const { path, opened } of this.files) {
      let found = opened
      try {
        found = fileAt(path)
      } catch {
        // Rights taken away from an open file do not matter, and a sick disk tells its own faults.
      }
      if (found === opened) continue
      const what = found === null ? 'is gone' : 'was replaced'
      throw Object.assign(new Error(`${path} ${what} while it was open`), {
        code: 'SQLITE_READONLY_DBMOVED',
      })
    }
  }
}

/** Is told of what is written, and of what is deleted after its time. */
export interface StorageObserver extends WriteObserver {
  retained(report: RetentionReport): void
}

export interface StorageOptions {
  dataDir: string
  shared: SharedMemory
  clock: Clock
  bufferBounds: BufferBounds
  policy: WriterPolicy
  sealing?: SealPolicy
  retention: RetentionPolicy
  /** Another program writes the log back (`checkpoints`), and this one only where that seems dead. */
  isLogKept?: boolean
  observer?: StorageObserver
  /** The wall clock was set, by so many milliseconds: for an hour nothing is deleted for its age. */
  onClockSet?: (byMs: number) => void
  /** Storage refuses, or something was set aside. */
  onFault?: (error: unknown, what: string) => void
  /** Storage takes writes again after it had refused. */
  onHealed?: () => void
  /** What is stored is no longer what is known here: only a new start helps. */
  onDivergence?: (error: unknown) => void
}

/** How long column segments are made in one go, and when to look again where none are due, milliseconds. */
const sealSliceMs = 2
export const idleSealMs = 500

/** The same of deleting what was kept long enough. */
const retainSliceMs = 2
export const idleRetainMs = 10_000

/** How long a pause is that follows, in slices: commits go first, and are not kept waiting for long. */
const busySealPause = 20
const quietSealPause = 1
const busyRetainPause = 8
const quietRetainPause = 2

/** SQLite tries to write a log of so many pages back; one with more than so many more has something in its way. */
const usualLogPages = 1_000
const overdueLogPages = 1_000

/** How long a stop tries to write what was acknowledged already (`ack=buffer`), milliseconds. */
const lastTriesMs = 30_000

/** A log that nobody else has written back by then has lost its keeper: 1 GiB. */
const mostLogPages = 2 ** 18

/** How long its last checkpoint waits for readers, milliseconds: what it leaves, the next start has. */
const lastCheckpointMs = 250

const isOperation = (pending: PendingWrite): pending is PendingWrite<Operation> =>
  pending.command.type === 'operation'

const isOfProjections = (pending: PendingWrite): pending is PendingWrite<ProjectCall> =>
  pending.command.type === 'project'

const isOfActivity = (pending: PendingWrite): pending is PendingWrite<ActivityCall> =>
  pending.command.type === 'activity'

const isOfAuthor = (pending: PendingWrite): pending is PendingWrite<AuthorCall> =>
  pending.command.type === 'author'

const isOfPreviews = (pending: PendingWrite): pending is PendingWrite<PreviewCall> =>
  pending.command.type === 'preview'

/**
 * The one writer of a running server, over a database that is prepared: it takes messages, commits
 * them in groups, and watches for what other processes (the command line) have changed.
 */
export class Storage {
  readonly database: Database
  private readonly writer: Writer
  private readonly executor: CommandExecutor
  private readonly following: Following
  private readonly withholding: Withholding
  private readonly catalogue: StoredCatalogue
  private readonly presence: PresenceTable
  private readonly identity: IdentityTable
  private readonly operations: StorageOperations
  private readonly gauge: BufferGauge
  private readonly segments: ColumnSegments
  private readonly sealer: Sealer
  private sealing: Generator<SealedSegment | null>
  private readonly retention: Retention
  private readonly clockWatch: ClockWatch
  private readonly answers = new Answers()
  private readonly activity: LiveActivity
  private readonly authors = new AuthorSessions()
  private readonly previews = new PreviewLinks()
  private readonly generation: Int32Array
  private readonly dataVersion
  private readonly newestChange
  private readonly noteProbe
  private knownDataVersion = 0
  private knownChange = 0
  private isClosing = false
  private isLogStuck = false
  /** How long the log becomes before it is written back. */
  private readonly logPages: number

  constructor(private readonly options: StorageOptions) {
    this.database = openForWriting(options.dataDir)
    this.logPages = options.isLogKept ? mostLogPages : usualLogPages
    this.database.run(`pragma wal_autocheckpoint = ${this.logPages}`)
    this.catalogue = new StoredCatalogue(this.database)
    this.presence = new PresenceTable(this.database, new PresenceBoard(options.shared.presence))
    this.identity = new IdentityTable(this.database, new IdentityBoard(options.shared.identity))
    this.gauge = new BufferGauge(options.shared.buffer, options.bufferBounds)
    this.generation = new Int32Array(options.shared.generation)
    const sealing = options.sealing ?? defaultSealPolicy
    const { now, monotonic } = options.clock
    this.activity = new LiveActivity(new WatchBoard(options.shared.watch), monotonic, now)
    this.segments = new ColumnSegments(this.database, monotonic, sealing)
    const historyOf = (orgRow: number, flowRow: number) => this.catalogue.flowByRow(orgRow, flowRow)
    this.sealer = new Sealer(this.database, this.segments, historyOf, now, sealing)
    this.sealing = this.sealer.work()
    const progress = new ProgressBoard(options.shared.progress)
    const lag = new LagBoard(options.shared.lag)
    this.executor = new CommandExecutor(
      this.database,
      this.catalogue,
      this.presence,
      this.segments,
      { progress, lag, now },
    )
    const echo = new Echo(options.shared.echo, database => {
      const segments = new ColumnSegments(database, monotonic, sealing)
      const boards = { progress, lag: new LagBoard(LagBoard.memory()), now }
      return new CommandExecutor(database, this.catalogue, this.presence, segments, boards)
    })
    this.withholding = new Withholding(this.executor, new ErasedPeople(this.database), echo)
    this.operations = operationsOver(this.database, options.dataDir, this.withholding, now, () =>
      this.writeSeen(),
    )
    this.retention = new Retention(this.database, this.executor.ids, now, { ...options.retention })
    this.clockWatch = new ClockWatch(options.clock, options.onClockSet)
    const files = new FilesInPlace(options.dataDir)
    this.writer = new Writer(this.database, this.withholding, options.policy, {
      ...options,
      beforeCommit: () => files.assert(),
      onBegin: () => this.noticeChanges(),
      onSettled: () => {
        this.answers.send()
        this.following.committed()
      },
      onRefusing: isRefused => {
        this.gauge.isRefused = isRefused
        if (!isRefused) options.onHealed?.()
      },
    })
    this.following = new Following(this.executor.follower, this.writer, (error, what) =>
      options.onFault?.(error, what),
    )
    this.dataVersion = this.database.query<{ data_version: number }, []>('pragma data_version')
    this.newestChange = this.database.query<{ seq: number }, []>(
      'select coalesce(max(seq), 0) as seq from catalogue_changes',
    )
    this.noteProbe = this.database.query(
      `insert into server_state (name, value) values ('probe', 0)
      on conflict do update set value = value + 1`,
    )
    // Where nothing can be written, nothing is begun.
    this.noteProbe.run()
    this.takeUpChanges()
    this.following.committed()
  }

  /** Takes messages of a thread that answers requests, and sends it the answers. */
  join(port: MessagePort): void {
    const answer = (lines: string) => port.postMessage(lines)
    port.onmessage = ({ data }: { data: string }) => this.handle(data, answer)
  }

  /**
   * Executes what a client's message holds. `answer` is called with what became of it once it is
   * committed and synced, for all of a commit at once.
   */
  handle(message: string, answer: Answer): void {
    for (const text of framesIn(message)) {
      const pending = new PendingWrite(text, answer, this.answers, this.gauge)
      if (isOperation(pending)) this.operate(pending)
      else if (isOfProjections(pending)) this.project(pending)
      else if (isOfActivity(pending)) this.look(pending)
      else if (isOfAuthor(pending)) this.inMemory(pending, call => callAuthor(this.authors, call))
      else if (isOfPreviews(pending)) {
        this.inMemory(pending, call => callPreviews(this.previews, call))
      } else this.writer.submit(pending as PendingWrite<StorageCommand>)
    }
  }

  /** Notes what arrived, or tells of it: in memory alone, and nothing of people who were erased. */
  private look(pending: PendingWrite<ActivityCall>): void {
    const { command } = pending
    try {
      // An erasure that another process has begun may not have been noticed yet.
      this.noticeChanges()
      if ('after' in command) {
        const told: unknown = this.activity.read(command.orgRow, command.after)
        pending.resolve(told as CommandResult)
      } else {
        const events = this.withholding.ofOthers(command.orgRow, command.events)
        this.activity.note(command.orgRow, events, command.left)
        pending.resolve(null)
      }
    } catch (error) {
      pending.reject(isPassing(error) ? cannotWrite(error) : error)
    }
    this.answers.send()
  }

  /** Tells once all is projected that is committed. */
  private async project(pending: PendingWrite<ProjectCall>): Promise<void> {
    await this.following.upToNow()
    pending.resolve(null)
    this.answers.send()
  }

  /** Resolves once all is projected that is committed. */
  projected(): Promise<void> {
    return this.following.upToNow()
  }

  /** Author sessions and links to previews are in memory alone. */
  private inMemory<Call extends AuthorCall | PreviewCall>(
    pending: PendingWrite<Call>,
    carryOut: (call: Call) => unknown,
  ): void {
    try {
      pending.resolve(carryOut(pending.command) as CommandResult)
    } catch (error) {
      pending.reject(error)
    }
    this.answers.send()
  }

  /** Carries out what management asks for; every thread knows of it before the answer leaves. */
  private async operate(pending: PendingWrite<Operation>): Promise<void> {
    const { command } = pending
    try {
      const result = await this.writer.exclusively(
        () => operate(this.operations, command),
        // What was written is not written again by the next.
        done => typeof done === 'function' && done(),
      )
      this.noticeOwnChange()
      pending.resolve((typeof result === 'function' ? null : result) as CommandResult)
    } catch (error) {
      pending.reject(isPassing(error) ? cannotWrite(error) : error)
    }
    this.answers.send()
  }

  /**
   * Looks whether another process has changed the catalogue, and tells that process once all threads
   * know. To be called every so often; costs a pragma where nothing has changed.
   */
  watch(): void {
    this.activity.expire()
    this.authors.expire(this.options.clock.now())
    this.previews.expire(this.options.clock.now())
    this.takeUpChanges()
  }

  /**
   * Tells where the log cannot be written back into the database: SQLite tries after commits, and
   * keeps a failure to itself. Nothing is lost meanwhile, but the log grows until the disk is full.
   * To be called every so often; costs next to nothing while all is well.
   */
  tellOfLog(): void {
    if (this.checkpoint('noop').log < this.logPages + overdueLogPages) {
      this.isLogStuck = false
      return
    }
    try {
      // Up to where a reader still is it passes without a sync of the database, and the log goes on
      // growing: only a whole one shows that it can be written back.
      const { log, checkpointed } = this.checkpoint('passive')
      if (checkpointed === log) this.isLogStuck = false
    } catch (error) {
      if (!this.isLogStuck)
        this.options.onFault?.(error, 'the log cannot be written back: it grows')
      this.isLogStuck = true
    }
  }

  private checkpoint(mode: 'noop' | 'passive'): { log: number; checkpointed: number } {
    return this.database
      .query<{ log: number; checkpointed: number }, []>(`pragma wal_checkpoint(${mode})`)
      .get()!
  }

  private takeUpChanges(): void {
    // A server that is not ready gets no traffic: without a try of its own it would never heal.
    this.writer.probe(() => this.noteProbe.run())
    this.noticeChanges()
  }

  /** Also at the begin of every transaction: what it stores must be judged by what it can see. */
  private noticeChanges(): void {
    const version = this.dataVersion.get()?.data_version ?? 0
    if (version === this.knownDataVersion) return
    const newest = this.newestChange.get()?.seq ?? 0
    if (newest !== this.knownChange) this.refreshCatalogue()
    // Within a transaction nothing else can be written.
    this.withholding.participants.externalChange()
    if (this.withholding.look()) {
      this.activity.forget()
      setImmediate(() => this.sealIndexes())
    }
    // Known only once all is done: what fails is tried again.
    this.knownChange = newest
    this.knownDataVersion = version
  }

  /**
   * An erasure renames rows in many steps, and after each of them all that no segment has is read again,
   * while events wait: that should be little.
   */
  private async sealIndexes(): Promise<void> {
    for (const index of this.executor.indexes) {
      if (this.isClosing) return
      // It is done without it, and slower.
      await this.writer.exclusively(() => index.sealIfWorth()).catch(() => {})
    }
  }

  /** What this connection itself has changed, `data_version` does not tell. */
  private noticeOwnChange(): void {
    if (this.withholding.look()) this.activity.forget()
    const newest = this.newestChange.get()?.seq ?? 0
    if (newest === this.knownChange) return
    this.refreshCatalogue()
    this.knownChange = newest
  }

  /** Has every thread load again what `catalogue_changes` names. */
  refreshCatalogue(): void {
    this.catalogue.refresh()
    this.retention.organisationsChanged()
    Atomics.add(this.generation, 0, 1)
  }

  /** Writes what is only noted in memory: who was seen when, and how user hashes were judged. */
  async writePresence(): Promise<void> {
    // A storage that refuses would only fill the log: what was seen stays in memory meanwhile.
    if (this.gauge.isRefused) return
    if (!this.presence.hasNews() && !this.identity.hasNews()) return
    await this.writer.exclusively(
      () => this.writeSeen(),
      note => note(),
    )
  }

  /** The same within a transaction. @returns to be called once that is committed */
  private writeSeen(): () => void {
    const notes = [this.presence.write(), this.identity.write(this.options.clock.now())]
    return () => {
      for (const note of notes) note()
    }
  }

  /**
   * A slice of making column segments of runs that have come to rest. To be called again after the
   * pause that it answers with, milliseconds.
   */
  async seal(): Promise<number> {
    if (this.gauge.isRefused || this.isClosing) return idleSealMs
    const startedAt = performance.now()
    const elapsed = () => performance.now() - startedAt
    while (elapsed() < sealSliceMs && !this.isClosing) {
      const { done, value: segment } = this.sealing.next()
      if (done) {
        this.sealing = this.sealer.work()
        return idleSealMs
      }
      if (segment) await this.write(segment)
    }
    return elapsed() * (this.writer.isBusy ? busySealPause : quietSealPause)
  }

  /** Takes up how many days raw events are kept, from the next slice on. */
  set retentionDays(days: number) {
    this.retention.days = days
  }

  /**
   * A slice of deleting what was kept long enough, in a transaction of its own. To be called again after
   * the pause that it answers with, milliseconds.
   */
  async retain(): Promise<number> {
    if (!this.clockWatch.isSteady || this.gauge.isRefused || this.isClosing) return idleRetainMs
    const piece = this.retention.next()
    if (!piece) return idleRetainMs
    const isBusy = this.writer.isBusy
    try {
      let elapsed = 0
      const deleted = await this.writer.exclusively(() => {
        const startedAt = performance.now()
        piece(() => performance.now() - startedAt < retainSliceMs)
        const events = this.retention.settle()
        elapsed = performance.now() - startedAt
        return events
      })
      this.options.observer?.retained(this.retention.committed(deleted))
      return elapsed * (isBusy || this.writer.isBusy ? busyRetainPause : quietRetainPause)
    } catch (error) {
      this.retention.startOver()
      throw error
    }
  }

  private async write(segment: SealedSegment): Promise<void> {
    try {
      await this.writer.exclusively(() => this.segments.write(segment.draft, segment))
    } catch (error) {
      this.sealing.throw(error)
    }
  }

  /** Commits all that waits; the number of commands that could not be. */
  flush(): Promise<number> {
    return this.writer.flush()
  }

  private writeLogBack(): void {
    // Who reads for long, as Litestream does, keeps it from being cut back: no reason to wait.
    this.database.run(`pragma busy_timeout = ${lastCheckpointMs}`)
    this.database.run('pragma wal_checkpoint(passive)')
    failpoint('during_checkpoint')
    this.database.run('pragma wal_checkpoint(truncate)')
  }

  /**
   * Flushes, checkpoints and closes.
   *
   * @throws Error where something that was acknowledged (`ack=buffer`) cannot be written
   */
  async close(): Promise<void> {
    this.isClosing = true
    let unwritten = await this.writer.flush()
    const deadline = performance.now() + lastTriesMs
    while (unwritten > 0 && performance.now() < deadline) {
      await Bun.sleep(500)
      unwritten = await this.writer.flush()
    }
    if (unwritten > 0) throw new Error(`${unwritten} acknowledged batches could not be written`)
    await this.following.upToNow()
    this.following.stop()
    try {
      await this.writer.exclusively(() => {
        this.presence.write()
        this.identity.write(this.options.clock.now())
        for (const index of this.executor.indexes) index.sealIfWorth()
      })
      if (!this.options.isLogKept) this.writeLogBack()
    } catch (error) {
      // Nothing that was promised: the log is replayed at the next start.
      this.options.onFault?.(error, 'the last checkpoint was left out')
    }
    this.database.close()
  }
}
