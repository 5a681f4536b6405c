/** How long a thread waits for it, milliseconds. A thread that died while it held it must not hold up the rest. */
const mostWaitMs = 250

/** A mutex between threads: a word of memory that all of them see, 1 while one of them holds it. */
export class Mutex {
  private readonly taken: Int32Array

  constructor(memory = Mutex.memory()) {
    this.taken = new Int32Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  }

  /** Does work while no other thread does. */
  runExclusive(work: () => void): void {
    const taken = this.taken
    while (Atomics.compareExchange(taken, 0, 0, 1) !== 0) {
      if (Atomics.wait(taken, 0, 1, mostWaitMs) === 'timed-out') break
    }
    try {
      work()
    } finally {
      Atomics.store(taken, 0, 0)
      Atomics.notify(taken, 0, 1)
    }
  }
}
