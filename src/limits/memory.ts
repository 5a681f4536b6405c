import type { Organisation } from '../core/organisation/catalogue.ts'
import {
  type Bucket,
  buckets,
  type Limiter,
  type Taken,
  windowMs,
} from '../core/organisation/limits.ts'

/** How many windows there is room for at first. */
const firstWindows = 1_024

/** How much of a limit one of several sharers admits: together no more than the limit, but each at least one. */
const shareOf = (limit: number, sharers: number) =>
  sharers <= 1 || limit <= 0 ? limit : Math.max(1, Math.floor(limit / sharers))

/** Counts requests in fixed windows, one for each organisation and bucket, in the memory of this process. */
export class MemoryLimiter implements Limiter {
  private counts = new Uint32Array(firstWindows)
  /** When each window was opened, monotonic milliseconds. */
  private openedAt = new Float64Array(firstWindows)

  /**
   * @param slotOf gives an organisation's place, a small whole number
   * @param sharers gives how many processes a limit is divided among
   */
  constructor(
    private readonly slotOf: (organisation: Organisation) => number,
    private readonly sharers = () => 1,
  ) {}

  take(organisation: Organisation, bucket: Bucket, now: number): Taken {
    const limit = shareOf(organisation.limits[bucket], this.sharers())
    const at = this.slotOf(organisation) * buckets.length + buckets.indexOf(bucket)
    if (at >= this.counts.length) this.growTo(2 * at)
    const age = Math.max(0, now - this.openedAt[at]!)
    const isOpen = this.counts[at]! > 0 && age < windowMs
    const count = isOpen ? this.counts[at]! : 0
    const resetInMs = isOpen ? windowMs - age : windowMs
    if (count >= limit) return { admitted: false, remaining: 0, resetInMs }
    if (!isOpen) this.openedAt[at] = now
    this.counts[at] = count + 1
    return { admitted: true, remaining: limit - count - 1, resetInMs }
  }

  private growTo(windows: number): void {
    const { counts, openedAt } = this
    this.counts = new Uint32Array(windows)
    this.counts.set(counts)
    this.openedAt = new Float64Array(windows)
    this.openedAt.set(openedAt)
  }
}
