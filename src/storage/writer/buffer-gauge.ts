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

  /** Whether there is room for so much more. */
  fits(events: number, bytes: number): boolean {
    return this.events + events <= this.bounds.events && this.bytes + bytes <= this.bounds.bytes
  }

  /**
   * Takes room, at the moment a message leaves its thread: taken earlier, it would be lost with a thread
   * that dies. So each thread may go beyond the bounds by what it gathers in one turn.
   */
  enter(events: number, bytes: number): void {
    Atomics.add(this.words, 0, events)
    Atomics.add(this.words, 1, bytes)
  }

  leave(events: number, bytes: number): void {
    Atomics.sub(this.words, 0, events)
    Atomics.sub(this.words, 1, bytes)
  }
}
