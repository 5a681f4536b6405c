/**
 * How often something may be done that anybody can ask for: a few times at once, then once an
 * interval (a token bucket, kept as the one moment at which it will be full again).
 */
export class TokenBucket {
  private fullAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly most: number,
    private readonly refillMs: number,
  ) {}

  /** From when on it allows for one more, by the clock that `spend` is told. */
  get allowsAt(): number {
    return this.fullAt - (this.most - 1) * this.refillMs
  }

  spend(now: number): void {
    this.fullAt = Math.max(this.fullAt, now) + this.refillMs
  }
}
