/** How often it is looked whether a thread has become calm, milliseconds. */
const lookEveryMs = 2_000
/** Answers between two looks up to which a thread counts as calm. */
const mostWhenCalm = 20
/** Answers since the last collection from which on there is something to give back. */
const leastWorth = 1_000

/**
 * Gives back what past requests have left in memory once a thread is calm. The engine itself
 * collects when much is allocated: after a rush nothing is, and a heap of garbage would stay for
 * as long as the quiet does.
 */
export class IdleCollector {
  private seen = 0
  private sinceCollection = 0

  /** @param answered how many answers the thread has given so far */
  constructor(
    private readonly answered: () => number,
    private readonly collect = () => Bun.gc(true),
  ) {}

  start(): void {
    setInterval(() => this.look(), lookEveryMs).unref()
  }

  look(): void {
    const answered = this.answered()
    const answers = answered - this.seen
    this.seen = answered
    this.sinceCollection += answers
    if (answers > mostWhenCalm || this.sinceCollection < leastWorth) return
    this.sinceCollection = 0
    this.collect()
  }
}
