import type { Config } from '../config/settings.ts'
import type { Limiter } from '../core/organisation/limits.ts'
import { MemoryLimiter } from '../limits/memory.ts'
import { type LimitsServer, ValkeyLimiter } from '../limits/valkey.ts'
import { slotOf } from '../storage/shared/live-state.ts'
import type { NodeState } from '../storage/shared/node-state.ts'
import type { Log } from './log.ts'

/** A limiter for as long as a server runs. */
export interface OpenLimiter {
  limiter: Limiter
  /** Whether the limits server is unavailable; null if requests are counted in memory. */
  server: Pick<ValkeyLimiter, 'isAway' | 'alone'> | null
  close(): void
}

/** The limits server that the settings name; null if requests are counted in memory. */
export const limitsServerOf = ({
  limitsUrl: url,
  limitsPatienceMs: patienceMs,
}: Pick<Config, 'limitsUrl' | 'limitsPatienceMs'>): LimitsServer | null =>
  url === null ? null : { url, patienceMs }

/**
 * Opens the limiter that the settings name.
 *
 * @param node says how many nodes are running; they share a limit while the limits server is unavailable
 */
export async function openLimiter(
  config: Config,
  node: Pick<NodeState, 'nodes'>,
  log: Log,
): Promise<OpenLimiter> {
  const server = limitsServerOf(config)
  if (server === null) return { limiter: new MemoryLimiter(slotOf), server, close() {} }
  const ofThisNode = new MemoryLimiter(slotOf, () => node.nodes)
  const onChange = (reason: string | null) => {
    if (reason === null) log.info('the limits server is back')
    else log.warn({ reason }, 'the limits server is unavailable')
  }
  const limiter = new ValkeyLimiter(server, ofThisNode, onChange)
  await limiter.open()
  return { limiter, server: limiter, close: () => limiter.close() }
}
