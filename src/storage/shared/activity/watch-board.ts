/** Organisations that are watched at once. */
export const mostWatched = 16

/**
 * Of which organisations somebody watches what arrives, in memory that all threads share. The storage
 * thread says so; who answers requests asks, which costs a load of one word as long as nobody watches.
 * Word 0 counts the rows that follow.
 */
export class WatchBoard {
  private readonly words: Int32Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer((1 + mostWatched) * 4)
  }

  isWatched(orgRow: number): boolean {
    const count = Atomics.load(this.words, 0)
    for (let place = 1; place <= count; place++) {
      if (Atomics.load(this.words, place) === orgRow) return true
    }
    return false
  }

  /** By the storage thread alone. */
  set(orgRows: readonly number[]): void {
    for (const [i, row] of orgRows.entries()) Atomics.store(this.words, i + 1, row)
    Atomics.store(this.words, 0, orgRows.length)
  }
}
