import { Node } from '../../src/storage/log/postgres/member.ts'
import { PostgresLog } from '../../src/storage/log/postgres/postgres-log.ts'
import { NodeBoard } from '../../src/storage/shared/node-board.ts'
import type { HandClock } from './hand-clock.ts'
import { lawWorld } from './lives.ts'
import type { World } from './world.ts'

/** A node in this thread, which follows the log all the time. */
export class NodeWorld {
  private readonly following: ReturnType<typeof setInterval>
  private last = Promise.resolve()

  private constructor(
    readonly world: World,
    readonly log: PostgresLog,
    private readonly member: Node,
  ) {
    this.following = setInterval(() => {
      this.last = world.storage.follow()
    }, 10)
  }

  static async open(url: string, clock: HandClock, stopped?: World): Promise<NodeWorld> {
    const log = await PostgresLog.open(url)
    const member = new Node({
      queries: log.following,
      name: 'test',
      release: '0.0.0',
      schema: 1,
      startedAt: 0,
      monotonic: clock.monotonic,
      board: new NodeBoard(NodeBoard.memory()),
      lease: { leaseMs: 20 * 86_400_000, renewMs: 5_000 },
    })
    await member.join()
    const world = lawWorld({ ...(stopped && { dataDir: stopped.dataDir }), clock }, { log, member })
    await world.storage.follow()
    return new NodeWorld(world, log, member)
  }

  async stop(): Promise<void> {
    clearInterval(this.following)
    await this.last
    await this.world.stop()
    await this.member.leave()
    await this.log.close()
  }
}
