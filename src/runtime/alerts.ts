import { alertWatch, type Outside } from '../app.ts'
import type { Config } from '../config/settings.ts'
import { shortReasonOf } from '../core/reason.ts'
import type { Clock } from '../core/time/clock.ts'
import type { ConnectedStorage } from './connect-storage.ts'
import type { Log } from './log.ts'
import { outsideOf } from './outside.ts'

/** How often to see whether a check or a message is due, milliseconds. */
const turnEveryMs = 1_000
/** How long a stop waits for a check and for messages on their way, milliseconds. */
const stopWithinMs = 12_000

interface AlertParts {
  clock: Clock
  log: Log
  storage: ConnectedStorage
}

/** Checks for problems and sends messages, once any organisation has alerts. */
export class Alerts {
  private readonly stopping = new AbortController()
  private readonly watch: ReturnType<typeof alertWatch>
  private outside: Outside
  private checking: Promise<void> | null = null
  /** By the monotonic clock. */
  private checkDueAt = Number.NEGATIVE_INFINITY
  private readonly turns = new Set<Promise<void>>()
  /** Null until an organisation has alerts. */
  private timer: ReturnType<typeof setInterval> | null = null

  constructor(
    config: Config,
    private readonly parts: AlertParts,
  ) {
    this.outside = this.outsideFor(config)
    this.watch = alertWatch({
      clock: parts.clock,
      stores: parts.storage.stores,
      management: parts.storage.management,
      outside: () => this.outside,
      onError: error => this.failed(error),
    })
  }

  private outsideFor(config: Config): Outside {
    return outsideOf(config, { signal: this.stopping.signal })
  }

  /** Checks soon, and regularly from now on. */
  want(): void {
    if (this.stopping.signal.aborted) return
    const isFirst = this.timer === null
    this.timer ??= setInterval(() => this.turn(), turnEveryMs)
    this.checkDueAt = Number.NEGATIVE_INFINITY
    if (isFirst) this.turn()
  }

  reload(config: Config): void {
    this.outside = this.outsideFor(config)
  }

  /** Messages on their way are due again at the next start, under the same id. */
  async stop(): Promise<void> {
    this.stopping.abort()
    if (this.timer === null) return
    clearInterval(this.timer)
    const ended = Promise.all([this.checking, ...this.turns])
    await Promise.race([ended, Bun.sleep(stopWithinMs)])
    await this.parts.storage.job?.release().catch(error => this.failed(error))
  }

  private turn(): void {
    const turn = this.tried(() => this.doWhatIsDue()).finally(() => this.turns.delete(turn))
    this.turns.add(turn)
  }

  private async doWhatIsDue(): Promise<void> {
    const { job } = this.parts.storage
    if (await job?.hold()) this.checkDueAt = Number.NEGATIVE_INFINITY
    // Only one of several nodes does it.
    if (job && !job.isOurs) return
    this.checkIfDue()
    await this.watch.sendDue()
  }

  /** Not waited for, because messages are sent meanwhile. */
  private checkIfDue(): void {
    const { clock } = this.parts
    const { signal } = this.stopping
    if (this.checking || signal.aborted || clock.monotonic() < this.checkDueAt) return
    // Another check may be wanted while this one reads.
    this.checkDueAt = Number.POSITIVE_INFINITY
    this.checking = this.tried(() => this.watch.check(signal)).finally(() => {
      this.checking = null
      this.checkDueAt = Math.min(this.checkDueAt, clock.monotonic() + this.watch.everyMs)
    })
  }

  private tried(work: () => Promise<void>): Promise<void> {
    return work().catch(error => this.failed(error))
  }

  private failed(error: unknown): void {
    if (this.stopping.signal.aborted) return
    this.parts.log.warn({ reason: shortReasonOf(error) }, 'alerts could not be checked or sent')
  }
}
