import { type Bucket, buckets } from '../core/buckets.ts'
import { minuteMs } from '../core/durations.ts'
import { type PresenceMark, presenceMarks } from '../core/ports.ts'

/**
 * Two words a mark: first and last second (Unix), 0 where never seen. Then a word a bucket: the last
 * minute in which its limit was reached.
 */
const limitsAt = presenceMarks.length * 2
const wordsPerSlot = limitsAt + buckets.length

/**
 * How far ahead of a request a mark may lie that another left meanwhile, seconds; further ahead it is
 * of a clock that was set back since.
 */
const mostAheadSeconds = 120

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
