import type { NodeBoard } from '../../shared/node-board.ts'
import type { Member } from '../log.ts'
import type { Queries } from './connection.ts'
import { ClusterNode, type NodeOptions } from './nodes.ts'
import { Visibility } from './visibility.ts'

/** This machine as one of the nodes. */
export class Node implements Member {
  private readonly node: ClusterNode
  private readonly visibility: Visibility
  private readonly board: NodeBoard

  constructor(options: NodeOptions & { board: NodeBoard; queries: Queries }) {
    this.board = options.board
    this.node = new ClusterNode(options)
    this.visibility = new Visibility(options.queries, options.board, options.lease)
  }

  join(): Promise<void> {
    return this.node.join()
  }

  knows(seq: number, isChange: boolean): void {
    this.node.takeUp(seq)
    // It is known whether or not this fails: the next renewal tells.
    if (isChange || !this.node.isCurrent) this.node.tell().catch(() => {})
  }

  othersKnow(seq: number): Promise<void> {
    return this.visibility.wait(seq)
  }

  leave(): Promise<void> {
    return this.node.leave()
  }

  /** When it was last found that nothing is left to take up, by the monotonic clock. */
  set followedAt(moment: number) {
    this.board.followedAt = moment
  }
}
