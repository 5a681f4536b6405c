import type { Config } from '../config/settings.ts'
import type { NodeState } from '../storage/shared/node-state.ts'
import type { Log } from './log.ts'

/** How far a node's clock may be from the database's, milliseconds. A clock that follows NTP is much nearer. */
export const tolerableMs = 2_000

/** Logs what an operator has to mend about this node among the others, as soon as it happens. */
export class NodeWatch {
  private isApart = false
  private nodes = 1

  constructor(
    private readonly node: Pick<NodeState, 'nodes' | 'clockAhead'>,
    private readonly config: Pick<Config, 'limitsUrl'>,
    private readonly log: Pick<Log, 'info' | 'warn'>,
  ) {}

  look(): void {
    this.lookAtClock()
    this.lookAtNodes()
  }

  private lookAtClock(): void {
    const aheadMs = this.node.clockAhead ?? 0
    const isApart = Math.abs(aheadMs) > tolerableMs
    if (isApart === this.isApart) return
    this.isApart = isApart
    const seconds = Math.round(aheadMs / 1_000)
    if (isApart) {
      this.log.warn(
        { seconds },
        "this machine's clock is off from the database's: let both follow NTP",
      )
    } else this.log.info("this machine's clock agrees with the database's again")
  }

  private lookAtNodes(): void {
    const { nodes } = this.node
    if (nodes === this.nodes) return
    this.log.info({ nodes }, 'nodes are running')
    if (nodes > 1 && this.nodes === 1 && this.config.limitsUrl === null) {
      this.log.warn({ nodes }, limitsForEach)
    }
    this.nodes = nodes
  }
}

/** The consequence of several nodes without a limits server. */
export const limitsForEach =
  'each node counts requests by itself, so that an organisation may send its limits once to each: set CAIRN_LIMITS_URL'
