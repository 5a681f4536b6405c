import type { Database } from 'bun:sqlite'
import type { AppendOutcome } from '../../../core/event/event.ts'
import { failing } from '../../../failpoints.ts'
import {
  ClockApart,
  CommitInDoubt,
  type Log,
  LogUnavailable,
  NotInLog,
  type Page,
} from '../../log/log.ts'
import type { EventBatch } from '../../shared/in-rows.ts'
import type { LogSync } from '../database/log-sync.ts'
import { isBusy, isPassing } from '../engine/savepoint.ts'
import type { Replica } from '../replica/replica.ts'
import type { CommandResult } from './command.ts'
import type { Executor } from './commands.ts'
import { eventsIn, GroupCommit, type Submission, type WriterPolicy } from './group-commit.ts'
import { cannotWrite, commitInDoubt } from './not-stored.ts'
import { OneByOne, type Verdict } from './one-by-one.ts'

/** What the writer reports about each commit, for the metrics. */
export interface CommitReport {
  commands: number
  events: number
  durationMs: number
}

/** Called with what is written. */
export interface WriteObserver {
  committed(report: CommitReport): void
  /** The result of a batch, once it is committed. */
  appended(batch: EventBatch, outcome: AppendOutcome): void
}

export interface WriterHooks {
  observer?: WriteObserver
  onBegin?(): void
  /** If it throws, the transaction is rolled back. */
  beforeCommit?(): void
  /** A group is committed. */
  onSettled?(): void
  onError?(error: unknown, what: string): void
  /** Storage has begun to refuse, or takes writes again. */
  onRejecting?(isRejecting: boolean): void
  /** Memory no longer agrees with what is stored, or the disk may have lost it: only a restart helps. */
  onDivergence?(error: unknown): void
}

/** After this long, others may have appended much, milliseconds. */
const longAgoMs = 2_000

/** A log that has not answered for this long is not tried again for the same group, milliseconds. */
const silentAfterMs = 3_000

/** What makes a database one of several that follow a log. */
export interface Following {
  log: Log
  replica: Replica
  /** This machine's clock, epoch milliseconds. */
  now(): number
  /** Is called once what others have appended is committed here. */
  onTakenUp(): void
  /** Is called after each page, to project what waits if that is much: with what does so in a transaction. */
  onPage(transaction: (work: () => () => void) => Promise<void>): Promise<void>
}

/**
 * Commits groups to the disk, with one sync each, for which the event loop does not wait.
 *
 * A transaction that fails for a passing reason is retried and then refused as a whole (`overloaded`,
 * nothing kept). One that fails for any other reason is taken apart, so that a single poison event or
 * command is kept as a dead letter and its neighbours are kept.
 *
 * With a log, a group is kept once it is in the log. It is committed here after that; if that fails, it is taken
 * up from the log like those of others.
 */
export class Writer extends GroupCommit {
  /**
   * Set once memory could not take note of a commit, or a sync has failed: executed again, its commands would be
   * stored twice, and what is stored behind a gap in the log would be lost.
   */
  private divergence: Error | null = null
  /** When a transaction last went to the disk, by the monotonic clock. */
  private provenAt = performance.now()
  /** When this machine had last taken up everything in the log, by the monotonic clock. */
  private followedAt = Number.NEGATIVE_INFINITY
  private readonly begin: () => void
  private readonly commit: () => void
  private readonly oneByOne: OneByOne
  /** Lets everything in memory take note of the commit. */
  private readonly noteCommit: () => void

  /**
   * @param following null for a server alone
   * @param sync makes what is committed here survive a power cut; null if the log of several machines does
   */
  constructor(
    private readonly database: Database,
    private readonly executor: Executor,
    policy: WriterPolicy,
    private readonly hooks: WriterHooks = {},
    private readonly following: Following | null = null,
    private readonly sync: LogSync | null = null,
  ) {
    super(policy, hooks.onSettled)
    this.oneByOne = new OneByOne(database, executor, (...problem) => hooks.onError?.(...problem))
    const [begin, commit] = [database.query('begin immediate'), database.query('commit')]
    this.begin = failing('before_begin', () => begin.run())
    this.commit = failing('before_commit', () => commit.run())
    this.noteCommit = failing('after_commit', () => executor.participants.commit())
  }

  /** Whether there is something to commit, so that other work should wait. */
  get isBusy(): boolean {
    return this.running !== null || this.waiting.length > 0
  }

  /**
   * Changes what all machines share, between two groups, in a transaction of its own.
   *
   * @param committed is called before any other transaction begins
   */
  async change<T>(work: () => T, committed: (result: T) => void = () => {}): Promise<T> {
    const { following } = this
    if (following === null) {
      const result = await this.exclusively(work, committed)
      await this.synced()
      return result
    }
    return this.occupy(async () => {
      const result = await this.appended(following, work)
      committed(result)
      return result
    })
  }

  /**
   * Changes what follows from the ledger, or is about this machine alone, between two groups, in a transaction of
   * its own. A power cut may undo it, as long as nothing later is synced.
   *
   * @param committed is called before any other transaction begins
   */
  async exclusively<T>(work: () => T, committed: (result: T) => void = () => {}): Promise<T> {
    return this.occupy(async () => {
      try {
        const result = await this.transaction(work)
        committed(result)
        return result
      } catch (error) {
        // Makes the next probe check the disk at once; otherwise callers would find out later.
        if (isPassing(error)) this.provenAt = Number.NEGATIVE_INFINITY
        throw error
      }
    })
  }

  /** Resolves once no transaction is open. */
  async idle(): Promise<void> {
    while (this.running) await this.running
  }

  /** Takes up what other machines have appended to the log. @throws LogUnavailable, NotInLog */
  async follow(): Promise<void> {
    const { following } = this
    if (following === null) return
    const { log, replica } = following
    const requestedAt = performance.now()
    const newest = await log.newest()
    // Another mark at the same number is of another history.
    const isBehind = () =>
      newest.seq !== replica.position.seq || newest.mark !== replica.position.mark
    if (isBehind()) {
      await this.occupy(async () => {
        if (!isBehind()) return
        try {
          await this.takeUp(following, log.since(replica.position))
        } catch (error) {
          this.giveUp()
          throw error
        }
      })
    } else this.followedAt = requestedAt
    if (log.clockError) this.suspect(log.clockError)
    else this.healed()
  }

  /** The log is away, or does not take anything of this machine: nothing is taken until it does. */
  suspect(error: unknown): void {
    if (this.isRejecting) return
    this.isRejecting = true
    const isApart = error instanceof ClockApart
    const what = isApart ? 'the log rejects this node' : 'the log does not answer'
    this.hooks.onError?.(error, what)
    this.hooks.onRejecting?.(true)
  }

  /**
   * Checks whether storage takes writes when no caller does: always while it refuses, and every so often
   * while it is idle, so that "ready" is more than a hope.
   */
  async probe(write: () => void): Promise<void> {
    if (this.running || this.waiting.length > 0) return
    const wasRejecting = this.isRejecting
    // Then it depends on the log, which `follow` tries.
    if (wasRejecting && this.following !== null) return
    if (!wasRejecting && performance.now() - this.provenAt < this.policy.proveEveryMs) return
    try {
      await this.exclusively(write)
      await this.synced()
      this.isRejecting = false
      if (wasRejecting) this.hooks.onRejecting?.(false)
    } catch (error) {
      // Storage refused before, so this is no news.
      if (wasRejecting) return
      this.isRejecting = true
      this.hooks.onError?.(error, 'storage rejects writes')
      this.hooks.onRejecting?.(true)
    }
  }

  protected async commitAll(): Promise<void> {
    const group = this.takeGroup()
    if (group.length === 0) return
    const startedAt = performance.now()
    for (let attempt = 1; ; attempt++) {
      try {
        await this.commitGroup(group)
        break
      } catch (error) {
        if (error instanceof CommitInDoubt || error instanceof NotInLog) {
          this.rejectAll(group, error)
          return
        }
        const isAway = error instanceof LogUnavailable
        if (!isPassing(error) && !isAway) {
          if (await this.commitApart(group, error)) break
          return
        }
        // Reported once, when it begins: a long log does not help a full disk.
        if (attempt === 1 && !this.isRejecting) this.hooks.onError?.(error, 'a commit failed')
        const isSilent = isAway && performance.now() - startedAt > silentAfterMs
        if (isSilent || attempt >= this.policy.tries) {
          if (isAway) this.rejectAll(group, error)
          else this.refuse(group, error)
          return
        }
        await Bun.sleep(this.policy.retryPauseMs * 2 ** (attempt - 1))
      }
    }
    this.healed()
  }

  private healed(): void {
    if (!this.isRejecting) return
    this.isRejecting = false
    this.hooks.onRejecting?.(false)
  }

  private async commitGroup(group: readonly Submission[]): Promise<void> {
    let results: CommandResult[] = []
    const startedAt = performance.now()
    await this.shared(() => {
      results = group.map(({ command }) => this.executor.execute(command))
      this.executor.settle()
    })
    await this.onceSynced(group, startedAt, (waiting, i) =>
      this.settleCommitted(waiting, results[i] ?? null),
    )
  }

  /** Answers the callers of a group that is committed, once it is synced. */
  private async onceSynced(
    group: readonly Submission[],
    startedAt: number,
    settle: (waiting: Submission, i: number) => void,
  ): Promise<void> {
    try {
      if (this.sync) await this.synced()
    } catch (error) {
      for (const waiting of group) waiting.reject(error)
      return
    }
    this.hooks.observer?.committed({
      commands: group.length,
      events: group.reduce((sum, { command }) => sum + eventsIn(command), 0),
      durationMs: performance.now() - startedAt,
    })
    for (const [i, waiting] of group.entries()) settle(waiting, i)
  }

  protected async synced(): Promise<void> {
    try {
      await this.sync?.done()
      this.provenAt = performance.now()
    } catch (cause) {
      this.lose(new Error('what was written could not be synced', { cause }))
    }
  }

  private lose(error: Error): never {
    if (this.divergence === null) {
      this.divergence = error
      this.hooks.onDivergence?.(error)
    }
    throw this.divergence
  }

  private settleCommitted(waiting: Submission, result: CommandResult): void {
    const { command } = waiting
    if (command.type === 'append') this.hooks.observer?.appended(command, result as AppendOutcome)
    waiting.resolve(result)
  }

  /**
   * Executes each command by itself. Still in one transaction, so that it costs one sync however large the group
   * is.
   *
   * @returns whether it was committed
   */
  private async commitApart(group: readonly Submission[], error: unknown): Promise<boolean> {
    this.hooks.onError?.(error, 'a group of writes is split')
    let verdicts: Verdict[] = []
    const startedAt = performance.now()
    try {
      await this.shared(() => {
        verdicts = []
        for (const { command } of group) verdicts.push(this.oneByOne.execute(command))
      })
    } catch (problem) {
      if (problem === this.divergence) {
        for (const waiting of group) waiting.reject(problem)
        return false
      }
      // The disk or the database as a whole is at fault, not a command.
      this.hooks.onError?.(problem, 'a group that was split could not be committed')
      this.refuse(group, problem)
      return false
    }
    await this.onceSynced(group, startedAt, (waiting, i) => {
      const verdict = verdicts[i]!
      if ('fault' in verdict) waiting.reject(verdict.fault)
      else this.settleCommitted(waiting, verdict.result)
    })
    return true
  }

  /** Tells waiting callers that storage cannot write, and keeps for later what was acknowledged already. */
  private refuse(group: readonly Submission[], error: unknown): void {
    this.isRejecting = true
    this.hooks.onRejecting?.(true)
    this.waiting.unshift(...group.filter(({ isAwaited }) => !isAwaited))
    const rejection = error instanceof CommitInDoubt ? commitInDoubt() : cannotWrite(error)
    for (const waiting of group) if (waiting.isAwaited) waiting.reject(rejection)
  }

  /** The same while the log does not answer: what waits behind the group has waited for as long. */
  private rejectAll(group: readonly Submission[], error: unknown): void {
    const behind = this.waiting.filter(({ isAwaited }) => isAwaited)
    this.waiting = this.waiting.filter(({ isAwaited }) => !isAwaited)
    this.refuse(group, error)
    for (const waiting of behind) waiting.reject(cannotWrite(error))
  }

  /** A transaction of what all machines share. */
  private async shared<T>(work: () => T): Promise<T> {
    if (this.following === null) return this.transaction(work)
    return this.appended(this.following, work)
  }

  /** Appends to the log what a transaction writes, and commits it here once it is kept there. */
  private async appended<T>(following: Following, work: () => T): Promise<T> {
    const { log, replica } = following
    const startedAt = performance.now()
    let result!: T
    let isOver = false
    /** The log may have given up this call while its pages were still on their way. */
    const assertWanted = () => {
      if (isOver) throw new LogUnavailable('The log has dropped this transaction')
    }
    try {
      // Others wait while this machine has the sequencer, so it does not come with much to take up.
      if (startedAt - this.followedAt > longAgoMs) {
        await this.takeUp(following, log.since(replica.position))
      }
      await log.append(replica.position, async since => {
        await this.takeUp({ ...following, onPage: async () => {} }, since, assertWanted)
        result = await this.open(() => {
          replica.begin()
          return work()
        }, assertWanted)
        return replica.collect(following.now(), log.latest)
      })
    } catch (error) {
      isOver = true
      this.giveUp()
      throw error
    }
    try {
      this.commit()
    } catch (error) {
      // It is kept in the log, and is taken up from there.
      this.giveUp()
      this.hooks.onError?.(error, 'a group that is in the log could not be committed here')
      return result
    }
    this.committed()
    replica.committed()
    return result
  }

  /** Takes up what others have appended, in a transaction for each group of pages. If it throws, one may be open. */
  private async takeUp(
    { replica, onTakenUp, onPage }: Following,
    since: AsyncIterable<Page>,
    assertWanted = () => {},
  ): Promise<void> {
    let isNew = false
    try {
      const at = performance.now()
      for await (const page of since) {
        assertWanted()
        if (!this.database.inTransaction) {
          await this.begun(assertWanted)
          this.database.run('pragma defer_foreign_keys = on')
        }
        replica.takeUp(page)
        if (page.to === null) continue
        this.commit()
        this.committed()
        replica.committed()
        isNew = true
        await onPage(async work => (await this.transaction(work))())
      }
      this.followedAt = at
    } finally {
      if (isNew) onTakenUp()
    }
  }

  private async transaction<T>(work: () => T): Promise<T> {
    let result: T
    try {
      result = await this.open(work)
      this.commit()
    } catch (error) {
      this.giveUp()
      throw error
    }
    this.committed()
    return result
  }

  /** Begins a transaction, and does everything in it but the commit. */
  private async open<T>(work: () => T, assertWanted?: () => void): Promise<T> {
    if (this.divergence) throw this.divergence
    await this.begun(assertWanted)
    this.hooks.onBegin?.()
    const result = work()
    this.hooks.beforeCommit?.()
    return result
  }

  private giveUp(): void {
    this.executor.participants.rollback()
    if (this.database.inTransaction) this.database.run('rollback')
  }

  private committed(): void {
    try {
      this.noteCommit()
    } catch (cause) {
      this.lose(new Error('a commit could not be noted in memory', { cause }))
    }
    if (!this.sync) this.provenAt = performance.now()
  }

  /**
   * Begins a transaction, once nobody else writes. The event loop goes on meanwhile.
   *
   * @param assertWanted throws if the transaction is no longer wanted by then
   */
  private async begun(assertWanted = () => {}): Promise<void> {
    const deadline = performance.now() + this.policy.lockPatienceMs
    for (;;) {
      assertWanted()
      try {
        this.begin()
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw error
        await Bun.sleep(1)
      }
    }
  }
}
