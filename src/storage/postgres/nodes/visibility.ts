import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeBoard } from '../../shared/node-board.ts'
import type { Queries } from '../database/connection.ts'
import { type LeasePolicy, type NodeBehind, nodesBehind } from './nodes.ts'

/** How often it is looked whether all nodes have taken up a change, and for how long at most; milliseconds. */
const lookMs = 20
const patienceMs = 5_000

/** How long the database is asked for names, milliseconds. */
const namesWithinMs = 1_000

interface Waiting {
  change: number
  resolve(): void
}

/**
 * Makes a change of the catalogue wait for the other nodes before it is answered, so that it is visible
 * to whatever is asked after the answer. Those that wait at the same time look together.
 */
export class Visibility {
  private waiting: Waiting[] = []
  private isLooking = false

  constructor(
    private readonly queries: Queries,
    private readonly board: NodeBoard,
    private readonly lease?: LeasePolicy,
  ) {}

  /**
   * Resolves once all nodes know of a change that this one has made, or it is no use to wait any longer:
   * `namesBehind` then says for which.
   */
  async wait(change: number): Promise<void> {
    this.board.made = Math.max(this.board.made, change)
    const { promise, resolve } = Promise.withResolvers<void>()
    const one = { change, resolve }
    this.waiting.push(one)
    // Whatever becomes of the question: what is committed is answered.
    const patience = setTimeout(resolve, patienceMs)
    if (!this.isLooking) this.look()
    await promise
    clearTimeout(patience)
    this.waiting = this.waiting.filter(other => other !== one)
  }

  private async look(): Promise<void> {
    this.isLooking = true
    while (this.waiting.length > 0) {
      // Of a change that is made while the database is asked its answer says nothing.
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

  /** All changes are known everywhere up to what the last node has taken up. */
  private settle(behind: readonly NodeBehind[], latest: number): void {
    const known = Math.min(latest, ...behind.map(({ tookUp }) => tookUp))
    this.board.settled = Math.max(this.board.settled, known)
  }
}

/** Who has not been heard of late will not take it up while somebody waits. */
const isNoUse = (behind: readonly NodeBehind[], change: number) =>
  !behind.some(({ tookUp, isHeard }) => isHeard && tookUp < change)

/** What stands for the nodes where the database does not say which they are. */
const unknown = 'unknown'

/**
 * The nodes that may still answer by what was before the last change that this one has made, by name. Asks
 * the database only where it is not known already that there are none.
 */
export async function namesBehind(queries: Queries, board: NodeBoard): Promise<string[]> {
  if (board.made <= board.settled) return []
  const names = nodesBehind(queries, board.made).then(behind => behind.map(({ name }) => name))
  const tooLate = sleep(namesWithinMs, [unknown], { ref: false })
  return Promise.race([names, tooLate]).catch(() => [unknown])
}
