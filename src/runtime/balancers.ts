/**
 * How often a balancer has to be told that a server is not ready before it sends nothing more, as the manual
 * configures it.
 */
const refusalsEnough = 2

/** The shortest and longest interval between its questions that is allowed for, milliseconds. */
const [quickestPaceMs, slowestPaceMs] = [1_000, 5_000]

/** A client that has asked whether the server is ready. */
interface Asker {
  at: number
  /** How long before that it had last asked; null if it had not. */
  paceMs: number | null
  /** How often in a row it was told that the server is not ready. */
  refusals: number
}

/**
 * Load balancers ask again and again whether a server is ready, and go on sending requests until they know
 * that it is not. A server that closed its connections before that would cut off requests that are just on
 * their way.
 */
export class Balancers {
  private readonly askers = new Map<string, Asker>()

  /** @param who the client's address @param now by a clock that never steps, milliseconds */
  asked(who: string, isReady: boolean, now: number): void {
    for (const [one, { at }] of this.askers) {
      if (now - at > 2 * slowestPaceMs) this.askers.delete(one)
    }
    const before = this.askers.get(who)
    this.askers.set(who, {
      at: now,
      paceMs: before ? now - before.at : null,
      refusals: isReady ? 0 : (before?.refusals ?? 0) + 1,
    })
  }

  /** Whether each balancer knows that the server is not ready, or has stopped asking. */
  areTold(now: number): boolean {
    return [...this.askers.values()].every(
      ({ at, paceMs, refusals }) =>
        refusals >= refusalsEnough ||
        // A client that has asked only once is not a balancer.
        paceMs === null ||
        now - at > 2 * Math.min(slowestPaceMs, Math.max(quickestPaceMs, paceMs)),
    )
  }
}
