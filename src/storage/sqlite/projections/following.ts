import { isPassing } from '../engine/savepoint.ts'
import type { Writer } from '../writer/writer.ts'
import type { Follower } from './follower.ts'

/** How long events wait that nobody asks for, so that what arrives meanwhile is written together; milliseconds. */
const afterMs = 500

/** This many events do not wait any longer, because they take memory and a start has to read them again. */
const maxEvents = 50_000

/** If much waits, it is projected for this long before requests have their turn again, milliseconds. */
const busySliceMs = 5

/** How long until the next try if the database takes nothing, milliseconds. */
const retryMs = 1_000

const othersTurn = () => new Promise<void>(resolve => setImmediate(resolve))

/** Has the follower project what is committed: after a while, at once if there is much, or on request. */
export class Following {
  private timer: ReturnType<typeof setTimeout> | null = null
  private running: Promise<void> | null = null
  private isEnded = false

  constructor(
    private readonly follower: Follower,
    private readonly writer: Writer,
    private readonly onError: (error: unknown, what: string) => void,
  ) {}

  /** To be called when something was committed. */
  committed(): void {
    if (this.running || this.isEnded || !this.follower.isBehind) return
    if (this.isMuch) this.begin()
    else this.timer ??= setTimeout(() => this.begin(), afterMs)
  }

  /** Resolves once everything committed by now is projected; sooner only if the database takes nothing. */
  async upToNow(): Promise<void> {
    const { newest } = this.follower
    try {
      while (!this.follower.isDone(newest)) await this.run()
    } catch {
      // Reported where it happened. What the tables have is better than no answer.
    }
  }

  /**
   * Projects what is committed, for a caller that commits nothing meanwhile.
   *
   * @param transaction does work in a transaction, and calls what that returns once it is committed
   */
  async projectWithin(transaction: (work: () => () => void) => Promise<void>): Promise<void> {
    while (this.follower.isBehind) {
      await this.step(transaction)
      await othersTurn()
    }
  }

  /** From now on nothing is projected: the next start does that. */
  end(): void {
    this.isEnded = true
    this.cancel()
  }

  private cancel(): void {
    if (this.timer) clearTimeout(this.timer)
    this.timer = null
  }

  /** Whether so much waits that it is projected at once. */
  get isMuch(): boolean {
    return this.follower.waiting >= maxEvents
  }

  /** Projects without anybody waiting for it; a failure is reported where it happens. */
  private begin(): void {
    this.run().catch(() => {})
  }

  /** Projects what is taken up in one go. */
  private run(): Promise<void> {
    this.cancel()
    this.running ??= this.project().then(
      () => {
        this.running = null
        this.committed()
      },
      error => {
        this.running = null
        this.onError(error, 'projections cannot be written')
        this.timer ??= setTimeout(() => this.begin(), retryMs)
        throw error
      },
    )
    return this.running
  }

  private async project(): Promise<void> {
    const { follower } = this
    let turnAt = performance.now()
    while (follower.isBehind) {
      await this.step()
      if (!follower.isDraining) return
      // Requests go first, unless they bring more than is projected meanwhile.
      if (this.isMuch && performance.now() - turnAt < busySliceMs) continue
      await othersTurn()
      turnAt = performance.now()
    }
  }

  /**
   * Runs in a transaction that is synced with the next group: if a power cut undoes it, the next start does it
   * again.
   */
  private async step(
    exclusively: (work: () => () => void) => Promise<unknown> = work =>
      this.writer.exclusively(work, done => done()),
  ): Promise<void> {
    const { follower } = this
    try {
      await exclusively(() => follower.step())
    } catch (error) {
      if (isPassing(error)) throw error
      this.onError(error, 'a group of projections is split')
      await exclusively(() => follower.step(true))
    }
  }
}
