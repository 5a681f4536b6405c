import { type Bucket, buckets } from '../../core/organisation/buckets.ts'
import { type PresenceMark, presenceMarks } from '../../core/organisation/presence.ts'
import { minuteMs } from '../../core/time/durations.ts'
import type { BeatBounds } from '../../modules/installation/port.ts'

/**
 * Two words a mark: first and last second (Unix), 0 where never seen. Then a word a bucket: the last
 * minute in which its limit was reached. Then the moment from which on heartbeats are free.
 */
const limitsAt = presenceMarks.length * 2
const nextBeatAt = limitsAt + buckets.length
const wordsPerSlot = nextBeatAt + 1

/**
 * How far ahead of a request a mark may lie that another left meanwhile, seconds; further ahead it is
 * of a clock that was set back since.
 */
const mostAheadSeconds = 120

/** Where heartbeats are kept so far ahead many pages wait, and more of them come, milliseconds. */
const crowdMs = 40_000

/** Words before the first slot. */
const headWords = 3

/**
 * When each organisation was last seen, in memory that all threads share: noting it costs a
 * store, and every thread sees it at once. Whole seconds are enough for "seen within five minutes".
 * Word 0 is the second of the newest mark, word 1 the highest slot used, word 2 counts marks (it wraps).
 */
export class PresenceBoard {
  private readonly words: Uint32Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Uint32Array(memory)
  }

  static memory(slots: number): SharedArrayBuffer {
    return new SharedArrayBuffer((headWords + slots * wordsPerSlot) * 4)
  }

  mark(orgRow: number, mark: PresenceMark, now: number): void {
    const { words } = this
    const at = this.place(orgRow, mark)
    const second = Math.floor(now / 1000)
    const ahead = Atomics.load(words, at + 1) - second
    if (ahead >= 0 && ahead < mostAheadSeconds) return
    Atomics.compareExchange(words, at, 0, second)
    Atomics.store(words, at + 1, second)
    if (Atomics.load(words, 0) - second < mostAheadSeconds) raise(words, 0, second)
    else Atomics.store(words, 0, second)
    raise(words, 1, orgRow)
    Atomics.add(words, 2, 1)
  }

  /** First and last time since the process started, epoch milliseconds; null where never. */
  seen(orgRow: number, mark: PresenceMark): { firstAt: number; lastAt: number } | null {
    const at = this.place(orgRow, mark)
    const first = Atomics.load(this.words, at)
    if (first === 0) return null
    return { firstAt: first * 1000, lastAt: Atomics.load(this.words, at + 1) * 1000 }
  }

  /** Notes that a limit was reached; whether this is the first time in its minute, over all threads. */
  isNewlyLimited(orgRow: number, bucket: Bucket, now: number): boolean {
    const at = headWords + orgRow * wordsPerSlot + limitsAt + buckets.indexOf(bucket)
    const minute = Math.floor(now / minuteMs)
    return Atomics.exchange(this.words, at, minute) !== minute
  }

  /**
   * Keeps moments free for heartbeats, behind those that were kept before, so that pages stay inside the
   * limit together however many they are.
   *
   * @param now monotonic milliseconds
   * @returns how far ahead the last is, milliseconds; none is kept as far ahead as `latestMs`
   */
  reserveBeat(orgRow: number, now: number, bounds: BeatBounds): number {
    const { moments, soonestMs, latestMs, remaining, resetInMs } = bounds
    const { words } = this
    const at = headWords + orgRow * wordsPerSlot + nextBeatAt
    for (;;) {
      const free = Atomics.load(words, at)
      // Milliseconds modulo 2^32; what lies further ahead than any that is kept is of weeks ago.
      const ahead = (free - Math.floor(now)) | 0
      const busyMs = ahead < 0 || ahead > latestMs + bounds.apartInCrowdMs ? 0 : ahead
      const apartMs = busyMs < crowdMs ? bounds.apartMs : bounds.apartInCrowdMs
      // This one, those that are promised, and two for pages that come.
      const isFull = 3 + Math.floor(Math.min(busyMs, resetInMs) / apartMs) > remaining
      const turnMs = busyMs + (moments - 1) * apartMs
      const waitMs = Math.max(soonestMs, turnMs, isFull ? resetInMs : 0)
      if (waitMs >= latestMs) return latestMs
      const next = (now + waitMs + apartMs) >>> 0
      if (Atomics.compareExchange(words, at, free, next) === free) return waitMs
    }
  }

  newestSeconds(): number {
    return Atomics.load(this.words, 0)
  }

  /** A number that changes with every mark. */
  marks(): number {
    return Atomics.load(this.words, 2)
  }

  /** Everything seen in or after a second. */
  *seenSince(
    second: number,
  ): Iterable<{ orgRow: number; mark: PresenceMark; firstAt: number; lastAt: number }> {
    const highest = Atomics.load(this.words, 1)
    for (let orgRow = 0; orgRow <= highest; orgRow++) {
      for (const mark of presenceMarks) {
        const seen = this.seen(orgRow, mark)
        if (seen && seen.lastAt >= second * 1000) yield { orgRow, mark, ...seen }
      }
    }
  }

  private place(orgRow: number, mark: PresenceMark): number {
    return headWords + orgRow * wordsPerSlot + presenceMarks.indexOf(mark) * 2
  }
}

/** Stores a value where it is greater than what stands there. */
function raise(words: Uint32Array, at: number, value: number): void {
  for (;;) {
    const known = Atomics.load(words, at)
    if (known >= value) return
    if (Atomics.compareExchange(words, at, known, value) === known) return
  }
}
