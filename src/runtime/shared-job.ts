import type { Member } from '../storage/log/log.ts'
import type { NodeState } from '../storage/shared/node-state.ts'

/** One node's part in a job that is done by one node at a time. */
export class SharedJob {
  private since: number | null = null

  /** @param monotonic the clock by which the state's moments are */
  constructor(
    private readonly member: Pick<Member, 'holds' | 'releases'>,
    private readonly name: string,
    private readonly state: Pick<NodeState, 'followedAt'>,
    private readonly monotonic: () => number,
  ) {}

  /**
   * Takes the job, or goes on holding it. To be called every second or so.
   *
   * @returns whether it has just come to this node
   */
  async hold(): Promise<boolean> {
    const isHeld = await this.member.holds(this.name).catch(() => false)
    const isNew = isHeld && this.since === null
    this.since = isHeld ? (this.since ?? this.monotonic()) : null
    return isNew
  }

  /** Whether this node holds it, and has taken up everything that the holder before has done. */
  get isOurs(): boolean {
    return this.since !== null && this.state.followedAt >= this.since
  }

  release(): Promise<void> {
    this.since = null
    return this.member.releases(this.name)
  }
}
