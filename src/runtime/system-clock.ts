import type { Clock } from '../core/time/clock.ts'

/** The machine's clock. */
export const systemClock = (): Clock => ({ now: Date.now, monotonic: () => performance.now() })
