/** How long a thread works on one thing before others get their turn, milliseconds. */
const sliceMs = 3

/** Lets long work on a thread give way to what else waits there, every few milliseconds. */
export class Breather {
  private until = performance.now() + sliceMs

  /** To be awaited between small pieces of work; gives way only where a slice is spent. */
  async rest(): Promise<void> {
    if (performance.now() < this.until) return
    await new Promise<void>(resolve => setImmediate(resolve))
    this.until = performance.now() + sliceMs
  }
}
