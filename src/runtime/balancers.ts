/** How often one has to be told that a server is not ready until it sends nothing more; as the manual sets them. */
const refusalsEnough = 2

/** How far its questions lie apart, as far as that is reckoned with, milliseconds. */
const [quickestPaceMs, slowestPaceMs] = [1_000, 5_000]

/** One who has asked whether a server is ready. */
interface Asker {
  at: number
  /** How long before that it had asked; null where it had not. */
  paceMs: number | null
  /** How often in succession it was told that the server is not. */
  refusals: number
}

/**
 * Balancers, which ask again and again whether a server is ready, and go on sending requests until they know that it
 * is not. A server that closed its connections before that would cut what is just on its way.
 */
export class Balancers {
  private readonly askers = new Map<string, Asker>()

  /** @param who its address @param now by a clock that never steps, milliseconds */
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

  /** Whether each knows that the server is not ready, or asks no more. */
  areTold(now: number): boolean {
    return [...this.askers.values()].every(
      ({ at, paceMs, refusals }) =>
        refusals >= refusalsEnough ||
        // Whoever asks once is none.
        paceMs === null ||
        now - at > 2 * Math.min(slowestPaceMs, Math.max(quickestPaceMs, paceMs)),
    )
  }
}
