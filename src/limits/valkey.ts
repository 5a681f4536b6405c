import type { RedisClient } from 'bun'
import { AppError } from '../core/errors.ts'
import { type Bucket, windowMs } from '../core/organisation/buckets.ts'
import type { MaybePromise, Organisation } from '../core/organisation/catalogue.ts'
import type { Limiter, Taken } from '../core/organisation/limiter.ts'
import type { LimitsBoard } from './limits-board.ts'
import { ValkeyLink } from './valkey-link.ts'

/** What becomes of requests while the server that counts them is away. */
export type WhileAway = 'share' | 'open' | 'refuse'

/**
 * Counts a request in a fixed window, if the window has room for it: KEYS[1] the window, ARGV[1] the limit,
 * ARGV[2] the window's length in milliseconds. Answers whether it is admitted, what remains, and in how many
 * milliseconds the window ends. A request that is refused writes nothing.
 */
const script = `
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
local limit = tonumber(ARGV[1])
if count == 0 then
  if limit <= 0 then return {0, 0, tonumber(ARGV[2])} end
  redis.call('SET', KEYS[1], 1, 'PX', ARGV[2])
  return {1, limit - 1, tonumber(ARGV[2])}
end
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
if count >= limit then return {0, 0, left} end
redis.call('INCR', KEYS[1])
return {1, limit - count - 1, left}
`

/** Counts a request by a client of its own. */
export const countsIn = (client: RedisClient, key: string, limit: number): Promise<unknown> =>
  client.send('EVAL', [script, '1', key, String(limit), String(windowMs)])

/** Windows that are known to be full: as many as organisations could fill at once, and then forgotten. */
const mostFull = 10_000

/** A window that had no room under a limit, until it ends by the monotonic clock. */
interface FullWindow {
  limit: number
  until: number
}

/**
 * Counts requests in Valkey or Redis: exactly over all nodes that name the same one, in one round trip.
 * A full window is remembered until it ends, so that a flood costs the server nothing.
 */
export class ValkeyLimiter implements Limiter {
  private readonly link: ValkeyLink
  private readonly full = new Map<string, FullWindow>()

  /**
   * @param alone counts in this node while the server is away
   * @param board is told when it is away, and what is decided without it
   */
  constructor(
    url: string,
    private readonly whileAway: WhileAway,
    private readonly alone: Limiter,
    private readonly board: LimitsBoard,
    onChange: (awayFor: string | null) => void,
  ) {
    this.link = new ValkeyLink(url, script, {
      onAway(reason) {
        if (board.setAway(true)) onChange(reason)
      },
      onBack() {
        if (board.setAway(false)) onChange(null)
      },
    })
  }

  /** Resolves once it is known whether the server is there. */
  open(): Promise<void> {
    return this.link.open()
  }

  close(): void {
    this.link.close()
  }

  take(organisation: Organisation, bucket: Bucket, now: number): MaybePromise<Taken> {
    const limit = organisation.limits[bucket]
    // In braces what a cluster spreads keys by: an organisation's windows stay together.
    const key = `cairn:{${organisation.id}}:${bucket}`
    const full = this.full.get(key)
    if (full) {
      if (now < full.until && limit <= full.limit) {
        return { admitted: false, remaining: 0, resetInMs: full.until - now }
      }
      this.full.delete(key)
    }
    if (!this.link.isThere) return this.decideAlone(organisation, bucket, now)
    return this.count(key, limit, now).catch(() => this.decideAlone(organisation, bucket, now))
  }

  private async count(key: string, limit: number, now: number): Promise<Taken> {
    const answer = await this.link.call(key, String(limit), String(windowMs))
    const [admitted, remaining, resetInMs] = answer as [number, number, number]
    if (admitted === 0) {
      if (this.full.size >= mostFull) this.full.clear()
      this.full.set(key, { limit, until: now + resetInMs })
    }
    return { admitted: admitted === 1, remaining, resetInMs }
  }

  /** @throws AppError `overloaded` */
  private decideAlone(
    organisation: Organisation,
    bucket: Bucket,
    now: number,
  ): MaybePromise<Taken> {
    this.board.countAlone()
    if (this.whileAway === 'share') return this.alone.take(organisation, bucket, now)
    if (this.whileAway === 'refuse') {
      throw new AppError('overloaded', 'Requests cannot be counted at the moment', {
        retryAfterSeconds: 1,
      })
    }
    const limit = organisation.limits[bucket]
    return { admitted: true, remaining: Math.max(0, limit - 1), resetInMs: windowMs }
  }
}
