/** The caller's turn did not come in time. */
export class NoTurn extends Error {
  override readonly name = 'NoTurn'
  readonly code = 'ERR_POSTGRES_NO_TURN'

  constructor() {
    super('All connections were in use for too long')
  }
}

/** Lets at most so many callers work at once, in order of arrival. They wait for as long as turns keep ending. */
export class Turns {
  private readonly waiting = new Set<() => void>()
  private taken = 0
  private handedOnAt = 0

  constructor(
    private readonly most: number,
    private readonly patienceMs: number,
  ) {}

  /**
   * @returns a function that ends the turn
   * @throws NoTurn
   */
  async take(): Promise<() => void> {
    if (this.taken < this.most) this.taken++
    else await this.wait()
    return () => {
      const [next] = this.waiting
      this.handedOnAt = performance.now()
      if (next) next()
      else this.taken--
    }
  }

  /** Resolves once a caller hands its turn on. */
  private wait(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let timer: ReturnType<typeof setTimeout>
    const look = (afterMs: number) => {
      timer = setTimeout(() => {
        const leftMs = this.handedOnAt + this.patienceMs - performance.now()
        if (leftMs > 0) return look(leftMs)
        this.waiting.delete(begin)
        reject(new NoTurn())
      }, afterMs)
    }
    const begin = () => {
      clearTimeout(timer)
      this.waiting.delete(begin)
      resolve()
    }
    this.waiting.add(begin)
    look(this.patienceMs)
    return promise
  }
}
