import { minuteMs } from '../../../core/time/durations.ts'
import type { CommandResult, StorageCommand } from './command.ts'

export interface WriterPolicy {
  /** The most events that one transaction takes; whatever waits beyond that goes into the next. */
  largestGroupEvents: number
  /** How long commands that nobody waits for may be held back to share a commit, milliseconds. */
  flushEveryMs: number
  /** How many times a transaction that fails for a passing reason is tried, and the first pause. */
  tries: number
  retryPauseMs: number
  /** How long to wait for another process or thread that is writing, milliseconds. */
  lockPatienceMs: number
  /** After this long without a commit, storage checks whether it can still write. Milliseconds. */
  proveEveryMs: number
}

export const defaultWriterPolicy: WriterPolicy = {
  largestGroupEvents: 5_000,
  flushEveryMs: 100,
  tries: 3,
  retryPauseMs: 50,
  lockPatienceMs: 5_000,
  proveEveryMs: minuteMs,
}

/** A command, and how to answer its caller. */
export interface Submission {
  readonly command: StorageCommand
  /**
   * False for a command that was acknowledged already (`ack=buffer`): its commit may be delayed, but it
   * must not be given up.
   */
  readonly isAwaited: boolean
  /** The command is committed and synced. */
  resolve(result: CommandResult): void
  /** With `overloaded` if storage cannot write. */
  reject(error: unknown): void
}

/** How many events a command counts as. */
export const eventsIn = (command: StorageCommand) =>
  command.type === 'append' ? command.events.length : 1

/** How long a stop keeps trying to write what was acknowledged already (`ack=buffer`), milliseconds. */
const lastTriesMs = 30_000

/**
 * Group commit: everything that waits goes into one transaction, and nobody is answered before it is committed and
 * synced. What arrives meanwhile forms the next group, so the slower the database, the larger the groups.
 */
export abstract class GroupCommit {
  protected waiting: Submission[] = []
  /** The commit under way. */
  protected running: Promise<void> | null = null
  /** Whether storage refused the last group. */
  protected isRejecting = false
  private scheduled: ReturnType<typeof setTimeout> | 'now' | null = null

  /** @param onSettled is called when every caller of a group has its answer */
  constructor(
    protected readonly policy: WriterPolicy,
    private readonly onSettled?: () => void,
  ) {}

  /** Takes a command into the next group. */
  submit(submission: Submission): void {
    this.waiting.push(submission)
    this.schedule(submission.isAwaited)
  }

  /** Commits everything that waits. Returns the number of commands that storage refused to write. */
  async flush(): Promise<number> {
    if (this.running) await this.running
    do await this.commitWaiting()
    while (this.waiting.length > 0 && !this.isRejecting)
    await this.synced()
    return this.waiting.length
  }

  /**
   * As `flush`, for the last time: if storage refuses, it is retried for a while.
   *
   * @throws Error if something that was acknowledged (`ack=buffer`) cannot be written
   */
  async flushAtLast(): Promise<void> {
    let unwritten = await this.flush()
    const deadline = performance.now() + lastTriesMs
    while (unwritten > 0 && performance.now() < deadline) {
      await Bun.sleep(500)
      unwritten = await this.flush()
    }
    if (unwritten > 0) throw new Error(`${unwritten} acknowledged batches could not be written`)
  }

  protected takeGroup(): Submission[] {
    let events = 0
    let length = 0
    while (length < this.waiting.length && events < this.policy.largestGroupEvents) {
      events += eventsIn((this.waiting[length] as Submission).command)
      length++
    }
    return this.waiting.splice(0, length)
  }

  /** Resolves once everything committed by now is on the disk. */
  protected abstract synced(): Promise<void>

  /** Commits a group of what waits, and answers every caller in it. */
  protected abstract commitAll(): Promise<void>

  /** Does work during which no group is committed. */
  async occupy<T>(work: () => Promise<T>): Promise<T> {
    while (this.running) await this.running
    const { promise, resolve } = Promise.withResolvers<void>()
    this.running = promise
    try {
      return await work()
    } finally {
      this.running = null
      resolve()
      if (this.waiting.length > 0) this.schedule(!this.isRejecting)
    }
  }

  private schedule(isAwaited: boolean): void {
    if (this.running || this.scheduled === 'now') return
    if (isAwaited) {
      if (this.scheduled) clearTimeout(this.scheduled)
      this.scheduled = 'now'
      // After the requests that have already arrived, so that they share the commit.
      setImmediate(() => this.commitWaiting())
    } else {
      this.scheduled ??= setTimeout(() => this.commitWaiting(), this.policy.flushEveryMs)
    }
  }

  private commitWaiting(): Promise<void> {
    if (this.scheduled && this.scheduled !== 'now') clearTimeout(this.scheduled)
    this.scheduled = null
    this.running ??= this.commitAll().finally(() => {
      this.onSettled?.()
      this.running = null
      if (this.waiting.length > 0) this.schedule(!this.isRejecting)
    })
    return this.running
  }
}
