/** How much may wait for the storage thread before writers are told to come back later. */
export interface BufferBounds {
  events: number
  bytes: number
}

/**
 * What waits between the threads that answer requests and the one that writes, counted in memory
 * that all of them share: a queue between threads has no length that can be asked for.
 */
export class BufferGauge {
  private readonly words: Int32Array

  constructor(
    memory: SharedArrayBuffer,
    private readonly bounds: BufferBounds,
  ) {
    this.words = new Int32Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(12)
  }

  get events(): number {
    return Atomics.load(this.words, 0)
  }

  get bytes(): number {
    return Atomics.load(this.words, 1)
  }

  /** Whether storage refuses writes at the moment. */
  get isRefused(): boolean {
    return Atomics.load(this.words, 2) === 1
  }

  set isRefused(isRefused: boolean) {
    Atomics.store(this.words, 2, Number(isRefused))
  }

  /** Below its bounds, so that a writer may still be taken in. */
  get hasRoom(): boolean {
    return this.events < this.bounds.events && this.bytes < this.bounds.bytes
  }

  /** Takes room for one message; false, and nothing taken, where there is none. */
  enter(events: number, bytes: number): boolean {
    const before = Atomics.add(this.words, 0, events)
    const bytesBefore = Atomics.add(this.words, 1, bytes)
    const fits = before + events <= this.bounds.events && bytesBefore + bytes <= this.bounds.bytes
    if (!fits) this.leave(events, bytes)
    return fits
  }

  leave(events: number, bytes: number): void {
    Atomics.sub(this.words, 0, events)
    Atomics.sub(this.words, 1, bytes)
  }
}
