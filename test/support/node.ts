import { Node } from '../../src/storage/log/postgres/member.ts'
import { PostgresLog } from '../../src/storage/log/postgres/postgres-log.ts'
import { NodeBoard } from '../../src/storage/shared/node-board.ts'
import type { HandClock } from './hand-clock.ts'
import { lawWorld } from './lives.ts'

const lease = { leaseMs: 20 * 86_400_000, renewMs: 5_000 }

/**
 * A node in this thread, which follows the log all the time.
 *
 * @param dataDir that of a stopped one, to go on with
 */
export async function openNode(url: string, clock: HandClock, dataDir?: string) {
  const log = await PostgresLog.open(url)
  const member = new Node({
    ...{ queries: log.following, board: new NodeBoard(NodeBoard.memory()), lease },
    ...{ name: 'test', release: '0.0.0', schema: 1, startedAt: 0, monotonic: clock.monotonic },
  })
  const world = lawWorld({ clock, ...(dataDir !== undefined && { dataDir }) }, { log, member })
  await world.storage.catchUp()
  let last = Promise.resolve()
  const following = setInterval(() => {
    last = world.storage.follow()
  }, 10)
  const end = async (closing: () => Promise<void>) => {
    clearInterval(following)
    await last
    await closing()
    await member.leave()
    await log.close()
  }
  return {
    ...{ world, log, member },
    stop: () => end(() => world.stop()),
    close: () => end(() => world.close()),
  }
}
