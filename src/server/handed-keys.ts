import type { PublicKey } from '../core/organisation/key-set.ts'
import type { Clock } from '../core/time/clock.ts'
import type { KnownKeys } from './issuer-keys.ts'

/** How long a request waits for a key that nobody knows yet, milliseconds. */
const usualPatienceMs = 3_000

/** The identity provider's keys in an HTTP thread: handed over by the main thread, which fetches them. */
export class HandedKeys {
  /** Of those who wait for the main thread's next word; null where nobody does. */
  private waiting: PromiseWithResolvers<void> | null = null
  private timer: Timer | undefined
  /** The moment until which nothing new can be had, of which the main thread has heard. */
  private toldAt: number | null = null

  constructor(
    private known: KnownKeys,
    private readonly clock: Clock,
    /** Asks the main thread to have them renewed. */
    private readonly ask: () => void,
    private readonly patienceMs = usualPatienceMs,
  ) {}

  get keys(): readonly PublicKey[] {
    return this.known.keys
  }

  take(known: KnownKeys): void {
    this.known = known
    this.endWait()
  }

  /** All who come while one waits share the question and the answer. */
  async renew(): Promise<void> {
    if (this.clock.monotonic() < this.known.renewableAt) return this.askForLater()
    if (!this.waiting) {
      this.waiting = Promise.withResolvers()
      this.timer = setTimeout(() => this.endWait(), this.patienceMs)
      this.ask()
    }
    await this.waiting.promise
  }

  /** Nobody waits so long, but the key should be known by then: said once, not for each request. */
  private askForLater(): void {
    if (this.toldAt === this.known.renewableAt) return
    this.toldAt = this.known.renewableAt
    this.ask()
  }

  private endWait(): void {
    clearTimeout(this.timer)
    this.waiting?.resolve()
    this.waiting = null
  }
}
