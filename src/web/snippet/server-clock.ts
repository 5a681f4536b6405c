import type { BrowserStore } from './parts.ts'

/** A clock that is wrong by no more than this is taken to be right, milliseconds. */
const rightMs = 3 * 60_000
/** How long a window of the server's limits lasts, milliseconds. */
const windowMs = 60_000

/**
 * The server's time, by which schedules are judged: some visitors' clocks are wrong by hours or years. Each
 * answer says when the window of its limit ends, and a heartbeat says the time itself. So a clock that is
 * wrong by more than three minutes is noticed and corrected.
 */
export function createServerClock(store: BrowserStore) {
  const key = 'clock'
  let aheadMs = Number(store.get<number>(key)) || 0

  const set = (serverMs: number) => {
    const wrongBy = serverMs - Date.now()
    const next = Math.abs(wrongBy) > rightMs ? wrongBy : 0
    if (next === aheadMs) return
    aheadMs = next
    if (next === 0) store.remove(key)
    else store.set(key, next)
  }

  return {
    now: (): number => Date.now() + aheadMs,
    /** An answer is from now, or from a minute ago if it came from the browser's cache. */
    setBy({ headers }: Response) {
      const endsAt = Number(headers.get('X-RateLimit-Reset')) * 1_000
      if (endsAt > 0) set(endsAt - windowMs / 2)
    },
    setTo(serverTime: unknown) {
      const ms = Date.parse(String(serverTime))
      if (ms > 0) set(ms)
    },
  }
}

export type ServerClock = ReturnType<typeof createServerClock>
