import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeState } from '../../shared/node-state.ts'
import type { Queries } from './connection.ts'
import { type LeasePolicy, type NodeBehind, nodesBehind } from './nodes.ts'

/** How often to check whether all nodes have taken up a change, and for how long at most; milliseconds. */
const lookMs = 20
const patienceMs = 5_000

/** How long to wait for the database to give the names, milliseconds. */
const namesWithinMs = 1_000

interface Waiting {
  change: number
  resolve(): void
}

/**
 * Makes a change of the catalogue wait for the other nodes before it is answered, so that every request after the
 * answer sees it. Changes that wait at the same time share the checks.
 */
export class Visibility {
  private waiting: Waiting[] = []
  private isLooking = false

  constructor(
    private readonly queries: Queries,
    private readonly state: NodeState,
    private readonly lease?: LeasePolicy,
  ) {}

  /**
   * Resolves once all nodes know about a change that this one has made, or once it is no use to wait any longer:
   * `namesBehind` then tells for which nodes.
   */
  async wait(change: number): Promise<void> {
    this.state.made = Math.max(this.state.made, change)
    const { promise, resolve } = Promise.withResolvers<void>()
    const one = { change, resolve }
    this.waiting.push(one)
    // However the check ends, a committed change is answered.
    const patience = setTimeout(resolve, patienceMs)
    if (!this.isLooking) this.look()
    await promise
    clearTimeout(patience)
    this.waiting = this.waiting.filter(other => other !== one)
  }

  private async look(): Promise<void> {
    this.isLooking = true
    while (this.waiting.length > 0) {
      // The answer says nothing about a change that is made while the database is being asked.
      const asked = [...this.waiting]
      const latest = Math.max(...asked.map(({ change }) => change))
      const behind = await nodesBehind(this.queries, latest, this.lease).catch(() => null)
      if (behind) {
        this.settle(behind, latest)
        for (const { change, resolve } of asked) if (isNoUse(behind, change)) resolve()
      }
      await sleep(lookMs)
    }
    this.isLooking = false
  }

  /** All nodes know all changes up to the one that the last node has taken up. */
  private settle(behind: readonly NodeBehind[], latest: number): void {
    const known = Math.min(latest, ...behind.map(({ tookUp }) => tookUp))
    this.state.settled = Math.max(this.state.settled, known)
  }
}

/** A node that was not heard from lately will not take up the change while somebody waits. */
const isNoUse = (behind: readonly NodeBehind[], change: number) =>
  !behind.some(({ tookUp, isHeard }) => isHeard && tookUp < change)

/** Stands for the nodes if the database does not say which they are. */
const unknown = 'unknown'

/**
 * The nodes that may still answer from before the last change that this one has made, by name. Asks the database
 * only if it is not yet known that there are none.
 */
export async function namesBehind(queries: Queries, state: NodeState): Promise<string[]> {
  if (state.made <= state.settled) return []
  const names = nodesBehind(queries, state.made).then(behind => behind.map(({ name }) => name))
  const tooLate = sleep(namesWithinMs, [unknown], { ref: false })
  return Promise.race([names, tooLate]).catch(() => [unknown])
}
