import { type Bucket, buckets, windowMs } from '../core/organisation/buckets.ts'
import type { Organisation } from '../core/organisation/catalogue.ts'
import type { Limiter, Taken } from '../core/organisation/limiter.ts'
import { growingMemory, growTo } from './growing-memory.ts'

/** 32-bit words of one window: count with tag, two start times, one to keep entries aligned. */
const wordsPerWindow = 4
/** How far a start may lie ahead of this thread's time; one further ahead is of a window from weeks ago. */
const aheadMs = 1_000
const countBits = 22
const countMask = (1 << countBits) - 1
const tagMask = (1 << (32 - countBits)) - 1

/** An answer to be filled in. */
export const nothingTaken = (): Taken => ({ admitted: false, remaining: 0, resetInMs: 0 })

function told(taken: Taken, admitted: boolean, remaining: number, resetInMs: number): Taken {
  taken.admitted = admitted
  taken.remaining = remaining
  taken.resetInMs = resetInMs
  return taken
}

/**
 * Fixed-window counters in shared memory, exact over all threads: a window per (slot, bucket).
 *
 * A window's count and start must change together, but 64-bit atomics make a BigInt each. So the count word
 * carries a 10-bit tag that grows by one with every new window, and the window's start is in one of two
 * words, chosen by the tag's parity. Opening a window writes the *other* start word first, and only by
 * compare-and-swap against the value read before the count: a thread that was held up meanwhile cannot
 * overwrite the start of a window that somebody else has opened. The count word's compare-and-swap then makes
 * the new start valid.
 *
 * Nothing is allocated except the answer, if the caller passes none. Nothing is locked, and a request that is
 * refused writes nothing.
 */
export class WindowTable {
  private readonly words: Int32Array

  constructor(private readonly memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory)
  }

  /** Shared memory for up to `slots` organisations. */
  static memory(slots: number): SharedArrayBuffer {
    return growingMemory(slots * buckets.length * wordsPerWindow * 4)
  }

  /**
   * Counts one request, if the window has room for it.
   *
   * @param bucket the bucket's position in `buckets`
   * @param limit requests per window, at most `largestLimit`
   * @param nowMs monotonic milliseconds
   * @param taken what to put the answer into
   */
  take(slot: number, bucket: number, limit: number, nowMs: number, taken = nothingTaken()): Taken {
    const words = this.words
    const at = (slot * buckets.length + bucket) * wordsPerWindow
    if (at >= words.length) growTo(this.memory, (at + wordsPerWindow) * 4)
    const now = Math.floor(nowMs) | 0
    for (;;) {
      // The start words are read before the count: see above.
      const even = Atomics.load(words, at + 1)
      const odd = Atomics.load(words, at + 2)
      const packed = Atomics.load(words, at)
      const count = packed & countMask
      const tag = packed >>> countBits
      // Both are milliseconds modulo 2^32, so their difference is right for 24 days either way.
      const age = (now - (tag & 1 ? odd : even)) | 0
      // Threads agree on the time to within milliseconds, so another's start may lie a little ahead.
      const isOpen = count > 0 && age > -aheadMs && age < windowMs
      if (isOpen) {
        const resetInMs = windowMs - Math.max(age, 0)
        if (count >= limit) return told(taken, false, 0, resetInMs)
        if (Atomics.compareExchange(words, at, packed, packed + 1) === packed) {
          return told(taken, true, limit - count - 1, resetInMs)
        }
        continue
      }
      if (limit <= 0) return told(taken, false, 0, windowMs)
      const nextTag = (tag + 1) & tagMask
      const nextStart = at + 1 + (nextTag & 1)
      const seen = nextTag & 1 ? odd : even
      if (Atomics.compareExchange(words, nextStart, seen, now) !== seen) continue
      const opened = (nextTag << countBits) | 1
      if (Atomics.compareExchange(words, at, packed, opened) === packed) {
        return told(taken, true, limit - 1, windowMs)
      }
    }
  }
}

/** How much of a limit one of several sharers admits: together no more than the limit, but each at least one. */
const shareOf = (limit: number, sharers: number) =>
  sharers <= 1 || limit <= 0 ? limit : Math.max(1, Math.floor(limit / sharers))

/** Counts requests in memory that all threads of this process share. */
export class SharedMemoryLimiter implements Limiter {
  private readonly windows: WindowTable

  /**
   * @param slotOf gives an organisation's place in the memory, from 1 on: the same in every thread
   * @param sharers gives how many processes a limit is divided among
   */
  constructor(
    memory: SharedArrayBuffer,
    private readonly slotOf: (organisation: Organisation) => number,
    private readonly sharers = () => 1,
  ) {
    this.windows = new WindowTable(memory)
  }

  /** Memory for so many organisations. */
  static memory(organisations: number): SharedArrayBuffer {
    return WindowTable.memory(organisations + 1)
  }

  take(organisation: Organisation, bucket: Bucket, now: number): Taken {
    const limit = shareOf(organisation.limits[bucket], this.sharers())
    return this.windows.take(this.slotOf(organisation), buckets.indexOf(bucket), limit, now)
  }
}
