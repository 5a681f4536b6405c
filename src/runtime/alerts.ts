import { alertWatch, type Outside } from '../app.ts'
import type { Config } from '../config/settings.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import type { Clock } from '../core/time/clock.ts'
import type { Log } from './log.ts'
import { outsideOf } from './outside.ts'
import type { ConnectedStorage } from './storage.ts'

/** How often due messages are looked for, milliseconds. */
const sendEveryMs = 1_000
/** The least time between looks, however often one is asked for, milliseconds. */
const minBetweenMs = 1_000
/** How long a stop waits for a look and for messages on their way, milliseconds. */
const stopWithinMs = 12_000

/** What alerts are watched with. */
interface AlertParts {
  clock: Clock
  log: Log
  storage: ConnectedStorage
}

/** Looks for what is wrong and alerts those who want to know, once anybody does. */
export class Alerts {
  private readonly stopping = new AbortController()
  private readonly watch: ReturnType<typeof alertWatch>
  private outside: Outside
  private looking: Promise<void> | null = null
  private lookedAt = Number.NEGATIVE_INFINITY
  private next: { timer: ReturnType<typeof setTimeout>; at: number } | null = null
  private readonly sending = new Set<Promise<void>>()
  /** Null until anybody wants alerts. */
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
      onFault: error => this.failed(error),
    })
  }

  private outsideFor(config: Config): Outside {
    return outsideOf(config, { signal: this.stopping.signal })
  }

  /** Has alerts looked after from now on, and looked at soon. */
  want(): void {
    if (this.stopping.signal.aborted) return
    const isFirst = this.timer === null
    this.timer ??= setInterval(() => this.send(), sendEveryMs)
    const { job } = this.parts.storage
    if (isFirst || !job || job.isOurs) this.lookSoon()
    else job.ask().catch(error => this.failed(error))
  }

  reload(config: Config): void {
    this.outside = this.outsideFor(config)
  }

  /** Messages on their way are due again at the next start, under the same id. */
  async stop(): Promise<void> {
    this.stopping.abort()
    if (this.timer === null) return
    clearInterval(this.timer)
    if (this.next) clearTimeout(this.next.timer)
    const ended = Promise.all([this.looking, ...this.sending])
    await Promise.race([ended, Bun.sleep(stopWithinMs)])
    await this.parts.storage.job?.release().catch(error => this.failed(error))
  }

  private lookSoon(): void {
    this.lookAt(Math.max(this.parts.clock.monotonic(), this.lookedAt + minBetweenMs))
  }

  /** A look that is planned for sooner stays, so that asking again and again does not put it off. */
  private lookAt(at: number): void {
    if (this.stopping.signal.aborted || (this.next && this.next.at <= at)) return
    if (this.next) clearTimeout(this.next.timer)
    const timer = setTimeout(() => this.look(), Math.max(0, at - this.parts.clock.monotonic()))
    this.next = { timer, at }
  }

  private async look(): Promise<void> {
    const { clock, storage } = this.parts
    this.next = null
    // Only one of several nodes looks. This one starts once it has become that node.
    const isOthers = storage.job && !storage.job.isOurs
    if (isOthers || this.looking) return this.lookAt(clock.monotonic() + minBetweenMs)
    this.looking = this.tried(() => this.watch.look(this.stopping.signal))
    await this.looking
    this.looking = null
    this.lookedAt = clock.monotonic()
    this.lookAt(this.lookedAt + this.watch.everyMs)
  }

  private send(): void {
    const round = this.tried(() => this.sendDue()).finally(() => this.sending.delete(round))
    this.sending.add(round)
  }

  private async sendDue(): Promise<void> {
    const { job } = this.parts.storage
    if (await job?.hold()) this.lookSoon()
    if (!job || job.isOurs) await this.watch.sendDue()
  }

  private tried(work: () => Promise<void>): Promise<void> {
    return work().catch(error => this.failed(error))
  }

  private failed(error: unknown): void {
    if (this.stopping.signal.aborted) return
    this.parts.log.warn({ reason: shortReasonOf(error) }, 'alerts could not be looked after')
  }
}
