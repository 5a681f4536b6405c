import type { NodesSeen } from '../../../modules/operations/port.ts'
import type { NodeState } from '../../shared/node-state.ts'
import type { Member } from '../log.ts'
import type { Queries } from './connection.ts'
import { askForJob, mayGoByTime, releaseJobs, takeJob } from './jobs.ts'
import { ClusterNode, type NodeOptions } from './nodes.ts'
import { nodesSeen } from './nodes-seen.ts'
import { namesBehind, Visibility } from './visibility.ts'

/** How often to look whether other nodes have erased somebody, milliseconds. */
const lookMs = 100

/** How long a job is held without being renewed, milliseconds. */
const jobMs = 15_000

/** This machine as one of the nodes. */
export class Node implements Member {
  private readonly node: ClusterNode
  private readonly visibility: Visibility
  private readonly board: NodeState
  private readonly queries: Queries
  private readonly isCounted: boolean

  constructor(options: NodeOptions & { board: NodeState; queries: Queries }) {
    this.queries = options.queries
    this.isCounted = options.isCounted ?? true
    this.board = options.board
    this.node = new ClusterNode(options)
    this.visibility = new Visibility(options.queries, options.board, options.lease)
  }

  async join(): Promise<void> {
    if (this.isCounted) await this.node.join()
  }

  knows(seq: number, isChange: boolean): void {
    this.node.takeUp(seq)
    if (!this.isCounted) return
    // It is known whether or not this fails: the next renewal tells.
    if (isChange || !this.node.isCurrent) this.node.tell().catch(() => {})
  }

  othersKnow(seq: number): Promise<void> {
    return this.visibility.wait(seq)
  }

  hasDone(seq: number, isWaitedFor: boolean): void {
    this.node.erased = seq
    // The next renewal tells, too.
    if (this.isCounted && isWaitedFor) this.node.renew().catch(() => {})
  }

  async othersHaveDone(seq: number): Promise<void> {
    if (this.isCounted) await this.node.renew()
    for (;;) {
      const behind = await this.queries.get(
        'select from cairn_nodes where erased < $1 and lease_until > clock_timestamp() limit 1',
        seq,
      )
      if (behind === null) return
      await Bun.sleep(lookMs)
    }
  }

  holds(job: string): Promise<number | null> {
    return this.isCounted && mayGoByTime(this.board)
      ? takeJob(this.queries, job, this.node.id, jobMs)
      : Promise.resolve(null)
  }

  asks(job: string): Promise<void> {
    return askForJob(this.queries, job)
  }

  releases(job: string): Promise<void> {
    return releaseJobs(this.queries, this.node.id, job)
  }

  all(): Promise<NodesSeen> {
    return nodesSeen(this.queries)
  }

  behind(): Promise<readonly string[]> {
    return namesBehind(this.queries, this.board)
  }

  async leave(): Promise<void> {
    if (this.isCounted) await this.node.leave()
  }

  /** When it was last found that nothing is left to take up, by the monotonic clock. */
  set followedAt(moment: number) {
    this.board.followedAt = moment
  }
}
