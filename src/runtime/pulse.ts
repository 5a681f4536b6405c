/** How often a thread says that it still turns, milliseconds. */
const beatEveryMs = 500

/**
 * The pulse of one thread, in memory that the main thread reads: a thread that is stuck, in a
 * sync that never returns or in a loop, is alive by every other sign.
 */
export class Pulse {
  private readonly lastBeat: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.lastBeat = new Float64Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)
  }

  /** Beats from now on, as long as the thread turns. */
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
