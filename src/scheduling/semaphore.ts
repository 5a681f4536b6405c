/** Lets at most so many pieces of work be under way at once; the rest wait their turn, in order. */
export class Semaphore {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(atOnce: number) {
    this.free = atOnce
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--
    else await new Promise<void>(resolve => this.waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      // A turn is handed on, so that nobody can come in between.
      if (next) next()
      else this.free++
    }
  }
}
