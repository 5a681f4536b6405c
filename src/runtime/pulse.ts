/** How often a thread shows that its event loop still turns, milliseconds. */
const beatEveryMs = 500

/**
 * The pulse of one thread, in memory that the main thread reads. A thread that is stuck in a loop, or in a
 * sync that never returns, looks alive by every other sign.
 */
export class Pulse {
  private readonly lastBeat: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.lastBeat = new Float64Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)
  }

  /** Beats from now on, as long as the thread's event loop turns. */
  start(now: () => number): void {
    this.beat(now())
    setInterval(() => this.beat(now()), beatEveryMs).unref()
  }

  beat(now: number): void {
    this.lastBeat[0] = now
  }

  /** How long ago the last beat was, milliseconds; 0 before the first. */
  silentMs(now: number): number {
    const last = this.lastBeat[0] as number
    return last === 0 ? 0 : now - last
  }
}
