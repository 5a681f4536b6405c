import { rmSync } from 'node:fs'
import { Node } from '../../src/storage/log/postgres/member.ts'
import { PostgresLog } from '../../src/storage/log/postgres/postgres-log.ts'
import { NodeState } from '../../src/storage/shared/node-state.ts'
import { prepareReplica } from '../../src/storage/sqlite/replica/prepare-replica.ts'
import type { HandClock } from './hand-clock.ts'
import { lawWorld } from './lives.ts'
import type { World } from './world.ts'

interface NodeWorldOptions {
  /** Where it goes on; a new directory by default. */
  dataDir?: string
  /** Whether it follows the log all the time. True by default. */
  follows?: boolean
  /** Whether others wait for it. True by default. */
  isCounted?: boolean
  /** Whether its clock has to agree with PostgreSQL's. False by default. */
  comparesClock?: boolean
}

/** A node in this thread. */
export class NodeWorld {
  private readonly following: ReturnType<typeof setInterval> | null
  private last = Promise.resolve()

  private constructor(
    readonly world: World,
    readonly log: PostgresLog,
    readonly member: Node,
    follows: boolean,
  ) {
    const follow = () => {
      this.last = world.storage.follow()
    }
    this.following = follows ? setInterval(follow, 10) : null
  }

  static async open(
    url: string,
    clock: HandClock,
    { dataDir, follows = true, isCounted = true, comparesClock = false }: NodeWorldOptions = {},
  ): Promise<NodeWorld> {
    const log = await PostgresLog.open(url, comparesClock ? clock.now : null)
    const member = new Node({
      queries: log.following,
      name: 'test',
      release: '0.0.0',
      schema: 1,
      startedAt: 0,
      monotonic: clock.monotonic,
      state: new NodeState(),
      lease: { leaseMs: 20 * 86_400_000, renewMs: 5_000 },
      isCounted,
    })
    if (dataDir !== undefined) await prepareReplica(dataDir, log, 'the database')
    const world = lawWorld({ ...(dataDir !== undefined && { dataDir }), clock }, { log, member })
    if (isCounted) await world.storage.catchUp()
    return new NodeWorld(world, log, member, follows)
  }

  /** Where it is in the log. */
  get seq(): number {
    return this.world.storage.replica!.position.seq
  }

  async stop(): Promise<void> {
    if (this.following) clearInterval(this.following)
    await this.last
    await this.world.stop()
    await this.member.leave()
    await this.log.close()
  }

  /** Stops it, and deletes its directory. */
  async close(): Promise<void> {
    await this.stop()
    rmSync(this.world.dataDir, { recursive: true, force: true })
  }
}
