import type { Config } from '../config.ts'
import type { Limiter } from '../core/organisation/limiter.ts'
import { LimitsBoard } from '../limits/limits-board.ts'
import { SharedMemoryLimiter } from '../limits/shared-memory.ts'
import { ValkeyLimiter } from '../limits/valkey.ts'
import { slotOf } from '../storage/shared/boards.ts'
import type { Log } from './log.ts'

/** A limiter for as long as a thread runs. */
export interface OpenLimiter {
  limiter: Limiter
  close(): void
}

/**
 * The limiter that the settings name.
 *
 * @param windows where this node counts by itself
 * @param board where it is told whether the other one is away
 */
export async function openLimiter(
  { limitsUrl, limitsAway }: Config,
  windows: SharedArrayBuffer,
  board: SharedArrayBuffer,
  log: Log,
): Promise<OpenLimiter> {
  const alone = new SharedMemoryLimiter(windows, slotOf)
  if (limitsUrl === null) return { limiter: alone, close() {} }
  const onChange = (reason: string | null) => {
    if (reason === null) log.info('limits are counted in Valkey again')
    else log.warn({ reason, whileAway: limitsAway }, 'limits cannot be counted in Valkey')
  }
  const limiter = new ValkeyLimiter(limitsUrl, limitsAway, alone, new LimitsBoard(board), onChange)
  await limiter.open()
  return { limiter, close: () => limiter.close() }
}
