import type { Organisation } from '../core/organisation/catalogue.ts'
import { type Bucket, type Limiter, type Taken, windowMs } from '../core/organisation/limits.ts'
import { type Script, ValkeyLink } from './valkey-link.ts'

/**
 * Counts requests in fixed windows, as far as these have room. KEYS are the windows. ARGV[1] is their length
 * in milliseconds; then come, for each window, its limit and how many requests there are. Answers for each
 * window how many it held before, and in how many milliseconds it ends; -1 for a key that is no window. A
 * request that is refused writes nothing.
 */
const countAll = `
local length = tonumber(ARGV[1])
local counts = {}
for i, key in ipairs(KEYS) do
  local limit, wanted = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local held = redis.pcall('GET', key)
  local count = 0
  if held then count = type(held) ~= 'table' and tonumber(held) or -1 end
  local left = length
  local taken = math.min(wanted, math.max(0, limit - count))
  if count == 0 and taken > 0 then
    redis.call('SET', key, taken, 'PX', length)
  elseif count > 0 then
    left = redis.call('PTTL', key)
    if left < 0 then
      redis.call('PEXPIRE', key, length)
      left = length
    end
    if taken > 0 then redis.call('INCRBY', key, taken) end
  end
  counts[2 * i - 1], counts[2 * i] = count, left
end
return counts
`

export interface LimitsServer {
  url: string
  /** How long a request waits for it, sometimes up to twice as long, milliseconds. */
  patienceMs: number
}

/** The script that the server runs. The probe is a window of a millisecond that nobody else has. */
export const script: Script = {
  text: countAll,
  probe: () => ({ keys: [`cairn:{probe}:${crypto.randomUUID()}`], args: ['1', '1', '1'] }),
}

/** How many full windows are remembered before all are forgotten: as many as organisations could fill at once. */
const maxFull = 10_000

/** A window that had no room under a limit, until it ends by the monotonic clock. */
interface FullWindow {
  limit: number
  until: number
}

/** A request that waits to be counted. */
interface Waiting {
  organisation: Organisation
  bucket: Bucket
  now: number
  resolve(taken: Promise<Taken> | Taken): void
}

/**
 * Counts requests in Valkey or Redis, exactly over all nodes that name the same one. Requests that arrive
 * while a call is under way share the next one, so that a rush costs one call for many requests. A full
 * window is remembered until it ends, so that a flood costs the server nothing.
 */
export class ValkeyLimiter implements Limiter {
  private readonly link: ValkeyLink
  private readonly full = new Map<string, FullWindow>()
  /** By window. */
  private waiting = new Map<string, Waiting[]>()
  private isAsking = false
  isAway = false
  /** How many requests were decided without the server. */
  alone = 0

  /** @param ofThisNode counts within this node's share of a limit while the server is away */
  constructor(
    { url, patienceMs }: LimitsServer,
    private readonly ofThisNode: Limiter,
    onChange: (awayFor: string | null) => void,
  ) {
    const setAway = (isAway: boolean, reason: string | null) => {
      const isNews = this.isAway !== isAway
      this.isAway = isAway
      if (isNews) onChange(reason)
    }
    this.link = new ValkeyLink(url, script, patienceMs, {
      onAway: reason => setAway(true, reason),
      onBack: () => setAway(false, null),
    })
  }

  /** Resolves once it is known whether the server is there. */
  open(): Promise<void> {
    return this.link.open()
  }

  close(): void {
    this.link.close()
  }

  take(organisation: Organisation, bucket: Bucket, now: number): Promise<Taken> | Taken {
    // A cluster spreads keys by the part in braces, so an organisation's windows stay together.
    const key = `cairn:{${organisation.id}}:${bucket}`
    const full = this.full.get(key)
    if (full) {
      if (now < full.until && organisation.limits[bucket] <= full.limit) {
        return { admitted: false, remaining: 0, resetInMs: full.until - now }
      }
      this.full.delete(key)
    }
    if (!this.link.isThere) return this.decideAlone(organisation, bucket, now)
    return new Promise(resolve => {
      const request = { organisation, bucket, now, resolve }
      const others = this.waiting.get(key)
      if (others) others.push(request)
      else this.waiting.set(key, [request])
      if (!this.isAsking) this.ask()
    })
  }

  /** Asks for all waiting requests, and for those that arrive meanwhile, until none are left. */
  private async ask(): Promise<void> {
    this.isAsking = true
    while (this.waiting.size > 0) {
      const windows = [...this.waiting]
      this.waiting = new Map()
      try {
        const counts = await this.link.call({
          keys: windows.map(([key]) => key),
          args: [
            String(windowMs),
            ...windows.flatMap(([, requests]) => [`${limitOf(requests)}`, `${requests.length}`]),
          ],
        })
        for (const [i, [key, requests]] of windows.entries()) {
          this.settle(key, requests, (counts as number[])[2 * i]!, (counts as number[])[2 * i + 1]!)
        }
      } catch {
        for (const [, requests] of windows) this.settleAlone(requests)
      }
    }
    this.isAsking = false
  }

  /** @param before how many requests the window held before these; -1 if the key is no window */
  private settle(key: string, requests: Waiting[], before: number, resetInMs: number): void {
    if (before < 0) {
      this.settleAlone(requests)
      return
    }
    const limit = limitOf(requests)
    for (const [i, { resolve }] of requests.entries()) {
      const remaining = limit - before - i - 1
      resolve({ admitted: remaining >= 0, remaining: Math.max(0, remaining), resetInMs })
    }
    if (before + requests.length <= limit) return
    if (this.full.size >= maxFull) this.full.clear()
    this.full.set(key, { limit, until: requests.at(-1)!.now + resetInMs })
  }

  private settleAlone(requests: Waiting[]): void {
    for (const { organisation, bucket, now, resolve } of requests) {
      resolve(this.decideAlone(organisation, bucket, now))
    }
  }

  private decideAlone(...request: Parameters<Limiter['take']>): Promise<Taken> | Taken {
    this.alone++
    return this.ofThisNode.take(...request)
  }
}

/** The limit that the newest of them has. */
function limitOf(requests: readonly Waiting[]): number {
  const { organisation, bucket } = requests.at(-1)!
  return organisation.limits[bucket]
}
