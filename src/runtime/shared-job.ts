import type { NodeState } from '../storage/shared/node-state.ts'
import type { StorageCalls } from '../storage/sqlite/writer/calls.ts'

/** One node's part in a job that is done by one node at a time. */
export class SharedJob {
  private since: number | null = null
  private requests = 0

  /** @param monotonic the clock by which the state's moments are */
  constructor(
    private readonly calls: Pick<StorageCalls, 'work'>,
    private readonly name: string,
    private readonly state: Pick<NodeState, 'followedAt'>,
    private readonly monotonic: () => number,
  ) {}

  /**
   * Takes the job, or goes on holding it. To be called every second or so.
   *
   * @returns whether it is to be done soon, because it has just come to this node or another has asked for it
   */
  async hold(): Promise<boolean> {
    const requests = await this.calls.work<number | null>('holdJob', [this.name]).catch(() => null)
    if (requests === null) {
      this.since = null
      return false
    }
    const isSoon = this.since === null || requests > this.requests
    this.since ??= this.monotonic()
    this.requests = requests
    return isSoon
  }

  /** Whether this node holds it, and has taken up everything that the holder before has done. */
  get isOurs(): boolean {
    return this.since !== null && this.state.followedAt >= this.since
  }

  /** Asks the holder to do the job soon. */
  ask(): Promise<void> {
    return this.calls.work('askJob', [this.name])
  }

  release(): Promise<void> {
    this.since = null
    return this.calls.work('releaseJob', [this.name])
  }
}
