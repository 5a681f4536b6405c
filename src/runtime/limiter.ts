import type { Config } from '../config/settings.ts'
import type { Limiter } from '../core/organisation/limiter.ts'
import { LimitsBoard } from '../limits/limits-board.ts'
import { SharedMemoryLimiter } from '../limits/shared-memory.ts'
import { type LimitsServer, ValkeyLimiter } from '../limits/valkey.ts'
import { slotOf } from '../storage/shared/boards.ts'
import { NodeBoard } from '../storage/shared/node-board.ts'
import type { Log } from './log.ts'

/** A limiter for as long as a thread runs. */
export interface OpenLimiter {
  limiter: Limiter
  close(): void
}

/** The limits server that the settings name; null if requests are counted in memory. */
export const limitsServerOf = ({
  limitsUrl: url,
  limitsPatienceMs: patienceMs,
  limitsAway: whileAway,
}: Pick<Config, 'limitsUrl' | 'limitsPatienceMs' | 'limitsAway'>): LimitsServer | null =>
  url === null ? null : { url, patienceMs, whileAway }

/**
 * Opens the limiter that the settings name.
 *
 * @param windows memory in which this node counts by itself
 * @param board memory in which this records whether the limits server is away
 * @param node memory that says how many nodes are running; they share a limit while the limits server is away
 */
export async function openLimiter(
  config: Config,
  windows: SharedArrayBuffer,
  board: SharedArrayBuffer,
  node: SharedArrayBuffer,
  log: Log,
): Promise<OpenLimiter> {
  const server = limitsServerOf(config)
  if (server === null) return { limiter: new SharedMemoryLimiter(windows, slotOf), close() {} }
  const nodes = new NodeBoard(node)
  const alone = new SharedMemoryLimiter(windows, slotOf, () => nodes.nodes)
  const onChange = (reason: string | null) => {
    if (reason === null) log.info('the limits server counts again')
    else log.warn({ reason, whileAway: server.whileAway }, 'the limits server is away')
  }
  const limiter = new ValkeyLimiter(server, alone, new LimitsBoard(board), onChange)
  await limiter.open()
  return { limiter, close: () => limiter.close() }
}
