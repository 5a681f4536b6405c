import type { Database } from 'bun:sqlite'
import { forgetEnded } from '../../core/organisation/ticket.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Activity, JudgedEvent } from '../interfaces/events.ts'
import type { Ticket, Tickets } from '../interfaces/tickets.ts'
import { LogUnavailable } from '../log/log.ts'
import { LiveActivity } from '../shared/live-activity.ts'
import type { LiveState } from '../shared/live-state.ts'
import { StoredCatalogue } from './catalogue/catalogue.ts'
import { Changes, FilesInPlace } from './changes.ts'
import { openForWriting } from './database/database.ts'
import { newestReceipt } from './database/inspect.ts'
import { beginLogAnew, type Checkpoint, LogKeeper } from './database/log-keeper.ts'
import { LogSync } from './database/log-sync.ts'
import { type BlockPolicy, defaultBlockPolicy } from './engine/run-blocks/block-maker.ts'
import { RunBlocks } from './engine/run-blocks/run-blocks.ts'
import { isPassing } from './engine/savepoint.ts'
import { Withholding } from './erasure/withheld.ts'
import { Housekeeping } from './housekeeping.ts'
import { PresenceTable } from './organisations/presence-table.ts'
import { UserHashes } from './organisations/user-hashes.ts'
import { Following } from './projections/following.ts'
import { LogRetention } from './replica/log-retention.ts'
import { Replica } from './replica/replica.ts'
import { sharedFileIn, shareFile } from './replica/shared-files.ts'
import type { Following as FollowingLog } from './replica/shared-work.ts'
import { Together } from './replica/together.ts'
import { ClockWatch } from './retention/clock-watch.ts'
import { Retention, type RetentionPolicy, type RetentionReport } from './retention/retention.ts'
import { CommandExecutor } from './writer/commands.ts'
import type { Submission, WriterPolicy } from './writer/group-commit.ts'
import { type WriteObserver, Writer } from './writer/writer.ts'

/** Called with what is written, and what is deleted after its time. */
export interface StorageObserver extends WriteObserver {
  retained(report: RetentionReport): void
}

export interface StorageOptions {
  dataDir: string
  live: LiveState
  clock: Clock
  policy: WriterPolicy
  blockPolicy?: BlockPolicy
  retention: RetentionPolicy
  /** Another program writes the log back (`checkpoints`), and this one only if that seems dead. */
  isLogKept?: boolean
  /** Writes the write-ahead log back in another thread; left out, SQLite does so after commits. */
  checkpoint?: () => Promise<Checkpoint>
  /** What several machines share; none for a server alone. */
  following?: FollowingLog | null
  observer?: StorageObserver
  /** The wall clock may be wrong, so nothing is deleted for its age for an hour. See `ClockWatch`. */
  onClockDoubt?: (byMs: number, since: 'set' | 'start') => void
  /** Storage refuses, or something was set aside. */
  onError?: (error: unknown, what: string) => void
  /** Storage takes writes again after it had refused. */
  onHealed?: () => void
  /** Memory no longer agrees with what is stored, or the disk may have lost it: only a restart helps. */
  onDivergence?: (error: unknown) => void
}

/**
 * The one writer of a running server, over a database that is prepared: puts its parts together, hands each call
 * to the part that it is for, and closes them.
 */
export class Storage {
  readonly dataDir: string
  readonly database: Database
  readonly changes: Changes
  readonly log: LogKeeper
  private readonly sync: LogSync | null
  readonly housekeeping: Housekeeping
  private readonly writer: Writer
  private readonly executor: CommandExecutor
  private readonly following: Following
  readonly withholding: Withholding
  /** What is known in memory alone. */
  readonly live: LiveState
  readonly presence: PresenceTable
  readonly userHashes: UserHashes
  private readonly ownActivity: LiveActivity
  private readonly ownTickets = new Map<string, Ticket>()
  /** What several machines do otherwise; null for a server alone. */
  readonly together: Together | null
  private readonly noteProbe
  private isClosing = false
  /** What this database follows; null for a server alone. */
  readonly replica: Replica | null

  constructor(private readonly options: StorageOptions) {
    const { dataDir, live, clock, blockPolicy = defaultBlockPolicy } = options
    this.live = live
    this.dataDir = dataDir
    const { now } = this
    const onError = (error: unknown, what: string) => options.onError?.(error, what)
    const database = openForWriting(dataDir)
    // The log of several machines keeps what is written, or it is synced beside.
    database.run('pragma synchronous = normal')
    this.database = database
    beginLogAnew(database, options.isLogKept ?? false)
    this.sync = options.following ? null : new LogSync(dataDir)
    this.ownActivity = new LiveActivity(now)
    const catalogue = new StoredCatalogue(database)
    const presence = new PresenceTable(database)
    const userHashes = new UserHashes(database)
    this.presence = presence
    this.userHashes = userHashes

    const blocks = new RunBlocks(database)
    const { progress, lag } = live
    this.executor = new CommandExecutor(database, catalogue, presence, blocks, {
      ...{ progress, lag, now },
    })
    const { following = null } = options
    const { ids, follower } = this.executor
    this.replica = following && new Replica(database, following.log.id, ids, follower)
    this.withholding = new Withholding(this.executor, database)

    this.changes = new Changes(database, catalogue, this.withholding, {
      refresh: () => {
        live.catalogueChanges++
      },
      erasure: () => {
        this.ownActivity.forget()
        this.together?.activity.forgetNoted()
      },
    })
    const files = new FilesInPlace(dataDir)
    this.writer = new Writer(
      database,
      this.withholding,
      options.policy,
      {
        ...options,
        beforeCommit: () => files.assert(),
        onBegin: () => this.changes.notice(),
        onSettled: () => this.following.committed(),
        onRejecting: isRejecting => {
          live.buffer.isRejecting = isRejecting
          if (!isRejecting) options.onHealed?.()
        },
      },
      following && {
        ...{ log: following.log, replica: this.replica!, now: clock.now },
        onTakenUp: () => this.tookUp(),
        onPage: async transaction => {
          if (!this.following.isMuch) return
          // Rows come before the batches that are about them.
          this.changes.noticeOwn()
          await this.following.projectWithin(transaction)
        },
      },
      this.sync,
    )
    this.log = new LogKeeper(database, {
      isKeptByOther: options.isLogKept ?? false,
      beside: options.checkpoint ?? null,
      withoutWrites: work => this.writer.occupy(work),
      onError,
    })
    this.following = new Following(this.executor.follower, this.writer, onError)
    this.housekeeping = new Housekeeping({
      ...{ database, clock, catalogue, blocks, blockPolicy, presence, userHashes },
      retention: new Retention(database, clock.now, { ...options.retention }),
      logRetention:
        following && new LogRetention(database, following.log, following.member, clock.now),
      change: (work, isInPassing) => this.change(work, isInPassing),
      writer: this.writer,
      buffer: live.buffer,
      executor: this.executor,
      clockWatch: new ClockWatch(clock, options.onClockDoubt, newestReceipt(database)),
      onRetained: report => options.observer?.retained(report),
    })
    this.together =
      following &&
      new Together({
        ...{ ...following, database, dataDir, now },
        seq: () => this.replica!.position.seq,
        change: (...args) => this.change(...args),
        here: work => this.writer.exclusively(work),
        idle: () => this.writer.idle(),
        retain: async () => {
          // Nothing is deleted before it is projected.
          await this.following.upToNow()
          await this.housekeeping.retainHere()
        },
      })
    this.noteProbe = database.query(
      `insert into server_state (name, value) values ('probe', 0)
      on conflict do update set value = value + 1`,
    )
    // If nothing can be written, nothing is begun.
    this.noteProbe.run()
    // From here on the writer itself waits for others, and lets requests through meanwhile.
    database.run('pragma busy_timeout = 0')
    this.changes.notice()
    this.following.committed()
  }

  /** How long the disk has been syncing what was written, milliseconds; 0 if it is not. */
  get syncingMs(): number {
    return this.sync?.runningMs ?? 0
  }

  /** Takes a command into the next group. */
  submit(submission: Submission): void {
    this.writer.submit(submission)
  }

  private get activity() {
    return this.together?.activity ?? this.ownActivity
  }

  /** Whether somebody watches what arrives for an organisation. */
  isWatched(orgRow: number): boolean {
    return this.activity.isWatched(orgRow)
  }

  /** Notes for those who watch what arrived, but nothing about erased people. */
  noteJudged(orgRow: number, events: readonly JudgedEvent[]): void {
    // An erasure that another process has begun may not have been noticed yet.
    this.noticeBetween()
    this.activity.note(orgRow, this.withholding.ofOthers(orgRow, events))
  }

  /** Reports what has arrived while somebody watches. @throws AppError `overloaded` */
  async readActivity(orgRow: number, after: string | null): Promise<Activity> {
    this.noticeBetween()
    return this.activity.read(orgRow, after)
  }

  /** See `TicketStore.use`. */
  async useTickets<T>(work: (tickets: Tickets) => T): Promise<T> {
    return this.together?.tickets.use(work) ?? work(this.ownTickets)
  }

  /** What is changed now is later than everything in the log, whatever the clocks of the machines say. */
  readonly now = (): number => {
    const now = this.options.clock.now()
    const at = this.replica?.position.at ?? now
    return now >= at ? now : at + 1
  }

  /** Makes everything here agree with what others have appended to the log. */
  private tookUp(): void {
    const replica = this.replica!
    this.changes.noticeOwn()
    this.options.following!.member?.knows(replica.position.seq, replica.hasChange)
    replica.hasChange = false
    this.following.committed()
    // Whoever has begun an erasure waits for this machine. A failure is tried again with the next change.
    this.together!.work.hereToo().catch(() => {})
  }

  /**
   * Changes what all machines share. Before this resolves, everybody here knows of it, and other machines have been
   * waited for.
   *
   * @param isInPassing whether nobody asks for it in the next moment, so that nobody is waited for
   */
  async change<T>(
    work: () => T,
    isInPassing = false,
    committed: (result: T) => void = () => {},
  ): Promise<T> {
    const result = await this.writer.change(work, committed)
    this.changes.noticeOwn()
    const member = this.options.following?.member
    if (member) {
      const { seq } = this.replica!.position
      member.knows(seq, !isInPassing)
      if (!isInPassing) await member.othersKnow(seq)
    }
    return result
  }

  /** Takes up everything that is in the log, before anything is answered. @throws LogUnavailable, NotInLog */
  async catchUp(): Promise<void> {
    await this.options.following!.member?.join()
    // What the log has next may say that an erasure is finished, which was begun here and interrupted.
    await this.together!.work.hereToo()
    await this.writer.follow()
    this.tookUp()
    // A restored database may lack erasures that this directory knows.
    await this.together!.work.agree()
  }

  /** Whether storage rejects writes. */
  get isRejecting(): boolean {
    return this.live.buffer.isRejecting
  }

  /** Does what one machine does for all: snapshots, and erasures that were left half done. To be called now and then. */
  async careForLog(): Promise<void> {
    const { following } = this.options
    if (this.isRejecting || !(await following!.member?.holds('log'))) return
    await this.together!.work.finishOthers()
    await this.together!.snapshots.makeIfDue()
  }

  /** Copies new events as rows, if this machine has that job. To be called every second or so. */
  async copyEvents(): Promise<void> {
    const member = this.options.following?.member
    if (member && !this.isRejecting) await this.together!.events.catchUp(member)
  }

  /** Shares a file with all machines, unless they have one of its name. @returns the content that all have */
  shareFile(name: string, content: string): Promise<string> {
    const known = sharedFileIn(this.database)(name)
    return known === null
      ? this.change(() => shareFile(this.database, name, content), true)
      : Promise.resolve(known)
  }

  /** Takes up what other machines have appended to the log. To be called every so often. */
  async follow(): Promise<void> {
    try {
      await this.writer.follow()
      await this.together?.activity.turn()
    } catch (error) {
      // The database may have been closed meanwhile.
      if (this.isClosing) return
      if (error instanceof LogUnavailable || isPassing(error)) this.writer.suspect(error)
      else this.options.onDivergence?.(error)
    }
  }

  /** Writes what requests have shown and is only noted in memory. */
  async writeSeen(): Promise<void> {
    await this.change(
      () => this.housekeeping.writeSeen(),
      true,
      // So that what was written is not written again.
      done => done(),
    )
  }

  /** Resolves once what other machines have stored is taken up; sooner if the log is away. */
  readonly followed = async (): Promise<void> => {
    // What is known here is better than no answer.
    await this.writer.follow().catch(() => {})
  }

  /** Resolves once everything committed is projected, by other machines too. */
  readonly projected = async (): Promise<void> => {
    await this.followed()
    await this.following.upToNow()
  }

  /**
   * Looks whether another process has changed the catalogue. To be called every so often: it costs a pragma
   * if nothing has changed.
   */
  async watch(): Promise<void> {
    this.ownActivity.expire()
    forgetEnded(this.ownTickets, this.options.clock.now())
    // A server that is not ready gets no traffic: without a try of its own it would never heal.
    await this.writer.probe(() => this.noteProbe.run())
    this.noticeBetween()
  }

  /** What a transaction that waits for the log has written does not count yet. */
  private noticeBetween(): void {
    if (!this.database.inTransaction) this.changes.notice()
  }

  /** Frees memory that only saves reads of the disk. To be called when there is little to do. */
  giveBack(): void {
    this.database.run('pragma shrink_memory')
  }

  /** Commits everything that waits. Returns the number of commands that could not be committed. */
  flush(): Promise<number> {
    return this.writer.flush()
  }

  /**
   * Flushes, checkpoints and closes.
   *
   * @throws Error if something that was acknowledged (`ack=buffer`) cannot be written
   */
  async close(): Promise<void> {
    this.isClosing = true
    this.housekeeping.stop()
    await this.writer.flushAtLast()
    await this.following.upToNow()
    // The last change may take up more from the log.
    this.following.end()
    try {
      await this.writer.change(() => this.housekeeping.writeSeen())
      this.log.stop()
    } catch (error) {
      // Nothing that was promised is lost: the log is replayed at the next start.
      this.options.onError?.(error, 'the last checkpoint was skipped')
    }
    await this.together?.events.close()
    this.database.close()
    this.sync?.close()
  }
}
