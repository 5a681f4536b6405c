/** The database did not answer in time. What it was asked to do may have been done all the same. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly code = 'ERR_POSTGRES_NO_ANSWER'

  constructor(afterMs: number) {
    super(`The database has not answered for ${afterMs / 1_000} s`)
  }
}

interface Waiting {
  since: number
  reject(error: NoAnswer): void
}

/** A timer that is later than this was held up together with its thread, which has not read the answers yet. */
const heldUpMs = 500

/**
 * Makes sure that nothing waits for ever for a database that has stopped, or from which no packets come any
 * more, because the client has no limit of its own.
 *
 * Once an answer is late, everything that waits for one fails. From then on until something is answered, one
 * caller at a time tries, and the others fail at once.
 */
export class Watchdog {
  /** The oldest first. */
  private readonly waiting = new Set<Waiting>()
  private timer: ReturnType<typeof setTimeout> | null = null
  private isSilent = false

  /** @param onSilence ends the queries that will get no answer */
  constructor(
    private readonly patienceMs: number,
    private readonly onSilence: () => void,
  ) {}

  /**
   * Waits for an answer from the database.
   *
   * @throws NoAnswer
   */
  watch<T>(ask: () => PromiseLike<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    if (this.isSilent && this.waiting.size > 0) {
      reject(new NoAnswer(this.patienceMs))
      return promise
    }
    const waiting = { since: performance.now(), reject }
    this.waiting.add(waiting)
    if (this.timer === null) this.look(this.patienceMs)
    ask().then(
      answer => {
        this.waiting.delete(waiting)
        this.isSilent = false
        resolve(answer)
      },
      error => {
        this.waiting.delete(waiting)
        reject(error)
      },
    )
    return promise
  }

  private look(afterMs: number, isExcused = false): void {
    const dueAt = performance.now() + afterMs
    this.timer = setTimeout(() => {
      this.timer = null
      const [oldest] = this.waiting
      if (!oldest) return
      const now = performance.now()
      const leftMs = oldest.since + this.patienceMs - now
      if (leftMs > 0) this.look(leftMs)
      else if (now - dueAt > heldUpMs && !isExcused) this.look(heldUpMs, true)
      else this.giveUp()
    }, afterMs)
    this.timer.unref()
  }

  private giveUp(): void {
    const late = [...this.waiting]
    this.waiting.clear()
    this.isSilent = true
    const error = new NoAnswer(this.patienceMs)
    for (const { reject } of late) reject(error)
    this.onSilence()
  }
}
